"""The log of marks: a table that the database itself keeps, to which is only ever added.

Triggers write it, so every change is there, whoever makes it: `autograder grade`, stock nbgrader, a person in
formgrader, or someone with SQL. Other triggers refuse to change or delete what was logged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, inspect, text

TABLE = "grade_log"

_WATCHED = {
    "grade": ("auto_score", "manual_score", "extra_credit"),
    "submitted_notebook": ("late_submission_penalty",),
}
"""The columns from which nbgrader computes a score, by table."""

_SUBMISSION = {
    "grade": "SELECT assignment_id FROM submitted_notebook WHERE id = {row}.notebook_id",
    "submitted_notebook": "{row}.assignment_id",
}
_CELL = {"grade": "SELECT name FROM base_cell WHERE id = {row}.cell_id", "submitted_notebook": "NULL"}


@dataclass(frozen=True)
class Change:
    """A change of a number from which a score is computed; None is no number."""

    number: int
    at: str
    """The time (UTC)."""
    student: str | None
    section: str | None
    cell: str | None
    """The grade_id; None for a penalty, which is of the whole section."""
    what: str
    """The column of nbgrader's: auto_score, manual_score, extra_credit or late_submission_penalty."""
    before: float | None
    after: float | None


def read_log(connection: Connection, sections: Sequence[str], students: Sequence[str]) -> Iterator[Change]:
    """Yield the changes in these sections, of these students or all, from the oldest on."""
    if not inspect(connection).has_table(TABLE):
        return
    columns = ", ".join(Change.__dataclass_fields__)
    for row in connection.execute(text(f"SELECT {columns} FROM {TABLE} ORDER BY number")):
        change = Change(row.number, str(row.at)[:19], *row[2:])
        if change.section in (*sections, None) and (not students or change.student in students):
            yield change


def keep_log(connection: Connection) -> None:
    """Make the log and its triggers where they aren't there yet."""
    is_sqlite = connection.dialect.name == "sqlite"
    if not is_sqlite and inspect(connection).has_table(TABLE):
        return
    for statement in _sqlite() if is_sqlite else _postgres():
        connection.exec_driver_sql(statement)


_COLUMNS = (
    "student VARCHAR(128), section VARCHAR(128), cell VARCHAR(128), what VARCHAR(64) NOT NULL, "
    "before FLOAT, after FLOAT"
)


def _sqlite() -> Iterator[str]:
    yield (
        f"CREATE TABLE IF NOT EXISTS {TABLE} (number INTEGER PRIMARY KEY AUTOINCREMENT, "
        f"at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, {_COLUMNS})"
    )
    for table, column, event in _events():
        insert = _insert(table, column, event)
        name, on = f"{TABLE}_{column}_{event.lower()}", event + (f" OF {column}" if event == "UPDATE" else "")
        yield (
            f"CREATE TRIGGER IF NOT EXISTS {name} AFTER {on} ON {table} "
            f"WHEN {_changed(column, event)} BEGIN {insert}; END"
        )
    for event in ("UPDATE", "DELETE"):
        refusal = f"SELECT RAISE(ABORT, '{TABLE} is append-only')"
        yield (
            f"CREATE TRIGGER IF NOT EXISTS {TABLE}_no_{event.lower()} BEFORE {event} ON {TABLE} BEGIN {refusal}; END"
        )


def _postgres() -> Iterator[str]:
    yield (
        f"CREATE TABLE {TABLE} (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        f"at TIMESTAMP NOT NULL DEFAULT (now() AT TIME ZONE 'utc'), {_COLUMNS})"
    )
    for table, column, event in _events():
        name = f"{TABLE}_{column}_{event.lower()}"
        body = f"BEGIN IF {_changed(column, event)} THEN {_insert(table, column, event)}; END IF; RETURN NULL; END"
        yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$"
        yield f"CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
    refusal = f"BEGIN RAISE EXCEPTION '{TABLE} is append-only'; END"
    yield f"CREATE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ {refusal} $$"
    yield (
        f"CREATE TRIGGER {TABLE}_refuse BEFORE UPDATE OR DELETE OR TRUNCATE ON {TABLE} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_refuse()"
    )


def _events() -> Iterator[tuple[str, str, str]]:
    for table, columns in _WATCHED.items():
        for column in columns:
            for event in ("INSERT", "UPDATE", "DELETE"):
                yield table, column, event


def _changed(column: str, event: str) -> str:
    if event == "UPDATE":
        # Both databases know this way to say that two values, or NULLs, differ.
        return (
            f"NEW.{column} <> OLD.{column} OR (NEW.{column} IS NULL AND OLD.{column} IS NOT NULL) "
            f"OR (NEW.{column} IS NOT NULL AND OLD.{column} IS NULL)"
        )
    return f"{'NEW' if event == 'INSERT' else 'OLD'}.{column} IS NOT NULL"


def _insert(table: str, column: str, event: str) -> str:
    row = "OLD" if event == "DELETE" else "NEW"
    submission, cell = _SUBMISSION[table].format(row=row), _CELL[table].format(row=row)
    student = f"SELECT student_id FROM submitted_assignment WHERE id = ({submission})"
    section = (
        "SELECT assignment.name FROM assignment JOIN submitted_assignment "
        f"ON assignment.id = submitted_assignment.assignment_id WHERE submitted_assignment.id = ({submission})"
    )
    before, after = "NULL" if event == "INSERT" else f"OLD.{column}", "NULL" if event == "DELETE" else f"NEW.{column}"
    return (
        f"INSERT INTO {TABLE} (student, section, cell, what, before, after) "
        f"VALUES (({student}), ({section}), ({cell}), '{column}', {before}, {after})"
    )
