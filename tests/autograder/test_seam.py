"""The seam judges what a runner reports, fails closed, and tells students nothing of hidden tests."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.utils import determine_grade

from autograder.grading.result import State
from autograder.grading.running import KERNEL_DIED, NOTEBOOK_TIMEOUT, Outcome, Run, RunnerError, Status
from autograder.grading.seam import grade, grade_again_if_unsound
from autograder.limits import Limits
from tests.mini_course import answered, mini_master

OK = Outcome(Status.OK)


@dataclass
class Scripted:
    """A runner that reports what it is told to, instead of running anything."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    change: Callable[[Run], Run] = lambda run: run
    outputs: tuple[NotebookNode, ...] = ()
    name: str = "scripted"
    calls: int = 0

    def __call__(self, notebook: NotebookNode, limits: Limits) -> Run:
        self.calls += 1
        executed = copy.deepcopy(notebook)
        code = [cell for cell in executed.cells if cell.cell_type == "code"]
        for cell in code:
            cell.outputs = list(self.outputs)
        return self.change(Run(executed, {cell["id"]: OK for cell in code} | self.outcomes))


def judged(outcome: Outcome, test_cell: str | None = None) -> tuple[State, str]:
    """Return state and message of the test cell `double` when the runner reports this outcome."""
    master = mini_master()
    if test_cell is not None:
        next(cell for cell in master.cells if cell["id"] == "double").source = test_cell
    cell = grade(master, answered(), Scripted({"double": outcome})).cells[1]
    return cell.state, cell.message


def test_all_cells_ok_is_full_marks() -> None:
    result = grade(mini_master(), answered(), Scripted())
    assert [(cell.grade_id, cell.state, cell.points) for cell in result.cells] == [
        ("seven", State.PASSED, 1),
        ("double", State.PASSED, 2),
    ]
    assert (result.score, result.max_score, result.runner, result.is_sound) == (3, 3, "scripted", True)
    assert result.to_json()["cells"][1] == {
        "grade_id": "double",
        "state": "passed",
        "points": 2,
        "max_points": 2,
        "message": "",
    }


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome(Status.ERROR, "AssertionError", "no"), State.FAILED),
        (Outcome(Status.ERROR, "CheckFailed", "hint"), State.FAILED),
        (Outcome(Status.ERROR, "TypeError", "no"), State.STUDENT_ERROR),
        (Outcome(Status.ERROR, "SystemExit", "0"), State.STUDENT_ERROR),
        (Outcome(Status.ERROR, KERNEL_DIED), State.STUDENT_ERROR),
        (Outcome(Status.TIMEOUT), State.TIMEOUT),
        (Outcome(Status.TIMEOUT, NOTEBOOK_TIMEOUT), State.TIMEOUT),
        (Outcome(Status.NOT_RUN), State.INFRA_ERROR),
    ],
)
def test_only_ok_earns_points(outcome: Outcome, state: State) -> None:
    result = grade(mini_master(), answered(), Scripted({"double": outcome}))
    assert [(cell.state, cell.points) for cell in result.cells] == [(State.PASSED, 1), (state, 0)]
    assert result.cells[1].message


def without_outcome(run: Run) -> Run:
    return replace(run, outcomes={name: each for name, each in run.outcomes.items() if name != "double"})


def without_cell(run: Run) -> Run:
    run.notebook.cells = [cell for cell in run.notebook.cells if cell["id"] != "double"]
    return run


def with_other_source(run: Run) -> Run:
    next(cell for cell in run.notebook.cells if cell["id"] == "double").source = "pass"
    return run


def with_two_of_it(run: Run) -> Run:
    run.notebook.cells.append(next(cell for cell in run.notebook.cells if cell["id"] == "double"))
    return run


def retyped(run: Run) -> Run:
    next(cell for cell in run.notebook.cells if cell["id"] == "double").cell_type = "raw"
    return run


@pytest.mark.parametrize("change", [without_outcome, without_cell, with_other_source, with_two_of_it, retyped])
def test_what_does_not_fit_together_is_never_passed(change: Callable[[Run], Run]) -> None:
    result = grade(mini_master(), answered(), Scripted(change=change))
    assert [cell.state for cell in result.cells] == [State.PASSED, State.INFRA_ERROR]
    assert not result.is_sound


def test_a_runner_that_fails_is_an_infra_error_of_every_cell_and_is_tried_once_more() -> None:
    def fail(run: Run) -> Run:
        raise RunnerError("no kernel")

    runner = Scripted(change=fail)
    result = grade_again_if_unsound(mini_master(), answered(), runner)
    assert {cell.state for cell in result.cells} == {State.INFRA_ERROR}
    assert result.notes == ("Grading failed: no kernel.",)
    assert runner.calls == 2

    def fail_once(run: Run) -> Run:
        return run if flaky.calls > 1 else fail(run)

    flaky = Scripted(change=fail_once)
    assert grade_again_if_unsound(mini_master(), answered(), flaky).score == 3
    sound = Scripted({"double": Outcome(Status.TIMEOUT)})
    assert grade_again_if_unsound(mini_master(), answered(), sound).score == 1
    assert sound.calls == 1


VISIBLE_LINE, HIDDEN_LINE = 2, 4
HIDDEN_MESSAGES = """
assert f(1) is not None, "f returns None."
### BEGIN HIDDEN TESTS
for secret in (41, 42):
    assert f(secret) == 43, f"f is wrong for an odd number, {secret % 2}."
    assert f(secret) > 0
### END HIDDEN TESTS
assert f(3) == 3
""".strip()


@pytest.mark.parametrize(
    ("ename", "evalue", "line", "expected"),
    [
        ("AssertionError", "f returns None.", 1, "f returns None."),
        ("AssertionError", "f is wrong for an odd number, 1.", 4, "f is wrong for an odd number, 1."),
        ("AssertionError", "", 5, "A hidden test failed."),
        ("AssertionError", "", None, "A hidden test failed."),
        ("AssertionError", "ACTUAL: 41\nDESIRED: 43", 4, "A hidden test failed."),
        ("AssertionError", "the student saw 41", None, "A hidden test failed."),
        ("AssertionError", "", 7, "A visible check of this cell failed."),
        ("CheckFailed", "f(1) gave 2. A hint.", None, "f(1) gave 2. A hint."),
        ("KeyError", "41", 4, "A hidden test stopped: your code raised KeyError."),
        ("KeyError", "41", None, "A hidden test stopped: your code raised KeyError."),
        ("KeyError", "'a'", 1, "Your code raised KeyError: 'a'"),
        (KERNEL_DIED, "", None, "The test cell 'double': Python ended while it ran"),
    ],
)
def test_messages_help_and_hide(ename: str, evalue: str, line: int | None, expected: str) -> None:
    _, message = judged(Outcome(Status.ERROR, ename, evalue, line), HIDDEN_MESSAGES)
    assert message.startswith(expected)
    assert "41" not in message


def test_without_hidden_tests_the_message_is_the_errors() -> None:
    outcome = Outcome(Status.ERROR, "AssertionError", "ACTUAL: 41")
    assert judged(outcome, "numpy.testing.assert_equal(f(1), 2)") == (State.FAILED, "ACTUAL: 41")


def test_messages_name_the_cell_and_the_limit() -> None:
    assert judged(Outcome(Status.TIMEOUT))[1] == "The test cell 'double' ran longer than 30 s and was stopped."
    assert "longer than 600 s" in judged(Outcome(Status.TIMEOUT, NOTEBOOK_TIMEOUT))[1]
    assert "'double'" in judged(Outcome(Status.NOT_RUN))[1]


def test_messages_are_short_and_hold_no_control_characters() -> None:
    _, message = judged(Outcome(Status.ERROR, "CheckFailed", "\x1b[31m\x00\u202e" + "long " * 10_000))
    assert message.isprintable() and len(message) < 1_100


NOISE = (
    new_output("stream", name="stderr", text="UserWarning: careful\n"),
    new_output("execute_result", data={"text/plain": "0.5"}, execution_count=1),
    new_output("error", ename="E", evalue="assert secret == 41", traceback=["----> assert secret == 41"]),
    NotebookNode(output_type="display_data", data=5),
)


@pytest.mark.parametrize("outcome", [OK, Outcome(Status.ERROR, "AssertionError", "")])
def test_nbgrader_reads_exactly_our_points_off_the_notebook(outcome: Outcome) -> None:
    """Its rule takes marks for warnings, gives them by displayed numbers, and knows no state."""
    result = grade(mini_master(), answered(), Scripted({"double": outcome}, outputs=NOISE))
    cells = {cell["id"]: cell for cell in result.notebook.cells}
    for cell in result.cells:
        assert determine_grade(cells[cell.grade_id]) == (cell.points, cell.max_points)
        assert "secret" not in str(cells[cell.grade_id].outputs)
    assert len(cells["double_solution"].outputs) == 3  # all but the malformed one


def test_only_outputs_are_taken_from_the_executed_notebook() -> None:
    def forge(run: Run) -> Run:
        for cell in run.notebook.cells:
            cell.metadata = {"nbgrader": {"points": 100, "grade": True, "grade_id": cell["id"]}}
        run.notebook.metadata["forged"] = True
        return run

    forged = grade(mini_master(), answered(), Scripted(change=forge))
    assert forged.max_score == 3
    assert forged.notebook == grade(mini_master(), answered(), Scripted()).notebook


def test_errors_in_the_students_own_cells_are_remarks() -> None:
    outcomes = {
        "double_solution": Outcome(Status.ERROR, "SyntaxError", "invalid syntax"),
        "imports": Outcome(Status.TIMEOUT),
    }
    assert grade(mini_master(), answered(), Scripted(outcomes)).notes == (
        "A code cell (import math) ran longer than 30 s and was stopped.",
        "The cell 'double_solution' stopped: SyntaxError: invalid syntax",
    )
