"""submitted/STUDENT/SECTION/: the newest submission, and beside it in attempts/ every earlier one."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from itertools import count
from pathlib import Path

from autograder.course import Course
from autograder.files import write_whole

ATTEMPTS = "attempts"
"""The folder with earlier submissions beside the one that counts; neither we nor nbgrader grade what is in it."""

TIMESTAMP = "timestamp.txt"
"""The file that says when the submission beside it was handed in."""

SECRET = "submission_secret.txt"
"""nbgrader's exchange puts it beside a submission; `nbgrader release_feedback` gives the page to whoever has it."""

_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"  # nbgrader's Exchange.timestamp_format in its default zone


class Stored(StrEnum):
    """What became of a submission."""

    NEW = "new"
    """It is the first, and counts."""
    REPLACED = "replaced"
    """It counts now; the one before it is in attempts/."""
    UNCHANGED = "unchanged"
    """The same notebook was there already."""
    EARLIER = "earlier"
    """It is older than the one that counts, and was added to attempts/."""


def store(
    course: Course, student: str, section: str, data: bytes, modified: datetime, secret: bytes | None = None
) -> Stored:
    """Store a submission's bytes, handed in at `modified`; nothing that was stored before is lost.

    A `secret` is what nbgrader's exchange knows this submission by.
    """
    path = course.submitted(student, section)
    # No one hands in after we collect; a clock that is wrong mustn't make a file the newest for ever.
    modified = min(modified, datetime.now(UTC))
    present = path.read_bytes() if path.is_file() else None
    if present == data:
        return Stored.UNCHANGED
    if present is not None:
        since = submitted_at(path)
        if modified < since:
            return Stored.EARLIER if _keep(path.parent, data, modified) else Stored.UNCHANGED
        _keep(path.parent, present, since)
    # In this order: stopped in between, collecting again finds another notebook and goes on.
    write_whole(path.parent / TIMESTAMP, modified.strftime(_FORMAT).encode())
    if secret is None:
        (path.parent / SECRET).unlink(missing_ok=True)
    else:
        write_whole(path.parent / SECRET, secret)
    write_whole(path, data)
    return Stored.NEW if present is None else Stored.REPLACED


def keep(course: Course, student: str, section: str, data: bytes, modified: datetime) -> Stored:
    """Keep an attempt that doesn't count, beside the one that does."""
    path = course.submitted(student, section)
    if path.is_file() and path.read_bytes() == data:
        return Stored.UNCHANGED
    return Stored.EARLIER if _keep(path.parent, data, min(modified, datetime.now(UTC))) else Stored.UNCHANGED


def submitted_at(notebook: Path) -> datetime:
    """Return when a collected notebook was handed in: by the timestamp beside it, else by the file's own date."""
    try:
        return parse_timestamp((notebook.parent / TIMESTAMP).read_text(encoding="utf-8").strip())
    except (OSError, ValueError, OverflowError):
        return datetime.fromtimestamp(notebook.stat().st_mtime, UTC)


def parse_timestamp(text: str) -> datetime:
    """Return the time that nbgrader wrote; ValueError or OverflowError if it is none."""
    try:
        return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        # Importing nbgrader takes seconds, so only for dates that aren't ours.
        from nbgrader.utils import parse_utc

        return datetime.fromisoformat(str(parse_utc(text))).replace(tzinfo=UTC)


def _keep(folder: Path, data: bytes, modified: datetime) -> bool:
    """Keep an earlier submission in attempts/ unless it is there already; say whether it was new."""
    attempts = folder / ATTEMPTS
    if any(path.read_bytes() == data for path in attempts.glob("*.ipynb")):
        return False
    stem = modified.strftime("%Y-%m-%dT%H-%M-%SZ")
    names = (f"{stem}.ipynb" if number == 1 else f"{stem}-{number}.ipynb" for number in count(1))
    write_whole(next(attempts / name for name in names if not (attempts / name).exists()), data)
    return True
