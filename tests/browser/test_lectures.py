"""Every exercise of every section, done in the released notebook in JupyterLab: wrong with its hint, then right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from autograder.course import Course
from autograder.proof.catalogue import read_catalogue
from autograder.proof.exercises import find_exercises
from autograder.regions import MARKERS

pytestmark = [pytest.mark.slow, pytest.mark.browser]

COURSE = Course.at(Path.cwd())
NOTEBOOK = "jupyterapp.shell.currentWidget.content"
ACTIVE = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell.jp-mod-active"


def open_section(page: Page, lab: str, section: str) -> None:
    page.goto(f"{lab}/lab/tree/{section}/{section}.ipynb?reset&token=t")
    expect(page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")).to_be_visible()
    page.wait_for_function(f"window.jupyterapp && {NOTEBOOK}?.widgets?.length > 20")
    expect(page.get_by_text("| Idle").first).to_be_visible(timeout=120_000)


def go_to(page: Page, grade_id: str) -> None:
    """Make the cell with this grade_id the active one, in view, as clicking it does."""
    page.evaluate(
        f"""async name => {{
            const cells = {NOTEBOOK}.widgets;
            const index = cells.findIndex(each => each.model.getMetadata("nbgrader")?.grade_id === name);
            {NOTEBOOK}.activeCellIndex = index;
            await {NOTEBOOK}.scrollToItem(index);
        }}""",
        grade_id,
    )
    expect(page.locator(ACTIVE)).to_be_visible()


def write(page: Page, source: str) -> None:
    """Replace what stands in the active cell."""
    page.locator(f"{ACTIVE} .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(source)


def run(page: Page) -> str:
    """Run the active cell and return what it shows."""
    page.evaluate("jupyterapp.commands.execute('notebook:run-cell')")  # resolves when the cell has run
    shown = page.locator(f"{ACTIVE} .jp-OutputArea")
    return " ".join(shown.inner_text().split()) if shown.count() else ""


def outputs(page: Page) -> list[dict[str, Any]]:
    """Return all outputs of the notebook, each with its cell's grade_id."""
    found: list[dict[str, Any]] = page.evaluate(
        f"""() => {NOTEBOOK}.widgets.flatMap(cell => (cell.model.sharedModel.outputs ?? []).map(output => ({{
            ...output, grade_id: cell.model.getMetadata("nbgrader")?.grade_id ?? null
        }})))"""
    )
    return found


@pytest.mark.parametrize("section", COURSE.sections)
def test_every_exercise_wrong_with_its_hint_and_then_right(section: str, page: Page, lab: str) -> None:
    master, catalogue = COURSE.master(section), read_catalogue(COURSE.catalogue_path(section))
    exercises = find_exercises(master)
    right = {}
    for each in exercises:
        lines = master.cells[each.solution_index].source.splitlines()
        right[each.grade_id] = "\n".join(line for line in lines if not any(mark in line for mark in MARKERS))

    open_section(page, lab, section)
    for name, answer in right.items():
        go_to(page, f"{name}_solution")
        write(page, answer)
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    expect(page.get_by_text("| Idle").first).to_be_visible(timeout=120_000)

    shown = outputs(page)
    assert [each for each in shown if each["output_type"] == "error"] == []
    assert [each for each in shown if each.get("name") == "stderr"] == []
    passed = {each["grade_id"] for each in shown if "✓" in each.get("data", {}).get("text/plain", "")}
    assert passed >= right.keys()
    for each in exercises:
        wrong = catalogue[each.grade_id].wrong[0]
        go_to(page, f"{each.grade_id}_solution")
        write(page, wrong.answer)
        run(page)
        go_to(page, each.grade_id)
        said = run(page)
        assert wrong.hint in said and "Traceback" not in said, each.grade_id
        go_to(page, f"{each.grade_id}_solution")
        write(page, right[each.grade_id])
        run(page)
        go_to(page, each.grade_id)
        assert "✓" in run(page), each.grade_id
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
