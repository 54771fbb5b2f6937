"""The texts of the bundle that depend on what is in it: the welcome page and the README."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.releasing.plan import PLAN, Planned

TEXTS = Path(__file__).parent / "bundle"
"""The templates of everything in the bundle that isn't copied from elsewhere."""

_BREAK = "+++"
_KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


@dataclass(frozen=True)
class Contents:
    """A section that is in the bundle: its name, title, and how much there is to do."""

    name: str
    title: str
    exercises: int
    points: float

    @classmethod
    def of(cls, name: str, notebook: NotebookNode) -> Contents:
        """Take the title from the notebook's first heading and count its test cells."""
        lines = (line for cell in notebook.cells if cell.cell_type == "markdown" for line in cell.source.splitlines())
        title = next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), name)
        marks = (cell.metadata.get("nbgrader") or {} for cell in notebook.cells)
        points = [float(mark["points"]) for mark in marks if mark.get("grade")]
        return cls(name, title, len(points), sum(points))

    @property
    def path(self) -> str:
        """The notebook's path inside the bundle."""
        return f"{self.name}/{self.name}.ipynb"


def welcome_page(contents: Sequence[Contents]) -> NotebookNode:
    """Return the welcome notebook for a bundle with these sections."""
    cells = []
    for number, block in enumerate(f"\n{_text('welcome.md', contents)}".split(f"\n{_BREAK}"), 1):
        is_code = block.startswith(" code\n")
        source = block.removeprefix(" code\n").strip()
        cell = new_code_cell(source) if is_code else new_markdown_cell(source)
        # The same bundle must have the same bytes, and nbformat makes ids at random.
        cell["id"] = f"welcome-{number}"
        cells.append(cell)
    return new_notebook(cells=cells, metadata={"kernelspec": _KERNEL, "language_info": {"name": "python"}})


def readme(contents: Sequence[Contents]) -> str:
    """Return the students' README for a bundle with these sections."""
    return _text("README.md", contents)


def _text(name: str, contents: Sequence[Contents]) -> str:
    template = Template((TEXTS / name).read_text(encoding="utf-8"))
    return template.substitute(sections=_table(contents), example=f"{contents[0].name}.ipynb")


def _table(contents: Sequence[Contents]) -> str:
    present = {one.name: one for one in contents}
    plan = [*PLAN, *(Planned(one.name, one.title, "") for one in contents if one.name not in {p.name for p in PLAN})]
    rows = [_row(number, planned, present.get(planned.name)) for number, planned in enumerate(plan, 1)]
    return "\n".join(["| No. | Section | What it is about | To do |", "|---|:---|:---|:---|", *rows])


def _row(number: int, planned: Planned, there: Contents | None) -> str:
    title = f"[**{planned.title}**]({there.path})" if there else planned.title
    to_do = f"{there.exercises} exercises, {there.points:g} points" if there else "*in preparation*"
    return f"| {number} | {title} | {planned.about} | {to_do} |"
