"""The downloads of Canvas, Moodle and Blackboard, and nbgrader's exchange: whose file is it, and of which attempt?

Each pattern is matched from the source's root; what these systems do to names was read in their own sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from autograder.intake.entries import is_notebook, is_zip
from autograder.intake.store import parse_timestamp

_DATE = r"\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d"


@dataclass(frozen=True)
class Origin:
    """What a file's place in a download says of it."""

    user: str
    """The system's id of the student."""
    name: str
    """The student's full name, where the download has it."""
    attempt: str
    """Sorts the attempts of a student, oldest first."""
    section: str | None = None
    when: datetime | None = None
    note: str = ""


class Canvas:
    """Canvas: `lastnamefirstname[_LATE]_USER_ATTACHMENT_name[-n].ipynb`, all in one folder (lib/content_zipper.rb).

    USER is Canvas's number of the student, or `anon_` and five characters where marking is anonymous. The
    attachment's number grows with time; there is no time of submission, so the file's own date stands for it. A file
    that was handed in again under the same name gets `-n`.
    """

    title = "Canvas"
    key = "canvas"
    _PATTERN = re.compile(r"(?:\w*?_)??(?P<late>LATE_)?(?P<user>\d+|anon_[^\W_]+)_(?P<attachment>\d{1,18})_[^/]+")

    def read(self, path: PurePosixPath, users: Iterable[str]) -> Origin | None:
        """Return what the path says, or None if it doesn't follow the pattern."""
        found = self._PATTERN.fullmatch(str(path))
        if found is None:
            return None
        note = "marked LATE by Canvas" if found["late"] else ""
        return Origin(found["user"], "", found["attachment"].zfill(18), note=note)


class Moodle:
    """Moodle: `Full Name_NUMBER_assignsubmission_file/name.ipynb` (mod/assign/classes/downloader.php).

    Older versions put `_` behind `file`; without folders the rest of the name follows there. NUMBER is the
    participant's number in this one assignment (`Participant 12` in the grading worksheet), so a roster goes by the
    name. Only the last attempt is in a download.
    """

    title = "Moodle"
    key = "moodle"
    _PATTERN = re.compile(r"(?P<name>[^_/]*)_(?P<user>\d+)_assignsubmission_file(?:_?/|_).+", re.DOTALL)

    def read(self, path: PurePosixPath, users: Iterable[str]) -> Origin | None:
        """Return what the path says, or None if it doesn't follow the pattern."""
        found = self._PATTERN.fullmatch(str(path))
        return Origin(found["user"], found["name"], "last") if found else None


class Blackboard:
    """Blackboard: `Assignment_USERNAME_attempt_2026-01-02-03-04-05_name.ipynb`, and the same without name as .txt.

    The time is the server's, taken for this machine's. Both the assignment and the user name may hold `_`: the
    user name is the longest one of the roster that fits, else what follows the last `_`.
    """

    title = "Blackboard"
    key = "blackboard"
    _PATTERN = re.compile(rf"(?P<before>[^/]+)_attempt_(?P<date>{_DATE})(?:_[^/]+|\.txt)")

    def read(self, path: PurePosixPath, users: Iterable[str]) -> Origin | None:
        """Return what the path says, or None if it doesn't follow the pattern."""
        found = self._PATTERN.fullmatch(str(path))
        if found is None:
            return None
        try:
            when = datetime.strptime(found["date"], "%Y-%m-%d-%H-%M-%S").astimezone()
        except ValueError:
            return None
        known = [user for user in users if found["before"].endswith(f"_{user}")]
        user = max(known, key=len, default=found["before"].rpartition("_")[2])
        return Origin(user, "", found["date"], when=when)


class Exchange:
    """nbgrader's exchange, COURSE/inbound: `USER+SECTION+2026-01-02 03:04:05.678901 UTC[+RANDOM]/name.ipynb`."""

    title = "nbgrader's exchange"
    key = "exchange"
    _PATTERN = re.compile(
        r"(?P<user>[^/]+)\+(?P<section>[^+/]+)\+(?P<date>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^+/]*)(?:\+[^+/]*)?/.+"
    )

    def read(self, path: PurePosixPath, users: Iterable[str]) -> Origin | None:
        """Return what the path says, or None if it doesn't follow the pattern."""
        found = self._PATTERN.fullmatch(str(path))
        if found is None:
            return None
        try:
            when = parse_timestamp(found["date"])
        except (ValueError, OverflowError):
            return None
        return Origin(found["user"], "", when.isoformat(), found["section"], when)


Download = Canvas | Moodle | Blackboard | Exchange

DOWNLOADS: tuple[Download, ...] = (Exchange(), Moodle(), Blackboard(), Canvas())
"""Every kind of download; the clearest patterns come first."""


def recognise(paths: Iterable[PurePosixPath]) -> Download | None:
    """Return the kind of download that names at least half of these notebooks and zip files, or None.

    Not all of them need to fit: people add files to a download. One alone among others may do so by chance.
    """
    names = [path for path in paths if is_notebook(path.name) or is_zip(path.name)]
    return next((kind for kind in DOWNLOADS if names and 2 * _fitting(kind, names) >= len(names)), None)


def _fitting(kind: Download, names: Iterable[PurePosixPath]) -> int:
    return sum(kind.read(name, ()) is not None for name in names)
