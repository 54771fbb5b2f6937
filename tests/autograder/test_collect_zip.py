"""Collecting from zip files, also hostile and damaged ones: nothing outside submitted/ is ever written."""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest

from autograder.course import MAX_NOTEBOOK_BYTES, Course
from autograder.intake import archive
from autograder.intake.collecting import Report, collect
from tests.autograder.test_collect import ANSWERED, OTHER, stored, taken
from tests.mini_course import SECTION, mini_course

GOOD = f"s01/{SECTION}/{SECTION}.ipynb"
BAD = f"bad/{SECTION}/{SECTION}.ipynb"
Entries = list[tuple[str | ZipInfo, bytes]]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return mini_course(tmp_path / "course")


@pytest.fixture
def eastern() -> Iterator[None]:
    """Five hours behind UTC: a zip file's dates are local."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "EST5"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def make(path: Path, entries: Entries, method: int = ZIP_DEFLATED) -> Path:
    with ZipFile(path, "w", method) as file:
        for name, data in entries:
            file.writestr(name, data)
    return path


def info(name: str, **attributes: object) -> ZipInfo:
    made = ZipInfo(name, (2025, 3, 1, 12, 0, 0))
    for key, value in attributes.items():
        setattr(made, key, value)
    return made


def refused(report: Report) -> list[tuple[str, str]]:
    return [(each.file, each.problem) for each in report.refused]


@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_DEFLATED])
@pytest.mark.parametrize(
    ("name", "top"), [("inbox.zip", ""), ("inbox.zip", "inbox/"), ("inbox (1).zip", "inbox/"), ("odd.ending", "")]
)
def test_a_zip_file_is_taken_like_the_folder_it_holds(
    course: Course, tmp_path: Path, method: int, name: str, top: str
) -> None:
    entries: Entries = [
        (f"{top}{GOOD}", ANSWERED),
        (f"{top}s02/mine.ipynb", OTHER),
        (f"__MACOSX/{top}s01/{SECTION}/._{SECTION}.ipynb", b"\0\5"),
        (f"{top}s01/{SECTION}/.ipynb_checkpoints/x.ipynb", b"{}"),
        (f"{top}s02/data.csv", b"1\n"),
    ]
    report = collect(course, make(tmp_path / name, entries, method))
    assert not report.refused
    assert taken(report) == [("s01", SECTION, "taken"), ("s02", SECTION, "renamed")]
    assert report.left_out == [f"{top}s02/data.csv"]
    assert course.submitted("s01", SECTION).read_bytes() == ANSWERED
    assert course.submitted("s02", SECTION).read_bytes() == OTHER


def test_a_students_own_zip_file_needs_the_students_name(course: Course, tmp_path: Path) -> None:
    path = make(tmp_path / "s01.zip", [(f"{SECTION}/{SECTION}.ipynb", ANSWERED)])
    assert refused(collect(course, path))[0][0] == f"{SECTION}/{SECTION}.ipynb"
    assert taken(collect(course, path, student="s01")) == [("s01", SECTION, "taken")]


def test_the_one_folder_in_a_students_zip_file_is_not_taken_for_a_student(course: Course, tmp_path: Path) -> None:
    report = collect(course, make(tmp_path / "s01.zip", [("s01/work/x.ipynb", ANSWERED)]))
    assert not report.taken
    assert "work, which is no section" in report.refused[0].problem


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (info(GOOD), datetime(2025, 3, 1, 17, 0, tzinfo=UTC)),
        (
            info(GOOD, extra=struct.pack("<HHBi", 0x5455, 5, 1, 1_700_000_000)),
            datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        ),
        (
            info(GOOD, extra=struct.pack("<HHxHHBi", 0x7875, 1, 0x5455, 5, 1, 1_700_000_000)),
            datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        ),
        (info(GOOD, extra=struct.pack("<HHB", 0x5455, 1, 0)), datetime(2025, 3, 1, 17, 0, tzinfo=UTC)),
    ],
)
@pytest.mark.usefixtures("eastern")
def test_the_date_is_the_utc_one_that_unix_stores_else_the_local_one(
    course: Course, tmp_path: Path, made: ZipInfo, expected: datetime
) -> None:
    collect(course, make(tmp_path / "inbox.zip", [(made, ANSWERED)]))
    timestamp = (course.submitted("s01", SECTION).parent / "timestamp.txt").read_text()
    assert timestamp == expected.strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def test_an_impossible_date_is_the_zip_files_own(course: Course, tmp_path: Path) -> None:
    path = make(tmp_path / "inbox.zip", [(info(GOOD, date_time=(2025, 0, 0, 0, 0, 0)), ANSWERED)])
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert collect(course, path).taken[0].submitted == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "file", "problem"),
    [
        (f"b/ad/{SECTION}/{SECTION}.ipynb", "b/ad", "can't be a student id"),
        (f"b\\ad/{SECTION}/{SECTION}.ipynb", f"b\\ad/{SECTION}/{SECTION}.ipynb", "backslash"),
        (f"bad\\{SECTION}\\{SECTION}.ipynb", f"bad\\{SECTION}\\{SECTION}.ipynb", "backslash"),
        (f"../bad/{SECTION}.ipynb", f"../bad/{SECTION}.ipynb", "leads out"),
        (f"bad/../../{SECTION}.ipynb", f"bad/../../{SECTION}.ipynb", "leads out"),
        ("..", "..", "leads out"),
        (f"/bad/{SECTION}.ipynb", f"/bad/{SECTION}.ipynb", "absolute"),
        (f"C:/bad/{SECTION}.ipynb", f"C:/bad/{SECTION}.ipynb", "absolute"),
        (f"b?d/{SECTION}.ipynb", "b?d", "can't be a student id"),
        (f"-rf/{SECTION}.ipynb", "-rf", "can't be a student id"),
        ("bad/", "bad", "no notebook"),
        (f"bad/{SECTION}/", f"bad/{SECTION}", "no notebook"),
        (f"{SECTION}.ipynb", f"{SECTION}.ipynb", "Whose notebook"),
    ],
)
def test_an_odd_name_is_refused_and_the_others_are_taken(
    course: Course, tmp_path: Path, name: str, file: str, problem: str
) -> None:
    before = set(tmp_path.rglob("*"))
    report = collect(course, make(tmp_path / "inbox.zip", [(name, ANSWERED), (GOOD, ANSWERED)]))
    assert taken(report) == [("s01", SECTION, "taken")]
    assert [each.file for each in report.refused] == [file]
    assert problem in report.refused[0].problem
    assert report.refused[0].cure
    written = {path for path in set(tmp_path.rglob("*")) - before if path.is_file()} - {tmp_path / "inbox.zip"}
    assert written == {course.root / "submitted" / name for name in stored(course)}
    assert len(written) == 2


def patched(entries: Entries, old: bytes, new: bytes, times: int = -1) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        make(path, entries, ZIP_STORED)
        data = path.read_bytes()
        assert old in data
        path.write_bytes(data.replace(old, new, times))
        return path

    return write


def encrypted(path: Path) -> Path:
    make(path, [(BAD, ANSWERED), (GOOD, ANSWERED)])
    data = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + flags] |= 1
    path.write_bytes(data)
    return path


def unknown_method(path: Path) -> Path:
    make(path, [(BAD, ANSWERED), (GOOD, ANSWERED)])
    data = bytearray(path.read_bytes())
    for signature, method in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        data[data.index(signature) + method] = 97
    path.write_bytes(data)
    return path


def a_link(path: Path) -> Path:
    made = info(BAD, create_system=3, external_attr=(stat.S_IFLNK | 0o777) << 16)
    return make(path, [(made, b"/etc/passwd"), (GOOD, ANSWERED)])


def a_bomb(path: Path) -> Path:
    return make(path, [(BAD, bytes(MAX_NOTEBOOK_BYTES + 1)), (GOOD, ANSWERED)])


def a_lying_bomb(path: Path) -> Path:
    """State 1000 bytes for an entry that unpacks to far more."""
    a_bomb(path)
    lie = path.read_bytes().replace(struct.pack("<I", MAX_NOTEBOOK_BYTES + 1), struct.pack("<I", 1000))
    path.write_bytes(lie)
    return path


@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (encrypted, "encrypted"),
        (unknown_method, "damaged"),
        (patched([(BAD, ANSWERED), (GOOD, OTHER)], ANSWERED, ANSWERED[::-1]), "damaged"),
        (a_link, "is a link"),
        (a_bomb, "a notebook may have 32 MiB"),
        (a_lying_bomb, "damaged"),
        (lambda path: make(path, [(BAD, b""), (GOOD, ANSWERED)]), "is empty"),
        (lambda path: make(path, [(BAD, b'{"cells": ['), (GOOD, ANSWERED)]), "is not a notebook"),
    ],
)
def test_a_bad_entry_is_refused_and_the_others_are_taken(
    course: Course, tmp_path: Path, write: Callable[[Path], Path], problem: str
) -> None:
    report = collect(course, write(tmp_path / "inbox.zip"))
    assert taken(report) == [("s01", SECTION, "taken")]
    assert [each.file for each in report.refused] == [BAD]
    assert problem in report.refused[0].problem
    assert {name.split("/")[0] for name in stored(course)} == {"s01"}


@pytest.mark.parametrize("data", [b"", b"no zip at all", b"PK\3\4 and nothing more"])
def test_a_file_that_is_no_zip_file_is_named_with_a_cure(course: Course, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "inbox.zip"
    path.write_bytes(data)
    report = collect(course, path)
    assert not report.taken
    assert [each.file for each in report.refused] == ["inbox.zip"]
    assert "can't be opened as a zip file" in report.refused[0].problem
    assert "again" in report.refused[0].cure


def test_a_truncated_zip_file_is_named(course: Course, tmp_path: Path) -> None:
    path = make(tmp_path / "inbox.zip", [(GOOD, ANSWERED)])
    path.write_bytes(path.read_bytes()[:-40])
    assert "can't be opened as a zip file" in collect(course, path).refused[0].problem


@pytest.mark.parametrize(
    ("limit", "value", "problem"),
    [
        ("MAX_ENTRIES", 3, "has 4 entries; 3 are allowed"),
        ("MAX_TOTAL_BYTES", 4 * len(ANSWERED) - 1, "GiB of notebooks"),
    ],
)
def test_a_zip_file_that_unpacks_to_too_much_is_refused_whole(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, problem: str
) -> None:
    path = make(tmp_path / "inbox.zip", [(f"s{number}/{SECTION}.ipynb", ANSWERED) for number in range(4)])
    with monkeypatch.context() as patch:
        patch.setattr(archive, limit, value)
        report = collect(course, path)
    assert not report.taken and not stored(course)
    assert problem in report.refused[0].problem
    assert len(collect(course, path).taken) == 4


def test_of_two_entries_of_one_name_the_newest_counts(course: Course, tmp_path: Path) -> None:
    newer = info(GOOD, date_time=(2025, 3, 2, 12, 0, 0))
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = make(tmp_path / "inbox.zip", [(newer, ANSWERED), (info(GOOD), OTHER)])
    report = collect(course, path)
    assert course.submitted("s01", SECTION).read_bytes() == ANSWERED
    assert "is the newest" in report.taken[0].notes[0]


def test_a_zip_file_and_the_folder_it_was_made_of_are_the_same_submission(course: Course, tmp_path: Path) -> None:
    path = make(tmp_path / "inbox.zip", [(info(GOOD), ANSWERED)])
    collect(course, path)
    with ZipFile(path) as file:
        file.extractall(tmp_path / "inbox")
    assert collect(course, tmp_path / "inbox").taken[0].status == "unchanged"
