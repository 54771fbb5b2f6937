"""Feedback pages: nbgrader's own GenerateFeedback on the autograded notebooks, without hidden tests, and harmless."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import ClearHiddenTests, GetGrades, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from autograder.course import Course
from autograder.markup import clean_html, clean_output, with_policy
from autograder.nbgrader_bridge import Log, course_directory, nbgrader_errors
from autograder.rereading import WhatToReadAgain


class HideTests(ClearHiddenTests):  # type: ignore[misc]
    """Takes hidden tests out of test cells; elsewhere its markers are the student's own words, and stay."""

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Clear a test cell."""
        if is_grade(cell) and not is_solution(cell):
            return super().preprocess_cell(cell, resources, cell_index)  # type: ignore[no-any-return]
        return cell, resources


class CleanOutputs(NbGraderPreprocessor):  # type: ignore[misc]
    """Leaves in outputs what can only be looked at."""

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Clean the outputs of a cell."""
        for output in cell.get("outputs", []):
            clean_output(output)
        return cell, resources


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """Writes pages on which nothing runs: text of students passes a sanitiser, and a policy forbids the rest."""

    exclude_anchor_links = True

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """Return a text cell as clean HTML."""
        return clean_html(super().markdown2html(context, source))

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **options: Any) -> tuple[str, Any]:
        """Return the page of a notebook."""
        page, resources = super().from_notebook_node(nb, resources, **options)
        return with_policy(page), resources


PREPROCESSORS = (HideTests, CleanOutputs, GetGrades, WhatToReadAgain, CSSHTMLHeaderPreprocessor)
"""The steps of a feedback page: nbgrader's, with hidden tests taken out, outputs cleaned, and advice on top."""


def graded(course: Course, section: str) -> tuple[str, ...]:
    """Return the students whose submission of the section has been graded, sorted by id."""
    found = (course.root / "autograded").glob(f"*/{section}/{section}.ipynb")
    return tuple(sorted(path.parent.parent.name for path in found))


def write_feedback(course: Course, section: str, student: str) -> Path:
    """Write the feedback page of a graded submission and return its path."""
    log = Log()
    doing = f"No feedback for {student} in {section}"
    with (
        course_directory(course, section, student, log) as folders,
        nbgrader_errors(log, doing, f"Grade it again: autograder grade {section} --student {student} --force"),
    ):
        converter = GenerateFeedback(coursedir=folders, log=log.logger, force=True)
        converter.preprocessors = list(PREPROCESSORS)
        converter.exporter_class = FeedbackExporter
        converter.start()
    return course.feedback(student, section)
