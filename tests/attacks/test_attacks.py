"""Every attack gets the score that it deserves and leaves nothing behind, whether kernels are forked or started."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from autograder.grading.plain import PlainRunner
from autograder.grading.seam import grade
from autograder.sealed.diagnosis import obstacle
from tests.attacks.arena import SECRET, VICTIM, Attack, Field, Report, read_attacks
from tests.jobs import wait_for
from tests.mini_course import SECTION, mini_master
from tools.system_packages import is_required

pytestmark = pytest.mark.slow

ATTACKS = read_attacks()
PATHS: dict[str, tuple[Sequence[str], Sequence[Attack]]] = {
    "forked": ((), ATTACKS),
    # Marks are the checker's business, which is the same whether kernels are forked or started.
    "started": (("--no-fork-server",), [each for each in ATTACKS if each.name.startswith(("stealing/", "honest/"))]),
    "started, harm": (("--no-fork-server",), [each for each in ATTACKS if each.name.startswith("harm/")]),
}
TRIED = [
    pytest.param(path, id=path, marks=pytest.mark.exhaustive if path == "started, harm" else ()) for path in PATHS
]
BROKEN = {
    "broken.truncated": b'{"cells": [{"cell_type": "code", "source": ["seven_squ',
    "broken.deep": b"[" * 200_000,
    "broken.empty": b"",
    "broken.not_utf8": b"\xff\xfe\x00{}",
    "broken.no_notebook": b"[1, 2, 3]",
    "broken.huge": b" " * (33 * 2**20),
}


@pytest.fixture(scope="module", params=TRIED)
def report(request: pytest.FixtureRequest) -> Iterator[Report]:
    """Grade all of them in one batch."""
    problem = obstacle()
    if problem is not None:
        (pytest.fail if is_required(os.environ) else pytest.skip)(problem)
    with tempfile.TemporaryDirectory(prefix="a-", dir="/tmp") as name:  # paths of sockets must be short
        options, attacks = PATHS[request.param]
        field = Field.prepared(Path(name), attacks)
        for student, data in BROKEN.items():
            field.hand_in(student, data)
        yield field.grade(*options)


@pytest.mark.parametrize(
    ("report", "attack"),
    [
        pytest.param(*path.values, attack, id=f"{path.id}-{attack.name}", marks=path.marks)
        for path in TRIED
        for attack in PATHS[str(path.id)][1]
    ],
    indirect=["report"],
    scope="module",
)
def test_an_attack_gets_what_it_deserves(report: Report, attack: Attack) -> None:
    assert report.faults(attack) == []


def test_nothing_is_left_or_changed(report: Report) -> None:
    assert report.changed == []
    wait_for(lambda: not report.left())


def test_only_the_broken_ones_are_refused_each_by_name(report: Report) -> None:
    assert set(report.results) == {*report.field.students, VICTIM}
    assert report.results[VICTIM]["score"] == 3
    assert len(report.problems) == len(BROKEN)
    for student in BROKEN:
        (problem,) = [each for each in report.problems if f"/{student}/" in each["problem"]]
        assert problem["cure"]


def test_the_gradebook_holds_these_marks_and_no_secret(report: Report) -> None:
    path = report.field.course.database
    assert SECRET.encode() not in path.read_bytes()
    with sqlite3.connect(path) as database:
        rows = database.execute(
            "select assignment.student_id, sum(grade.auto_score), count(grade.manual_score) from grade "
            "join submitted_notebook on submitted_notebook.id = grade.notebook_id "
            "join submitted_assignment assignment on assignment.id = submitted_notebook.assignment_id group by 1"
        ).fetchall()
    assert dict((student, score) for student, score, _ in rows) == {
        student: result["score"] for student, result in report.results.items()
    }
    assert not any(manual for _, _, manual in rows)


@pytest.mark.parametrize("attack", read_attacks("honest/*"), ids=lambda attack: attack.name)
def test_right_answers_get_full_marks_on_the_plain_path_too(attack: Attack) -> None:
    result = grade(mini_master(), attack.notebook, PlainRunner())
    assert result.score == result.max_score == 3, (SECTION, result.cells)
