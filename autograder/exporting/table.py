"""The grades of a course as a table: one row a student and section, one column a graded cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nbgrader.api import SubmittedAssignment

from autograder.course import Course
from autograder.errors import CourseError
from autograder.exporting.columns import FIXED, in_course_order, name_columns
from autograder.gradebook.database import read_gradebook


@dataclass(frozen=True)
class Row:
    """The grade of one submission.

    `cells` has the points of each column that the section has, None for what a person has still to grade.
    """

    student: str
    section: str
    score: float
    max_score: float
    cells: Mapping[str, float | None]

    @property
    def to_grade(self) -> int:
        """How many cells wait for a person; until then the score lacks their points."""
        return sum(points is None for points in self.cells.values())


@dataclass(frozen=True)
class GradeTable:
    """All rows, sorted by student and section, and the cells' columns in course order."""

    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    ungraded: tuple[tuple[str, str], ...]
    """Student and section of submissions that the gradebook knows, but has no points for."""

    @property
    def header(self) -> tuple[str, ...]:
        """The names of all columns."""
        return (*FIXED, *self.columns)

    def records(self) -> list[dict[str, str | float | None]]:
        """Return the rows by column name, None where a section lacks the cell."""
        return [dict(zip(self.header, self._values(row), strict=True)) for row in self.rows]

    def _values(self, row: Row) -> Iterator[str | float | None]:
        yield from (row.student, row.section, plain(row.score), plain(row.max_score), row.to_grade)
        points = (row.cells.get(name) for name in self.columns)
        yield from (None if each is None else plain(each) for each in points)


def plain(number: float) -> float:
    """Return the integer 2 for 2.0, and 0.3 for the 0.30000000000000004 that a sum of points may give."""
    rounded = round(number, 9)
    return int(rounded) if rounded == int(rounded) else rounded


def read_grades(course: Course, sections: Sequence[str]) -> GradeTable:
    """Read the grades of these sections from the gradebook; CourseError if there are none.

    A score is what nbgrader's own export calls so: the points, manual ones first, less the penalty for lateness.
    """
    rows: list[Row] = []
    ungraded: list[tuple[str, str]] = []
    cells: dict[str, tuple[str, ...]] = {}
    with read_gradebook(course) as gradebook:
        for section in sections:
            names: set[str] = set()
            for submission in gradebook.assignment_submissions(section):
                points = dict(_points(submission))
                if any(each is not None for each in points.values()):
                    rows.append(_row(submission, section, points))
                    names |= points.keys()
                else:
                    ungraded.append((submission.student.id, section))
            cells[section] = in_course_order(names, course.master(section))
    if not rows:
        problem = f"No submission of {', '.join(sections)} is graded in {course.database_name}."
        raise CourseError(problem, "Run `autograder grade` first.")
    columns = name_columns(cells)
    rows.sort(key=lambda row: (row.student, row.section))
    named = (
        replace(row, cells={columns[row.section, name]: value for name, value in row.cells.items()}) for row in rows
    )
    return GradeTable(tuple(named), tuple(columns.values()), tuple(sorted(ungraded)))


def _row(submission: SubmittedAssignment, section: str, points: Mapping[str, float | None]) -> Row:
    score = max(0.0, submission.score - submission.late_submission_penalty)
    return Row(submission.student.id, section, score, submission.max_score, points)


def _points(submission: SubmittedAssignment) -> Iterator[tuple[str, float | None]]:
    """Yield the graded cells with their points; one that waits for a person has none yet, which is no zero."""
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            has_points = grade.manual_score is not None or grade.auto_score is not None
            yield grade.name, grade.score if has_points else None
