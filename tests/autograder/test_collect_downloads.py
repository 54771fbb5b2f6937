"""Collecting what Canvas, Moodle, Blackboard and nbgrader's exchange give: names undone, every attempt kept."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from zipfile import ZipFile, ZipInfo

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeSubmit
from nbgrader.utils import get_username
from traitlets.config import Config

from autograder.cli import main
from autograder.course import MAX_NOTEBOOK_BYTES, Course
from autograder.errors import CourseError, ExitCode
from autograder.intake.collecting import Report, collect
from autograder.intake.downloads import DOWNLOADS, recognise
from autograder.intake.roster import read_roster
from tests.autograder.test_collect import ANSWERED, LATER, NOON, OTHER, UNNAMED, attempts, put, stored, taken
from tests.mini_course import SECTION, mini_course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return mini_course(tmp_path / "course")


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


def roster(folder: Path, text: str, name: str = "roster.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def zipped(entries: dict[str, bytes]) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("path", "system", "user", "name"),
    [
        ("familygiven_4711_90210_hw.ipynb", "canvas", "4711", ""),
        ("familygiven_LATE_4711_90210_hw-2.ipynb", "canvas", "4711", ""),
        ("d_o_e2jane_4711_90210_01_02_hw.ipynb", "canvas", "4711", ""),
        ("müllerjürgen_4711_90210_my notebook (1).ipynb", "canvas", "4711", ""),
        ("anon_aB3x9_90210_hw.ipynb", "canvas", "anon_aB3x9", ""),
        ("LATE_anon_aB3x9_90210_hw.ipynb", "canvas", "anon_aB3x9", ""),
        ("Given Family_77_assignsubmission_file/hw.ipynb", "moodle", "77", "Given Family"),
        ("Given Family_77_assignsubmission_file_/hw.ipynb", "moodle", "77", "Given Family"),
        ("Given Family_77_assignsubmission_file_/work/hw.ipynb", "moodle", "77", "Given Family"),
        ("Given Family_77_assignsubmission_file_hw.ipynb", "moodle", "77", "Given Family"),
        ("Participant_77_assignsubmission_file_/hw.ipynb", "moodle", "77", "Participant"),
        ("Lab 1_s03_attempt_2026-01-02-03-04-05_hw.ipynb", "blackboard", "s03", ""),
        ("Lab_1_s03_attempt_2026-01-02-03-04-05.txt", "blackboard", "s03", ""),
        ("s03+01_mini+2026-01-02 03:04:05.678901 UTC/hw.ipynb", "exchange", "s03", ""),
        ("g+family+01_mini+2026-01-02 03:04:05.678901 UTC+Xy12/hw.ipynb", "exchange", "g+family", ""),
    ],
)
def test_each_pattern_is_told_by_one_kind_of_download_alone(path: str, system: str, user: str, name: str) -> None:
    found = {kind.key: kind.read(PurePosixPath(path), ()) for kind in DOWNLOADS}
    origin = found.pop(system)
    assert origin is not None and (origin.user, origin.name) == (user, name)
    assert set(found.values()) == {None}


@pytest.mark.parametrize(
    "path",
    [
        f"s01/{SECTION}/{SECTION}.ipynb",
        "s01/familygiven_4711_90210_hw.ipynb",
        f"{SECTION}.ipynb",
        "hw_1.ipynb",
        "Lab_s03_attempt_2026-13-02-03-04-05_hw.ipynb",
    ],
)
def test_an_ordinary_layout_is_no_download(path: str) -> None:
    assert recognise([PurePosixPath(path)]) is None


def test_one_odd_name_among_students_folders_makes_no_download(course: Course, inbox: Path) -> None:
    for name in ("s01", "s02"):
        put(inbox / name / f"{SECTION}.ipynb")
    put(inbox / "notes_2025_03_marks.csv", b"1")
    put(inbox / "old_2025_03_x.ipynb")
    report = collect(course, inbox)
    assert taken(report) == [("s01", SECTION, "taken"), ("s02", SECTION, "taken")]
    assert ["Whose notebook" in each.problem for each in report.refused] == [True]


def test_a_download_that_was_zipped_again_with_its_folder_is_known(course: Course, tmp_path: Path) -> None:
    path = tmp_path / "submissions (1).zip"
    path.write_bytes(
        zipped({f"submissions/{name}_1_hw.ipynb": ANSWERED for name in ("familygiven_4711", "familyother_4712")})
    )
    assert taken(collect(course, path, student="4712")) == [("4712", SECTION, "renamed")]
    assert taken(collect(course, path)) == [("4711", SECTION, "renamed"), ("4712", SECTION, "unchanged")]


def test_canvas_the_newest_attempt_counts_and_the_others_are_kept(course: Course, inbox: Path) -> None:
    # The dates are those of the download; the attachment's number tells.
    put(inbox / "familygiven_4711_90300_hw-1.ipynb", ANSWERED)
    put(inbox / "familygiven_4711_90210_hw.ipynb", OTHER, LATER)
    put(inbox / "familygiven_4711_100200_hw-2.ipynb", UNNAMED)
    put(inbox / "familyother_LATE_4712_90211_01_mini.ipynb", ANSWERED)
    table = roster(inbox.parent, "student_id,canvas_id\ns01,4711\ns02,4712\n")
    report = collect(course, inbox, section=SECTION, roster=read_roster(table))
    assert not report.refused
    assert [(each.student, each.file, each.status) for each in report.taken] == [
        ("s01", "familygiven_4711_100200_hw-2.ipynb", "renamed"),
        ("s01", "familygiven_4711_90210_hw.ipynb", "earlier"),
        ("s01", "familygiven_4711_90300_hw-1.ipynb", "earlier"),
        ("s02", "familyother_LATE_4712_90211_01_mini.ipynb", "renamed"),
    ]
    assert "marked LATE by Canvas" in report.taken[-1].notes
    assert course.submitted("s01", SECTION).read_bytes() == UNNAMED
    assert sorted(attempts(course).values()) == sorted([ANSWERED, OTHER])
    before = stored(course)
    assert {each.status for each in collect(course, inbox, SECTION, roster=read_roster(table)).taken} == {"unchanged"}
    assert stored(course) == before


def test_an_attempt_that_counts_already_is_not_kept_twice(course: Course, inbox: Path) -> None:
    put(inbox / "4711" / f"{SECTION}.ipynb", OTHER, LATER)
    collect(course, inbox)
    download = inbox.parent / "download"
    put(download / "familygiven_4711_90210_hw.ipynb", OTHER)
    put(download / "familygiven_4711_90300_hw-1.ipynb", ANSWERED)
    assert [each.status for each in collect(course, download).taken] == ["earlier", "unchanged"]
    folder = course.submitted("4711", SECTION).parent
    assert [path.read_bytes() for path in folder.glob("attempts/*")] == [ANSWERED]


def test_without_a_roster_the_numbers_of_canvas_are_the_ids(course: Course, inbox: Path) -> None:
    put(inbox / "familygiven_4711_90300_hw.ipynb")
    assert taken(collect(course, inbox)) == [("4711", SECTION, "renamed")]


def test_moodle_goes_by_the_name_in_its_own_grading_worksheet(course: Course, inbox: Path) -> None:
    rows = (
        'Identifier,"Full name","ID number",Grade',
        'Participant 9,"Ren\u00e9e OHara",s01,',
        "Participant 8,Li,s02,",
    )
    worksheet = "\n".join(rows)
    put(inbox / "Ren\u00e9e O'Hara_77_assignsubmission_file_" / "hw.ipynb")
    put(inbox / "Ren\u00e9e O'Hara_77_assignsubmission_onlinetext_" / "onlinetext.html", b"<p>hi</p>")
    put(inbox / "Somebody Else_8_assignsubmission_file_" / "hw.ipynb", OTHER)
    report = collect(course, inbox, roster=read_roster(roster(inbox.parent, worksheet)))
    assert not report.refused
    assert taken(report) == [("s01", SECTION, "renamed"), ("s02", SECTION, "renamed")]
    assert report.system == "Moodle"
    assert len(report.left_out) == 1


def test_moodle_without_a_roster_says_what_to_do(course: Course, inbox: Path) -> None:
    put(inbox / "Given Family_77_assignsubmission_file_" / "hw.ipynb")
    report = collect(course, inbox)
    assert not report.taken
    assert "no student id" in report.refused[0].problem and "--roster" in report.refused[0].cure


@pytest.mark.parametrize("user", ["s03", "given_family"])
def test_blackboard_the_time_in_the_name_is_the_time_of_submission(course: Course, inbox: Path, user: str) -> None:
    for date, data in (("2026-01-02-03-04-05", ANSWERED), ("2025-12-24-23-00-00", OTHER)):
        put(inbox / f"Lab_1_{user}_attempt_{date}.txt", b"Name: Given Family\n", NOON)
        put(inbox / f"Lab_1_{user}_attempt_{date}_hw.ipynb", data, NOON)
    table = read_roster(roster(inbox.parent, f"student_id;blackboard_id\ns01;{user}\ns09;family\n"))
    report = collect(course, inbox, roster=table)
    assert not report.refused
    assert taken(report) == [("s01", SECTION, "renamed"), ("s01", SECTION, "earlier")]
    assert report.taken[0].submitted == datetime(2026, 1, 2, 3, 4, 5).astimezone()
    assert course.submitted("s01", SECTION).read_bytes() == ANSWERED
    assert list(attempts(course).values()) == [OTHER]


def test_the_exchange_tells_section_and_time(course: Course, inbox: Path) -> None:
    put(inbox / f"s01+{SECTION}+2026-01-02 03:04:05.678901 UTC+x1" / f"{SECTION}.ipynb", ANSWERED)
    put(inbox / f"s01+{SECTION}+2026-01-01 03:04:05.678901 UTC+x2" / f"{SECTION}.ipynb", OTHER)
    put(inbox / f"s01+{SECTION}+2026-01-01 03:04:05.678901 UTC+x2" / "timestamp.txt", b"2026")
    put(inbox / "s02+99_none+2026-01-01 03:04:05.678901 UTC+x3" / "x.ipynb", OTHER)
    report = collect(course, inbox)
    assert taken(report) == [("s01", SECTION, "taken"), ("s01", SECTION, "earlier")]
    assert report.taken[0].submitted == datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    assert "who handed it in?" in " ".join(report.taken[0].notes)
    assert "no section of the course" in report.refused[0].problem


def test_a_zip_file_that_was_handed_in_is_opened_within_limits(course: Course, inbox: Path) -> None:
    put(
        inbox / "familygiven_4711_1_hw.zip",
        zipped({"work/hw.ipynb": ANSWERED, "work/more.zip": zipped({"x.ipynb": OTHER})}),
    )
    put(inbox / "evil_4712_2_hw.zip", zipped({"../../out.ipynb": ANSWERED}))
    put(inbox / "bomb_4713_3_hw.zip", zipped({"hw.ipynb": bytes(MAX_NOTEBOOK_BYTES + 1)}))
    put(inbox / "broken_4714_4_hw.zip", b"PK no zip")
    link = ZipInfo("hw.ipynb")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    buffer = BytesIO()
    with ZipFile(buffer, "w") as file:
        file.writestr(link, b"/etc/passwd")
    put(inbox / "link_4715_5_hw.zip", buffer.getvalue())
    put(inbox / "bigger_4716_6_hw.ipynb")
    report = collect(course, inbox)
    assert taken(report) == [("4711", SECTION, "renamed"), ("4716", SECTION, "renamed")]
    problems = {each.file.split("_")[0]: each.problem for each in report.refused}
    assert len(problems) == len(report.refused) == 4
    assert "leads out" in problems["evil"]
    assert "32 MiB" in problems["bomb"]
    assert "can't be opened" in problems["broken"]
    assert "is a link" in problems["link"]
    assert not (inbox.parent / "out.ipynb").exists()


def test_a_name_that_the_system_does_not_give_is_refused_and_named(course: Course, inbox: Path) -> None:
    put(inbox / "familygiven_4711_1_hw.ipynb")
    put(inbox / "found on a stick.ipynb")
    report = collect(course, inbox)
    assert taken(report) == [("4711", SECTION, "renamed")]
    assert [each.file for each in report.refused] == ["found on a stick.ipynb"]
    assert "--student" in report.refused[0].cure


def test_a_stranger_to_the_roster_is_one_row_and_the_others_go_on(
    course: Course, inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(inbox / "familygiven_4711_1_hw.ipynb")
    put(inbox / "familyother_4712_2_hw.ipynb")
    put(inbox / "familyother_4712_3_data.zip", zipped({}))
    table = roster(inbox.parent, "student_id,canvas_id\ns01,4711\n")
    options = ["collect", str(inbox), "--course", str(course.root), "--roster", str(table)]
    assert main([*options, "--json"]) == ExitCode.PROBLEMS
    report = json.loads(capsys.readouterr().out)
    assert report["system"] == "Canvas"
    assert [each["student"] for each in report["taken"]] == ["s01"]
    assert len(report["refused"]) == 1
    assert "4712 isn't in the roster" in report["refused"][0]["problem"]
    main(options)
    assert "as Canvas names files" in capsys.readouterr().out


def test_ids_that_differ_in_capitals_alone_are_refused(course: Course, inbox: Path) -> None:
    put(inbox / "Ada" / f"{SECTION}.ipynb", ANSWERED)
    put(inbox / "ada" / f"{SECTION}.ipynb", OTHER)
    report = collect(course, inbox)
    assert taken(report) == [("Ada", SECTION, "taken")]
    assert "differ in capitals alone" in report.refused[0].problem
    put(inbox / "ADA" / f"{SECTION}.ipynb", OTHER)
    assert taken(collect(course, inbox, student="ADA")) == []


def test_utf8_names_in_zip_files_that_do_not_say_so_are_read(course: Course, tmp_path: Path) -> None:
    plain, wanted = f"M.llr/{SECTION}.ipynb", f"M\u00fcllr/{SECTION}.ipynb"
    data = zipped({plain.replace(".llr", "..llr"): ANSWERED})
    path = tmp_path / "inbox.zip"
    path.write_bytes(data.replace(b"M..llr", b"M\xc3\xbcllr"))
    report: Report = collect(course, path)
    assert [each.file for each in report.taken] == [wanted]
    assert taken(report) == [("M\u00fcllr", SECTION, "taken")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("canvas_id\n4711\n", "no column student_id"),
        ("student_id,canvas_id\ns01,1\ns01,2\n", "has s01 twice"),
        ("student_id,canvas_id\nok,1\n../x,2\n", "line 3: '../x' can't be a student id"),
        ("", "no column student_id"),
        ('student_id,canvas_id\n"s01,1\n', "is no CSV"),
    ],
)
def test_a_roster_that_cannot_be_used_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(CourseError) as caught:
        read_roster(roster(tmp_path, text))
    assert problem in caught.value.problem and "roster.csv" in caught.value.problem and caught.value.cure


def test_the_gradebook_that_canvas_exports_is_a_roster(tmp_path: Path) -> None:
    text = (
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Lab 1 (99)\n"
        "    Points Possible,,,,,10\n"
        '"Family, Given",4711,S1,s03,A,\n'
    )
    table = read_roster(roster(tmp_path, text))
    assert [(each.student, each.ids["canvas"], each.name) for each in table.people] == [
        ("s03", "4711", "Family, Given")
    ]
    assert table.find("moodle", "5", "Given Family") == "s03"


def test_two_people_of_one_name_are_told_apart_or_refused(tmp_path: Path) -> None:
    table = read_roster(roster(tmp_path, "student_id,name,moodle_id\ns1,Jo Li,7\ns2,Jo Li,\n"))
    assert table.find("moodle", "7", "Jo Li") == "s1"
    with pytest.raises(CourseError, match="several people"):
        table.find("moodle", "8", "Jo Li")


def test_a_roster_in_another_encoding_or_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes("student_id,name\ns1,J\u00fcrgen\n".encode("latin-1"))
    for name, cure in (("r.csv", "CSV UTF-8"), ("none.csv", "Check the name")):
        with pytest.raises(CourseError) as caught:
            read_roster(tmp_path / name)
        assert cure in caught.value.cure


def test_what_nbgrader_submit_hands_in_is_taken(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange, home = tmp_path / "exchange", tmp_path / "home"
    for folder in ("inbound", f"outbound/{SECTION}"):
        (exchange / "course" / folder).mkdir(parents=True)
    put(exchange / "course" / "outbound" / SECTION / f"{SECTION}.ipynb", OTHER)
    put(home / SECTION / f"{SECTION}.ipynb", ANSWERED)
    monkeypatch.chdir(home)
    settings = Config(
        Exchange={"root": str(exchange), "cache": str(tmp_path / "cache")}, CourseDirectory={"course_id": "course"}
    )
    folders = CourseDirectory(config=settings, assignment_id=SECTION)
    before = datetime.now(UTC).replace(microsecond=0)
    ExchangeSubmit(coursedir=folders, config=settings, authenticator=Authenticator(config=settings)).start()
    report = collect(course, exchange / "course" / "inbound")
    assert [(each.section, each.status) for each in report.taken] == [(SECTION, "taken")]
    assert report.taken[0].student == get_username()
    assert before <= report.taken[0].submitted <= datetime.now(UTC)
    assert course.submitted(get_username(), SECTION).read_bytes() == ANSWERED
    assert not any("belongs to the account" in note for note in report.taken[0].notes)
    (secret,) = (exchange / "course" / "inbound").glob("*/submission_secret.txt")
    kept = course.submitted(get_username(), SECTION).with_name(secret.name)
    assert kept.read_bytes() == secret.read_bytes() and str(secret) not in report.left_out
    mailed = tmp_path / "by mail" / get_username() / SECTION / f"{SECTION}.ipynb"
    put(mailed, OTHER)
    os.utime(mailed)
    assert [each.status for each in collect(course, tmp_path / "by mail").taken] == ["taken"]
    assert not kept.exists(), "the exchange doesn't know this one"


@pytest.mark.parametrize("secret", [b"", b"<script>", b"a" * 10_000])
def test_a_secret_that_no_exchange_makes_isnt_kept(course: Course, inbox: Path, secret: bytes) -> None:
    folder = inbox / f"s01+{SECTION}+2026-01-02 03:04:05.678901 UTC"
    put(folder / f"{SECTION}.ipynb", ANSWERED)
    put(folder / "submission_secret.txt", secret)
    report = collect(course, inbox)
    assert [each.student for each in report.taken] == ["s01"]
    assert {path.name for path in course.submitted("s01", SECTION).parent.iterdir()} == {
        f"{SECTION}.ipynb",
        "timestamp.txt",
    }
