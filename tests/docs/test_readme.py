"""The README: its examples give what it says, and the commands it names exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from autograder.cli import COMMANDS

README = Path(__file__).resolve().parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_the_examples_of_the_library_are_true() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", str(README), 0)
    assert len(examples.examples) >= 8
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.summarize().failed == 0


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
