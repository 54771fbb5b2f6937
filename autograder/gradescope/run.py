"""What Gradescope runs once a submission: grade what lies in submission/ and write results/results.json.

python -m autograder.gradescope.run /autograder
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.console import warn
from autograder.course import Course, parse_notebook
from autograder.errors import CourseError, ExitCode
from autograder.files import write_whole
from autograder.gradescope.results import refused, to_results
from autograder.grading.seam import grade_again_if_unsound
from autograder.intake.choosing import choose
from autograder.intake.folder import list_folder
from autograder.intake.layout import arrange
from autograder.intake.sections import masters
from autograder.limits import read_limits
from autograder.sealed.runner import choose_runner
from autograder.variants import code_of

SETTINGS = "gradescope.json"
"""The file in source/ with the settings of an export."""

METADATA = "submission_metadata.json"
"""What Gradescope says of a submission: https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/"""


@dataclass(frozen=True)
class Settings:
    """What an export has settled: the section, when marks may be seen, and whether walls may be missing.

    For variants: the course's secret, and which of Gradescope's ids of a student, "sid" or "email", is the course's.
    """

    section: str
    visibility: str
    unsafe: bool
    secret: str | None = None
    student_id: str = "sid"

    def to_text(self) -> str:
        """Return the settings as the file's text."""
        return json.dumps(asdict(self), indent=2) + "\n"


def grade_folder(course: Course, settings: Settings, folder: Path, student: str = "") -> dict[str, Any]:
    """Grade the one notebook in `folder`; return results for Gradescope. CourseError if grading itself failed."""
    # First, so that a machine that can't grade never looks like a bad submission.
    code = code_of(settings.secret, student)
    runner = choose_runner(course.master_path(settings.section).parent, unsafe=settings.unsafe, code=code)
    master = course.master(settings.section)
    try:
        submission = _find(course, settings.section, folder)
    except CourseError as error:
        return refused(error)
    limits = read_limits(course.master_path(settings.section).parent)
    return to_results(grade_again_if_unsound(master, submission, runner, limits), master, settings.visibility)


def _find(course: Course, section: str, folder: Path) -> NotebookNode:
    """Return the notebook of the section among the files of a submission."""
    known = masters(course)
    piles = arrange(list_folder(folder), known, student="submission").piles
    chosen = [choose(pile, known, section) for pile in piles]
    for each in chosen:
        for choice in each.choices:
            return parse_notebook(choice.handed.data.decode("utf-8-sig"))
    problems = [refusal for each in chosen for refusal in each.refused]
    if problems:
        raise CourseError(problems[0].problem, problems[0].cure)
    raise CourseError("There is no notebook among your files.", f"Hand in {section}.ipynb.")


def student_of(settings: Settings, path: Path) -> str:
    """Return who handed in, as Gradescope describes the submission, by the course's id; empty without variants."""
    if settings.secret is None:
        return ""
    try:
        ids = {str(user[settings.student_id]) for user in json.loads(path.read_text("utf-8"))["users"]}
    except (OSError, ValueError, KeyError, TypeError):
        ids = set()
    if len(ids) != 1 or not all(ids):
        raise CourseError(
            f"{path} doesn't name one student by {settings.student_id}, and the exercises have variants.",
            "Give every student a Student ID in Gradescope's roster, let each hand in alone, or export with "
            "--student-id email.",
        )
    return ids.pop()


def main(argv: Sequence[str] | None = None) -> int:
    """Grade; without a sound result nothing is written, and Gradescope says that the autograder failed."""
    (root,) = map(Path, sys.argv[1:] if argv is None else argv)
    try:
        settings = Settings(**json.loads((root / "source" / SETTINGS).read_text(encoding="utf-8")))
        student = student_of(settings, root / METADATA)
        results = grade_folder(Course.at(root / "source"), settings, root / "submission", student)
    except CourseError as error:
        warn(error)
        return ExitCode.PROBLEMS
    write_whole(root / "results" / "results.json", json.dumps(results, indent=2).encode())
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
