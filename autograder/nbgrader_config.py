"""nbgrader's settings for this course: its own commands and formgrader release, grade and give feedback as ours do.

The nbgrader_config.py of a course folder loads this file; nbgrader finds it in the folder where it is run.
"""

import os
import shutil
import sys
from pathlib import Path

from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata, LimitOutput, SaveAutoGrades

from autograder.course import Course
from autograder.feedback import PREPROCESSORS, FeedbackExporter
from autograder.grading.preprocessors import CourseLatePenalty, GradeSubmission, RebuildSubmission
from autograder.nbgrader_bridge import IGNORED
from autograder.settings import nbgrader_settings

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.merge(nbgrader_settings())

if shutil.which("alembic") is None:
    # nbgrader starts it by name; it is beside this Python, also when the environment isn't activated.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])

_course = Course.at(Path.cwd())
c.CourseDirectory.source_directory = (
    "notebooks" if _course.source.parent == _course.root else str(_course.source)  # the checkout's own masters
)
c.CourseDirectory.ignore = list(IGNORED)
if not _course.has_database_file:
    c.CourseDirectory.db_url = _course.database_url

c.Autograde.sanitize_preprocessors = [RebuildSubmission]
c.Autograde.autograde_preprocessors = [
    GradeSubmission,
    LimitOutput,
    SaveAutoGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]
c.AssignLatePenalties.plugin_class = CourseLatePenalty

c.GenerateFeedback.preprocessors = list(PREPROCESSORS)
c.GenerateFeedback.exporter_class = FeedbackExporter
