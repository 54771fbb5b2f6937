"""Bring a result into the form that nbgrader's own SaveAutoGrades reads: it takes marks from outputs."""

from __future__ import annotations

import copy

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.grading.result import CellResult, Result, State


def paste(result: Result) -> NotebookNode:
    """Return the executed notebook with outputs from which nbgrader computes exactly the result's points.

    nbgrader gives no points to a test cell with an error or with anything on standard error, partial points to one
    that displays a number, and full points to any other.
    """
    notebook = copy.deepcopy(result.notebook)
    by_id = {cell.grade_id: cell for cell in result.cells}
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader") or {}
        graded = by_id.get(mark.get("grade_id", ""))
        if graded is not None and mark.get("grade"):
            cell.outputs = [_harmless(output) for output in cell.outputs if output.output_type != "error"]
            if graded.state is not State.PASSED:
                cell.outputs.append(_failure(graded))
    return notebook


def _harmless(output: NotebookNode) -> NotebookNode:
    if output.output_type == "stream":
        return new_output("stream", name="stdout", text=output.text)
    return new_output("display_data", data=output.data, metadata=output.get("metadata", {}))


def _failure(cell: CellResult) -> NotebookNode:
    text = cell.message or f"No points ({cell.state})."
    return new_output("error", ename=str(cell.state), evalue=text, traceback=[f"✗ {text}"])
