"""A zip file as a source. Nothing is unpacked to disk; what is read is limited in number and size."""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from autograder.course import MAX_NOTEBOOK_BYTES
from autograder.errors import CourseError
from autograder.intake.entries import AGAIN, Entry, Listing, Refusal, check_size, is_ignored, is_notebook, shown

MAX_ENTRIES = 50_000
"""A zip file with more entries is refused."""

MAX_TOTAL_BYTES = 4 * 1024**3
"""A zip file whose notebooks, each of a size that is allowed, come to more than this is refused."""

_ZIP_AGAIN = "Zip the folder again, or unpack it yourself and collect the folder."
_TIMESTAMP_FIELD = 0x5455
_UTF_8 = 0x800
_DAMAGED = (BadZipFile, ValueError, NotImplementedError, struct.error, OSError)


@contextmanager
def open_archive(path: Path) -> Iterator[Listing]:
    """Yield the listing of a zip file; entries can be read while it is open. A bad zip file is one refusal."""
    try:
        archive = ZipFile(path)
    except _DAMAGED as error:
        problem = f"{path.name} can't be opened as a zip file: {error}."
        yield Listing((), frozenset(), (Refusal(path.name, problem, "Download or make the zip file again."),))
        return
    with archive:
        yield _listing(archive, path.name, datetime.fromtimestamp(path.stat().st_mtime, UTC))


def unpack(outer: Entry) -> Listing:
    """Return the listing of a zip file inside a source; its files lie below it and were handed in when it was."""
    name = shown(outer.path)
    try:
        listing = _listing(ZipFile(BytesIO(outer.read())), name, outer.modified)
    except CourseError as error:
        return Listing((), frozenset(), (Refusal(name, error.problem, error.cure),))
    except _DAMAGED as error:
        problem = f"{name} can't be opened as a zip file: {error}."
        return Listing((), frozenset(), (Refusal(name, problem, AGAIN),))
    entries = (replace(each, path=outer.path / each.path, modified=outer.modified) for each in listing.entries)
    refused = (replace(each, file=name, problem=f"In {name}: {each.problem}") for each in listing.refused)
    return Listing(tuple(entries), listing.folders, tuple(refused))


def _listing(archive: ZipFile, file: str, fallback: datetime) -> Listing:
    infos = archive.infolist()
    too_much = _too_much(infos)
    if too_much:
        cure = "Make zip files of parts of it, or collect a folder."
        return Listing((), frozenset(), (Refusal(file, f"{file} {too_much}", cure),))
    entries: list[Entry] = []
    folders: set[PurePosixPath] = set()
    refused: list[Refusal] = []
    for info in infos:
        name = _name(info)
        refusal = _refusal(info)
        inside = PurePosixPath(name)
        if refusal is not None:
            refused.append(refusal)
        elif not any(map(is_ignored, inside.parts)):
            folders.update(inside.parents[:-1])
            if info.is_dir():
                folders.add(inside)
            else:
                entries.append(Entry(inside, _modified(info, fallback), partial(_read, archive, info)))
    return Listing(tuple(entries), frozenset(folders), tuple(refused))


def _name(info: ZipInfo) -> str:
    """Return an entry's name as it is stored; some programs write UTF-8 and don't say so."""
    # ZipInfo.filename is cut at a NUL and has the system's separator replaced.
    name = info.orig_filename
    if info.flag_bits & _UTF_8 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _too_much(infos: list[ZipInfo]) -> str:
    if len(infos) > MAX_ENTRIES:
        return f"has {len(infos):,} entries; {MAX_ENTRIES:,} are allowed."
    sizes = (info.file_size for info in infos if is_notebook(info.filename))
    total = sum(size for size in sizes if size <= MAX_NOTEBOOK_BYTES)
    if total > MAX_TOTAL_BYTES:
        return f"unpacks to {total / 2**30:.1f} GiB of notebooks; {MAX_TOTAL_BYTES // 2**30} GiB are allowed."
    return ""


def _refusal(info: ZipInfo) -> Refusal | None:
    name = _name(info)
    parts = name.split("/")
    if not name or "\0" in name:
        problem, cure = "has a name that no file can have.", _ZIP_AGAIN
    elif "\\" in name:
        problem = "has a backslash in its name."
        cure = "Separate folders by / and use no backslash in ids; any current zip program does so."
    elif parts[0] == "" or (len(parts[0]) == 2 and parts[0][1] == ":"):
        problem, cure = "has an absolute path.", _ZIP_AGAIN
    elif ".." in parts:
        problem, cure = "leads out of the zip file with `..`.", _ZIP_AGAIN
    elif stat.S_ISLNK(info.external_attr >> 16):
        problem = "is a link, and links aren't followed: they may point anywhere."
        cure = "Put the file itself in its place, or remove the link."
    else:
        return None
    return Refusal(shown(name) or "(no name)", f"{shown(name)} {problem}", cure)


def _read(archive: ZipFile, info: ZipInfo) -> bytes:
    name = shown(_name(info))
    if info.flag_bits & 1:
        raise CourseError(f"{name} is encrypted.", "Zip it again without a password.")
    check_size(name, info.file_size)
    try:
        with archive.open(info) as file:
            # The stated size may be a lie.
            data = file.read(MAX_NOTEBOOK_BYTES + 1)
    except (BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        problem = f"{name} is damaged in the zip file: {error or type(error).__name__}."
        raise CourseError(problem, "Download or make the zip file again.") from error
    check_size(name, len(data))
    return data


def _modified(info: ZipInfo, fallback: datetime) -> datetime:
    """Return the entry's date: the UTC one that Unix and macOS store, else the local one (as unzip reads it)."""
    try:
        seconds = _unix_time(info.extra)
        return datetime.fromtimestamp(seconds, UTC) if seconds else datetime(*info.date_time).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return fallback


def _unix_time(extra: bytes) -> int | None:
    while len(extra) >= 4:
        field, size = struct.unpack("<HH", extra[:4])
        if field == _TIMESTAMP_FIELD and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return int(struct.unpack("<i", extra[5:9])[0])
        extra = extra[4 + size :]
    return None
