"""A new gradebook file, made without the `alembic` command that nbgrader looks for on PATH."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory
from nbgrader.dbutil import ALEMBIC_DIR

from autograder.errors import CourseError


def prepare_gradebook(path: Path) -> None:
    """Stamp a new gradebook with nbgrader's schema version; one that has tables stays as it is.

    nbgrader fills in the tables when it opens a stamped file. To stamp one itself, it runs `alembic`, which takes
    a second and isn't found when the virtual environment isn't activated.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table'").fetchone():
                connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
                connection.execute("INSERT INTO alembic_version VALUES (?)", (_newest_schema(),))
    except sqlite3.Error as error:
        cure = "Restore it from a backup, or move it away to start a new gradebook."
        raise CourseError(f"{path} can't be used as a gradebook: {error}.", cure) from error


def _newest_schema() -> str | None:
    config = Config()
    config.set_main_option("script_location", ALEMBIC_DIR)
    return ScriptDirectory.from_config(config).get_current_head()
