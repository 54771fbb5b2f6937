"""The seam of grading: a pure function from master and submission to a result, with the runner as a parameter."""

from __future__ import annotations

import copy
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace

from nbformat import NotebookNode, ValidationError
from nbformat.v4.nbbase import new_output, validate
from nbgrader.utils import is_grade, is_solution

from autograder.grading.judging import error_text, judge, timeout_message
from autograder.grading.plain import plain
from autograder.grading.rebuild import rebuild
from autograder.grading.result import CellResult, Result, State
from autograder.grading.running import Outcome, Run, Runner, RunnerError, Status
from autograder.limits import Limits, size

_DEFAULT = Limits()

_LINE = 96
"""Characters on a line of a message below a test cell."""


def grade(
    master: NotebookNode, submission: NotebookNode, runner: Runner = plain, limits: Limits = _DEFAULT
) -> Result:
    """Rebuild the submission on the master, run it, and judge its test cells.

    A test cell passes only if the runner reports that this very cell ran to its end. Whatever is missing or doesn't
    fit together is `infra_error`: grade again, and never take it for zero. Cells graded by hand aren't judged.
    """
    started = time.monotonic()
    rebuilt = rebuild(master, submission)
    try:
        run = runner(rebuilt.notebook, limits)
    except RunnerError as error:
        run = Run(rebuilt.notebook, {})
        rebuilt = replace(rebuilt, notes=(*rebuilt.notes, f"Grading failed: {error}."))
    shown = _with_outputs(rebuilt.notebook, run.notebook)
    cells = []
    for cell in shown.cells:
        if is_grade(cell) and not is_solution(cell):
            result = judge(cell, _outcome_of(cell, run), limits)
            cells.append(result)
            cell.outputs = _outputs(result)
    notes = (*rebuilt.notes, *_remarks(shown, run, limits))
    return Result(tuple(cells), shown, time.monotonic() - started, runner.name, notes)


def grade_again_if_unsound(
    master: NotebookNode, submission: NotebookNode, runner: Runner = plain, limits: Limits = _DEFAULT
) -> Result:
    """Grade, and once more if grading itself failed; the second result is returned as it is."""
    result = grade(master, submission, runner, limits)
    return result if result.is_sound else grade(master, submission, runner, limits)


def _outcome_of(cell: NotebookNode, run: Run) -> Outcome | None:
    """Return what became of a cell; None if the runner didn't run this cell as we gave it out."""
    same = [each for each in run.notebook.cells if each.get("id") == cell["id"]]
    if len(same) != 1 or same[0].source != cell.source or same[0].cell_type != "code":
        return None
    return run.outcomes.get(cell["id"])


def _with_outputs(rebuilt: NotebookNode, executed: NotebookNode) -> NotebookNode:
    """Return the rebuilt notebook with the outputs of the executed one, if valid; nothing else of it."""
    shown = copy.deepcopy(rebuilt)
    outputs = {cell.get("id"): cell.get("outputs") for cell in executed.cells}
    counter = 0
    for cell in shown.cells:
        if cell.cell_type == "code":
            counter += 1
            cell.execution_count = counter
            cell.outputs = [output for output in outputs.get(cell["id"]) or [] if _is_valid(output)]
    return shown


def _is_valid(output: NotebookNode) -> bool:
    try:
        validate(output, ref="output")
    except ValidationError:
        return False
    return True


def _outputs(result: CellResult) -> list[NotebookNode]:
    """Return what is shown below a test cell: the message alone, for tracebacks and prints may show hidden tests.

    nbgrader's SaveAutoGrades reads marks from outputs: none with an error, all of them with text that was printed.
    """
    if result.state is State.PASSED:
        return [new_output("stream", name="stdout", text=f"✓ {result.grade_id}: passed.\n")]
    # Feedback pages don't wrap the lines of an error.
    lines = textwrap.wrap(f"✗ {result.message}", _LINE)
    return [new_output("error", ename=str(result.state), evalue=result.message, traceback=lines)]


def _remarks(notebook: NotebookNode, run: Run, limits: Limits) -> Iterator[str]:
    """Yield what went wrong in the student's own cells: often the cause of what the tests say."""
    for cell in notebook.cells:
        outcome = run.outcomes.get(cell["id"])
        if outcome is None or is_grade(cell):
            continue
        name = (cell.metadata.get("nbgrader") or {}).get("grade_id")
        what = f"the cell '{name}'" if name else f"a code cell ({cell.source.strip().splitlines()[0][:40]})"
        if outcome.status is Status.TIMEOUT:
            yield timeout_message(what, outcome, limits)
        elif outcome.status is Status.ERROR:
            yield f"{what[0].upper()}{what[1:]} stopped: {error_text(outcome, limits)[:250]}"
        if outcome.is_cut:
            yield f"{what[0].upper()}{what[1:]} put out more than {size(limits.output_bytes)}; the rest was cut off."


__all__ = ["Limits", "grade", "grade_again_if_unsound"]
