"""The README: the commands, targets and folders that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.cli import COMMANDS

README = Path(__file__).resolve().parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("target", re.findall(r"^\$ make ([a-z-]+)", TEXT, flags=re.MULTILINE))
def test_the_make_targets_exist(target: str) -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*## ", makefile, flags=re.MULTILINE)


def test_the_commands_are_all_there_is() -> None:
    shown = set(re.findall(r"^\$ autograder ([a-z]+)", TEXT, flags=re.MULTILINE))
    assert shown == set(COMMANDS)


@pytest.mark.parametrize("folder", re.findall(r"^([a-z/]+)/  ", TEXT, flags=re.MULTILINE))
def test_the_folders_exist(folder: str) -> None:
    assert (README.parent / folder).is_dir()


def test_every_picture_is_there_and_has_words() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", TEXT)
    assert {path for _, path in pictures} == {
        f"docs/images/{each.name}" for each in (README.parent / "docs/images").iterdir()
    }
    for words, path in pictures:
        assert len(words) > 40 and (README.parent / path).read_bytes().startswith(b"\x89PNG")
