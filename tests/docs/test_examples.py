"""The examples in the README and in docs/: each gives what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")) if ">>> " in path.read_text(encoding="utf-8")
)


def test_there_are_pages_with_examples() -> None:
    assert {"README.md", "conventions.md", "disagree.md"} <= {path.name for path in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_examples_are_true(page: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    assert len(examples.examples) >= 8
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.summarize().failed == 0
