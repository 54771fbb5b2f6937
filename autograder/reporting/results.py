"""What the results of a class say of a section, as plain numbers: no student is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course import Course
from autograder.exporting.table import read_grades
from autograder.grading.result import State
from autograder.grading.stamp import read_stamp
from autograder.proof.catalogue import Entry, read_catalogue


@dataclass(frozen=True)
class Misconception:
    """A named wrong answer that `students` gave to an exercise, and the hint that it earned them."""

    exercise: str
    name: str
    hint: str
    students: int


@dataclass(frozen=True)
class SectionResults:
    """The results of a section: each student's score, how each exercise's test cell ended, and what was wrong.

    `states` has, for each exercise in the order of the lecture, how many students' test cells ended in each state;
    `unnamed` counts wrong answers that the catalogue doesn't know.
    """

    section: str
    max_score: float
    scores: tuple[float, ...]
    states: Mapping[str, Counter[State]]
    misconceptions: tuple[Misconception, ...]
    unnamed: Counter[str]

    def solved(self, exercise: str) -> float:
        """Return the share of students who solved an exercise, from 0 to 1."""
        states = self.states[exercise]
        return states[State.PASSED] / max(1, states.total())

    @property
    def hardest(self) -> tuple[str, ...]:
        """The exercises, those that the fewest solved first."""
        return tuple(sorted(self.states, key=self.solved))


def read_results(course: Course, sections: Sequence[str]) -> Iterator[SectionResults]:
    """Yield the results of the sections that have any, from the gradebook and the graded notebooks.

    Scores are the gradebook's: with marks given by hand, less penalties. CourseError if nothing is graded.
    """
    table = read_grades(course, sections)
    for section in sections:
        rows = [row for row in table.rows if row.section == section]
        if rows:
            stamps = (read_stamp(course.autograded(row.student, section)) for row in rows)
            cells = [stamp["cells"] for stamp in stamps if stamp]
            catalogue = read_catalogue(course.catalogue_path(section))
            scores = tuple(row.score for row in rows)
            yield summarize(section, max(row.max_score for row in rows), scores, cells, catalogue)


def summarize(
    section: str,
    max_score: float,
    scores: tuple[float, ...],
    submissions: Sequence[Sequence[Mapping[str, Any]]],
    catalogue: Mapping[str, Entry],
) -> SectionResults:
    """Count what became of the test cells of each submission (see `CellResult.to_json`)."""
    states: dict[str, Counter[State]] = {}
    named: Counter[tuple[str, str]] = Counter()
    unnamed: Counter[str] = Counter()
    for cell in (cell for cells in submissions for cell in cells):
        exercise, state = cell["grade_id"], State(cell["state"])
        states.setdefault(exercise, Counter())[state] += 1
        if state is State.FAILED:
            name = _mistake(cell["message"], catalogue.get(exercise))
            if name is None:
                unnamed[exercise] += 1
            else:
                named[exercise, name] += 1
    hints = {(exercise, one.name): one.hint for exercise, entry in catalogue.items() for one in entry.wrong}
    mistakes = (Misconception(*key, hints[key], students) for key, students in named.most_common())
    return SectionResults(section, max_score, scores, states, tuple(mistakes), unnamed)


def _mistake(message: str, entry: Entry | None) -> str | None:
    """Return the name of the wrong answer whose hint a message holds; the longest, if one hint is part of another."""
    words = " ".join(message.split())
    found = [one for one in (entry.wrong if entry else ()) if one.hint in words]
    return max(found, key=lambda one: len(one.hint)).name if found else None
