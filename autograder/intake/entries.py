"""The files of a source, whether it is a folder, a zip file or one notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from autograder.course import MAX_NOTEBOOK_BYTES
from autograder.errors import CourseError

AGAIN = "Ask the student to hand the notebook in again."


@dataclass(frozen=True)
class Refusal:
    """A file that wasn't taken: what is wrong with it, and what to do."""

    file: str
    problem: str
    cure: str

    def to_json(self) -> dict[str, str]:
        """Return the refusal as plain data."""
        return {"file": self.file, "problem": self.problem, "cure": self.cure}


@dataclass(frozen=True)
class Entry:
    """A file in a source; `read` returns its bytes, or raises a CourseError that says why it can't."""

    path: PurePosixPath
    modified: datetime
    read: Callable[[], bytes]
    owner: str | None = None
    """The account that the file belongs to, where that is known."""

    @property
    def is_notebook(self) -> bool:
        """Whether the file's name is a notebook's."""
        return is_notebook(self.path.name)


@dataclass(frozen=True)
class Listing:
    """What a source holds: its files, its folders (also empty ones), and what was refused at sight."""

    entries: tuple[Entry, ...]
    folders: frozenset[PurePosixPath]
    refused: tuple[Refusal, ...]


def is_notebook(name: str) -> bool:
    """Say whether a file's name is a notebook's."""
    return name.casefold().endswith(".ipynb")


def is_zip(name: str) -> bool:
    """Say whether a file's name is a zip file's."""
    return name.casefold().endswith(".zip")


def is_ignored(name: str) -> bool:
    """Say whether a file or folder is one that systems and editors leave behind and nobody hands in."""
    return name.startswith(".") or name in ("__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini")


def shown(path: PurePosixPath | str) -> str:
    """Return a path as text that is safe to print: a name may hold control characters or broken text."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in str(path)
    )


def check_size(name: str, size: int) -> None:
    """Raise an error unless a notebook may have this many bytes."""
    if size == 0:
        raise CourseError(f"{name} is empty.", AGAIN)
    if size > MAX_NOTEBOOK_BYTES:
        raise CourseError(
            f"{name} is {size / 2**20:.0f} MiB; a notebook may have {MAX_NOTEBOOK_BYTES // 2**20} MiB.",
            "Clear its outputs (Edit > Clear Outputs of All Cells), save, and hand it in again.",
        )
