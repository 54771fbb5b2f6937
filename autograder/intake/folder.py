"""A folder, or one notebook, as a source. Links in it are never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path, PurePosixPath

from autograder.course import MAX_NOTEBOOK_BYTES
from autograder.errors import CourseError
from autograder.intake.entries import Entry, Listing, Refusal, check_size, is_ignored, shown


def list_folder(root: Path) -> Listing:
    """List the files under `root`."""
    entries: list[Entry] = []
    folders: set[PurePosixPath] = set()
    refused: list[Refusal] = []

    def cannot_list(error: OSError) -> None:
        name = shown(PurePosixPath(Path(error.filename).relative_to(root)))
        refused.append(Refusal(name, f"{name} can't be read: {error.strerror}.", "Check the folder's permissions."))

    for parent, names, files in os.walk(root, onerror=cannot_list):
        inside = PurePosixPath(Path(parent).relative_to(root).as_posix())
        for name, path in _sorted(names, parent):
            if is_ignored(name) or path.is_symlink():
                names.remove(name)
            if path.is_symlink() and not is_ignored(name):
                refused.append(_link(inside / name))
        folders |= {inside / name for name in names}
        for name, path in _sorted(files, parent):
            if is_ignored(name):
                continue
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                refused.append(_link(inside / name))
            elif not stat.S_ISREG(mode):
                refused.append(
                    Refusal(shown(inside / name), f"{shown(inside / name)} is not an ordinary file.", "Remove it.")
                )
            else:
                entries.append(_entry(path, inside / name))
    return Listing(tuple(entries), frozenset(folders), tuple(refused))


def list_notebook(path: Path) -> Listing:
    """List the one notebook `path`."""
    return Listing((_entry(path.resolve(), PurePosixPath(path.name)),), frozenset(), ())


def _sorted(names: list[str], parent: str) -> Iterator[tuple[str, Path]]:
    return ((name, Path(parent, name)) for name in sorted(names))


def _link(path: PurePosixPath) -> Refusal:
    return Refusal(
        shown(path),
        f"{shown(path)} is a link, and links aren't followed: they may point anywhere.",
        "Put the file itself in its place, or remove the link.",
    )


def _entry(path: Path, inside: PurePosixPath) -> Entry:
    status = path.lstat()
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    return Entry(inside, modified, partial(_read, path, shown(inside)), _account(status.st_uid))


@cache
def _account(uid: int) -> str | None:
    try:
        import pwd

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):  # Windows has no such accounts, and a container not all of them
        return None


def _read(path: Path, name: str) -> bytes:
    # The file may have become a link or a pipe since it was listed.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            check_size(name, os.fstat(file.fileno()).st_size)
            return file.read(MAX_NOTEBOOK_BYTES)
    except OSError as error:
        problem = f"{name} can't be read: {error.strerror}."
        raise CourseError(problem, "Check the file's permissions.") from error
