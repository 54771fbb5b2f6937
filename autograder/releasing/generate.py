"""Student versions of master notebooks, made by nbgrader's own GenerateAssignment."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course import CHECKS, Course
from autograder.errors import CourseError
from autograder.gradebook.database import only_one, prepare_gradebook
from autograder.nbgrader_bridge import Log
from autograder.releasing.masters import check_master
from autograder.settings import nbgrader_settings

SHIPPED = (CHECKS, "*.npy", "*.png", "*.svg", "*.csv", "*.txt")
"""What ships beside the notebook itself."""

KEPT_BACK = (".*", "__pycache__", "*.md", "*.toml", "*.py", "*~")
"""What never ships; anything that is in neither list is an error, so nothing is left out by accident."""


def generate(course: Course, section: str, destination: Path) -> None:
    """Write the student version of the section and its shipped files to `destination`/`section`; no database."""
    check_master(course, section)
    with _converted(course, section, database=None) as made:
        shutil.copytree(made, destination / section)


def register(course: Course, section: str) -> None:
    """Write the section's cells into the course's gradebook, as `nbgrader generate_assignment` does."""
    check_master(course, section)
    prepare_gradebook(course)
    with only_one(course), _converted(course, section, database=course.database_url):
        pass


@contextmanager
def _converted(course: Course, section: str, database: str | None) -> Iterator[Path]:
    # nbgrader puts paths into globs and regular expressions unescaped; a scratch folder has a harmless name.
    with TemporaryDirectory(prefix="autograder-release-") as name:
        scratch = Path(name).resolve()
        _copy_master(course, section, scratch / "source" / section)
        log = Log()
        try:
            _converter(scratch, section, database, log.logger).start()
        except NbGraderException as error:
            problem = f"nbgrader refuses {course.master_path(section)}: {log.reason() or error}"
            raise CourseError(problem, _cure(problem)) from error
        yield scratch / "release" / section


def _copy_master(course: Course, section: str, to: Path) -> None:
    folder = course.master_path(section).parent
    to.mkdir(parents=True)
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_dir() or any(fnmatch(part, pattern) for part in inside.parts for pattern in KEPT_BACK):
            continue
        if inside != Path(f"{section}.ipynb") and not any(fnmatch(path.name, pattern) for pattern in SHIPPED):
            raise CourseError(
                f"{path} is neither the section's notebook nor of a kind that ships ({', '.join(SHIPPED)}).",
                "Move it out of the section's folder, or save it as one of these kinds.",
            )
        (to / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to / inside)


def _converter(root: Path, section: str, database: str | None, log: logging.Logger) -> GenerateAssignment:
    config = nbgrader_settings()
    place = {"root": str(root), "source_directory": "source", "release_directory": "release"}
    config.merge(Config(CourseDirectory={**place, "assignment_id": section}))
    if database is None:
        config.merge(Config(SaveCells={"enabled": False}, GenerateAssignment={"no_database": True}))
    else:
        config.merge(Config(CourseDirectory={"db_url": database}))
    folders = CourseDirectory(config=config, log=log)
    return GenerateAssignment(coursedir=folders, config=config, log=log)


def _cure(problem: str) -> str:
    if "Duplicate grade id" in problem:
        return "Give each cell a grade_id of its own (View > Right Sidebar > Create Assignment, or the metadata)."
    if "submissions associated" in problem:
        return "Students have handed this section in: keep its grade_ids as they were, or start a new gradebook."
    if "database" in problem:
        return "Back the gradebook up, then run `nbgrader db upgrade` in the course folder."
    return "Open the master in JupyterLab with nbgrader's Create Assignment panel and correct that cell."
