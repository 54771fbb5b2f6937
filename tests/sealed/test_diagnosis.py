"""The doctor's judgement: each wall that a process finds missing is named, and grading refuses."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.sealed.diagnosis import judged

SOUND: dict[str, Any] = {
    "uid": 64_000, "rights": [0, 0, 0, 0, 0], "no_new_privs": True, "filter": True, "interfaces": ["lo"], "routes": 0,
    "no_other_sockets": True, "processes": 2, "hidden": [True, True], "unwritable": [True, True],
}  # fmt: skip


def test_sound_walls_have_no_fault() -> None:
    assert all(part.is_there and not part.cure for part in judged(SOUND))


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("user", {"uid": 0}),
        ("user", {"rights": [0, 0, 0, 4, 0]}),
        ("user", {"no_new_privs": False}),
        ("filter", {"filter": False}),
        ("network", {"interfaces": ["eth0", "lo"]}),
        ("network", {"routes": 1}),
        ("sockets", {"no_other_sockets": False}),
        ("processes", {"processes": 40}),
        ("files", {"hidden": [True, False]}),
        ("writing", {"unwritable": [True, False]}),
    ],
)
def test_a_missing_wall_is_named_with_a_cure(name: str, fact: dict[str, Any]) -> None:
    (part,) = [part for part in judged(SOUND | fact) if not part.is_there]
    assert part.name == name and part.finding.startswith(name) and part.cure
