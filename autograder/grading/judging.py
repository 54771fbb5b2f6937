"""From the outcome of a test cell to its state and a message for the student, which holds no hidden test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder.grading.result import CellResult, State
from autograder.grading.running import KERNEL_DIED, NOTEBOOK_TIMEOUT, Outcome, Status
from autograder.limits import OPEN_FILES, Limits, size
from autograder.parsing import parse
from autograder.regions import RegionKind

_BEGIN, _END = f"BEGIN {RegionKind.HIDDEN_TESTS}", f"END {RegionKind.HIDDEN_TESTS}"
_FAILURES = ("AssertionError", "CheckFailed")
_HINT = "CheckFailed"
"""The visible check raises this with a hint; hidden tests use plain asserts."""

_LONGEST = 1_000
_HIDDEN_FAILED = "A hidden test failed."


def judge(cell: NotebookNode, outcome: Outcome | None, limits: Limits) -> CellResult:
    """Return the result of a test cell: passed only if the runner says that this very cell ran to its end."""
    mark = cell.metadata["nbgrader"]
    name, points = str(mark["grade_id"]), float(mark["points"])
    if outcome is None or outcome.status is Status.NOT_RUN:
        reason = outcome.evalue if outcome and outcome.evalue else "it wasn't run"
        return CellResult(
            name, State.INFRA_ERROR, points, f"The test cell '{name}' can't be judged: {_clean(reason)}."
        )
    if outcome.status is Status.OK:
        return CellResult(name, State.PASSED, points)
    if outcome.status is Status.TIMEOUT:
        return CellResult(name, State.TIMEOUT, points, timeout_message(f"the test cell '{name}'", outcome, limits))
    if outcome.ename in _FAILURES:
        return CellResult(name, State.FAILED, points, _failure(cell.source, outcome))
    return CellResult(name, State.STUDENT_ERROR, points, _error(name, cell.source, outcome, limits))


def timeout_message(what: str, outcome: Outcome, limits: Limits) -> str:
    """Say which limit a cell met."""
    if outcome.ename == NOTEBOOK_TIMEOUT:
        return f"The notebook ran longer than {limits.notebook_seconds:g} s; {what} wasn't reached or finished."
    return f"{what[0].upper()}{what[1:]} ran longer than {limits.cell_seconds:g} s and was stopped."


def error_text(outcome: Outcome, limits: Limits) -> str:
    """Return an error on one line, as `NameError: name 'x' is not defined`; and the limit behind it, if any."""
    if outcome.ename == KERNEL_DIED:
        if outcome.evalue:
            return f"Python was stopped while it ran: {outcome.evalue}"
        return "Python ended while it ran (exit, os._exit, or a crash)"
    text = _clean(f"{outcome.ename}: {outcome.evalue}" if outcome.evalue else outcome.ename)
    limit = _limit_behind(text, limits)
    return f"{text} ({limit})" if limit else text


def _limit_behind(error: str, limits: Limits) -> str | None:
    """Return what grading allows if that may be why an error arose: the system's own words name no limit."""
    causes = (
        (r"BlockingIOError: \[Errno 11\]|can't start new thread",
         f"grading allows {limits.processes} processes and threads at a time"),
        (r"\[Errno 27\]", f"grading allows {size(limits.file_bytes)} for a file"),
        (r"\[Errno 28\]", f"grading allows {size(limits.disk_bytes)} for all files together"),
        (r"\[Errno 24\]", f"grading allows {OPEN_FILES:,} open files"),
        (r"^MemoryError", f"grading allows {size(limits.memory_bytes)} of memory"),
        (r"\[Errno (97|101|111|113|-2|-3)\]", "there is no network while grading"),
        (r"\[Errno 30\]", "while grading, only your working folder can be written to"),
        (r"PermissionError: \[Errno 1\]", "grading doesn't allow this"),
    )  # fmt: skip
    return next((words for pattern, words in causes if re.search(pattern, error)), None)


def _failure(source: str, outcome: Outcome) -> str:
    if outcome.ename == _HINT or _is_visible(source, outcome.line):
        return _clean(outcome.evalue) or "A visible check of this cell failed."
    # Only the author's own words are shown: other texts (numpy.testing's, the student's) may give hidden inputs away.
    own = any(pattern.fullmatch(outcome.evalue) for pattern in _own_messages(source))
    return _clean(outcome.evalue) if own else _HIDDEN_FAILED


def _error(name: str, source: str, outcome: Outcome, limits: Limits) -> str:
    if outcome.ename == KERNEL_DIED:
        return f"The test cell '{name}': {error_text(outcome, limits)}."
    if _is_visible(source, outcome.line):
        return f"Your code raised {error_text(outcome, limits)}"
    return f"A hidden test stopped: your code raised {_clean(outcome.ename)}."


def _is_visible(source: str, line: int | None) -> bool:
    """Say whether this line of a test cell is outside its hidden regions; an unknown line only if none is hidden."""
    hidden = False
    for number, text in enumerate(source.splitlines(), 1):
        if _BEGIN in text:
            hidden = True
            if line is None:
                return False
        if number == line:
            return not hidden
        if _END in text:
            hidden = False
    return line is None


def _own_messages(source: str) -> Iterator[re.Pattern[str]]:
    """Yield a pattern for each assertion message written out in the cell; {...} of an f-string fits any text."""
    try:
        tree = parse(source)
    except SyntaxError:  # a cell with IPython magics
        return
    for node in ast.walk(tree):
        message = node.msg if isinstance(node, ast.Assert) else None
        parts = message.values if isinstance(message, ast.JoinedStr) else [message]
        if any(isinstance(part, ast.Constant) and str(part.value).strip() for part in parts):
            texts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in parts)
            yield re.compile("".join(texts), re.DOTALL)


def _clean(text: str) -> str:
    """Return a text cut to a bearable length, without control and direction characters."""
    kept = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
    return kept if len(kept) <= _LONGEST else f"{kept[:_LONGEST]} …"
