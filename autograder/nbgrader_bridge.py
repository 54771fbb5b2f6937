"""Run nbgrader's converters from code: on any course folder, quietly, with its reasons as our errors."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from autograder.course import Course
from autograder.errors import CourseError

IGNORED = (".*", "*.md", "*.toml", "*.py", "__pycache__", "attempts")
"""What nbgrader never copies from one folder to the next: text twins and catalogues hold answers."""


class Log(logging.Handler):
    """Keeps nbgrader's error messages to itself: it logs the reason of a failure, then raises without it."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []
        self.logger = logging.Logger("nbgrader", logging.ERROR)
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.messages.append(record.getMessage())

    def reason(self) -> str:
        """Return the last line of the first traceback, without the exception's module: what really went wrong."""
        for message in self.messages:
            if message.startswith("Traceback"):
                return re.sub(r"^[\w.]+\.", "", message.strip().splitlines()[-1])
        return self.messages[0].splitlines()[0] if self.messages else ""


@contextmanager
def course_directory(course: Course, section: str, student: str, log: Log) -> Iterator[CourseDirectory]:
    """Yield nbgrader's view of the course folder, for one student and section.

    nbgrader puts paths into globs and regular expressions unescaped, so it sees the course through links in a
    folder with a harmless name.
    """
    with TemporaryDirectory(prefix="autograder-") as name:
        root = Path(name).resolve()
        for step in ("submitted", "autograded", "feedback"):
            target = course.root / step
            target.mkdir(exist_ok=True)
            (root / step).symlink_to(target, target_is_directory=True)
        (root / "source").symlink_to(course.source, target_is_directory=True)
        yield CourseDirectory(
            config=Config(
                CourseDirectory={
                    "root": str(root),
                    "source_directory": "source",
                    "db_url": course.database_url,
                    "assignment_id": section,
                    "student_id": student,
                    "ignore": list(IGNORED),
                }
            ),
            log=log.logger,
        )


@contextmanager
def nbgrader_errors(log: Log, doing: str, cure: str) -> Iterator[None]:
    """Turn nbgrader's exception into a CourseError that says what it was doing and why it failed."""
    try:
        with warnings.catch_warnings():
            # nbgrader's way with its database objects; they are saved all the same.
            warnings.simplefilter("ignore", SAWarning)
            yield
    except NbGraderException as error:
        raise CourseError(f"{doing}: {log.reason() or error}", cure) from error
