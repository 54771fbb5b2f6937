"""The database of the gradebook: a file of SQLite, or whatever SQLAlchemy can talk to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from alembic.config import Config
from alembic.script import ScriptDirectory
from filelock import FileLock, Timeout
from nbgrader.api import Base, Gradebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from autograder.course import Course
from autograder.errors import CourseError
from autograder.gradebook.log import keep_log

_PATIENCE = 60.0
"""Seconds to wait for another process."""


@contextmanager
def open_gradebook(course: Course) -> Iterator[Gradebook]:
    """Open the course's gradebook; it is made if there is none. One open gradebook serves a whole batch."""
    prepare_gradebook(course)
    with Gradebook(course.database_url) as gradebook:
        yield gradebook


@contextmanager
def read_gradebook(course: Course) -> Iterator[Gradebook]:
    """Open a gradebook that has submissions; CourseError if there is none, and nothing is made."""
    cure = "Run `autograder grade` first."
    if course.has_database_file and not course.database.is_file():
        raise CourseError(f"There is no gradebook at {course.database}.", cure)
    with _errors(course, "read"):
        with _connected(course) as connection:
            if not inspect(connection).has_table("submitted_assignment"):
                raise CourseError(f"The gradebook {course.database_name} is empty.", cure)
        with Gradebook(course.database_url) as gradebook:
            yield gradebook


def prepare_gradebook(course: Course) -> None:
    """Make the tables of a new gradebook, and see that changes of marks are logged; CourseError if that can't be.

    nbgrader stamps a new gradebook by running `alembic` by name, which takes a second and isn't found when the
    virtual environment isn't activated.
    """
    with only_one(course), _errors(course, "used"), _connected(course) as connection:
        if not inspect(connection).get_table_names():
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
            connection.execute(text("INSERT INTO alembic_version VALUES (:newest)"), {"newest": _newest_schema()})
        Base.metadata.create_all(connection)
        # nbgrader's two names for a course without a name: it would add the first whenever it is missing, which fails
        # when two do so at once, and counts on the second without adding it, which servers don't let pass.
        for name in ("default_course", *([] if course.has_database_file else [""])):
            connection.execute(text("INSERT INTO course (id) VALUES (:name) ON CONFLICT DO NOTHING"), {"name": name})
        keep_log(connection)


@contextmanager
def only_one(course: Course) -> Iterator[None]:
    """Let no other process of ours be here too: for what nbgrader can do only one at a time, such as registering."""
    if course.has_database_file:
        course.root.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(course.root / ".gradebook.lock", timeout=_PATIENCE):
                yield
        except Timeout as error:
            cure = f"Wait for it, or end it; if there is none, delete {error.lock_file}."
            raise CourseError(f"Another process has been setting up {course.database} for a minute.", cure) from error
    else:
        with _errors(course, "used"), _connected(course) as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(4711)"))
            yield


@contextmanager
def _connected(course: Course) -> Iterator[Connection]:
    engine = create_engine(course.database_url, poolclass=NullPool)
    with engine.begin() as connection:
        yield connection


@contextmanager
def _errors(course: Course, what: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, SQLAlchemyError, ImportError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0].rstrip(".")
        if isinstance(error, ImportError):
            cure = "Install the driver that the address names: pip install 'numfmt-course[postgres]'."
        elif course.has_database_file:
            cure = (
                "Restore it from a backup, or move it away to start a new gradebook; if an old nbgrader made it, "
                "run `nbgrader db upgrade` in the course folder."
            )
        else:
            cure = "Check the address in course.toml, the password (PGPASSWORD, ~/.pgpass), and that the server runs."
        problem = f"{course.database_name} can't be {what} as a gradebook: {reason}."
        raise CourseError(problem, cure) from error


def _newest_schema() -> str | None:
    config = Config()
    config.set_main_option("script_location", ALEMBIC_DIR)
    return ScriptDirectory.from_config(config).get_current_head()
