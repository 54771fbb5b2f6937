"""The seam as nbgrader preprocessors, so that `nbgrader autograde` and formgrader's button give the same marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float

from autograder.course import Course
from autograder.grading.rebuild import rebuild
from autograder.grading.seam import grade_again_if_unsound
from autograder.limits import read_limits
from autograder.sealed.runner import choose_runner
from autograder.variants import code_of


class CourseLatePenalty(LateSubmissionPlugin):  # type: ignore[misc]
    """Stands in for nbgrader's choice of late penalties: what course.toml says."""

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """Return the points that a submission loses."""
        course = Course.at(self.parent.parent.parent.coursedir.root)
        return course.configuration.late.penalty(score, total_seconds_late) or None


class RebuildSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Stands in for nbgrader's OverwriteCells and its companions."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Return the submission rebuilt on the master."""
        course, section = _course(self, resources)
        rebuilt = rebuild(course.master(section), nb)
        for note in rebuilt.notes:
            self.log.info(note)
        return rebuilt.notebook, resources


class GradeSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Stands in for nbgrader's Execute."""

    cell_seconds = Float(None, allow_none=True, help="Seconds a cell may run, if not the section's.").tag(config=True)
    notebook_seconds = Float(None, allow_none=True, help="The same for a notebook.").tag(config=True)
    unsafe = Bool(False, help="Run student code with your own rights where it can't be isolated.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Return the notebook with outputs from which nbgrader computes exactly our marks."""
        course, section = _course(self, resources)
        folder = course.master_path(section).parent
        student = resources["nbgrader"]["student"]
        runner = choose_runner(folder, unsafe=self.unsafe, code=code_of(course.configuration.secret, student))
        limits = read_limits(folder, self.cell_seconds, self.notebook_seconds)
        result = grade_again_if_unsound(course.master(section), nb, runner, limits)
        if not result.is_sound:
            raise RuntimeError(f"{student}'s {section} couldn't be graded: {' '.join(result.notes)} Grade it again.")
        for note in result.notes:
            self.log.info(note)
        return result.notebook, resources


def _course(preprocessor: NbGraderPreprocessor, resources: Any) -> tuple[Course, str]:
    """Return the course and the section that a converter is at: it is the parent of the preprocessor's exporter."""
    folders = preprocessor.parent.parent.coursedir
    root = Path(folders.root).resolve()
    return Course(root, root / folders.source_directory), resources["nbgrader"]["assignment"]
