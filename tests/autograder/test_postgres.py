"""A gradebook on a real PostgreSQL server, where one is installed: the same marks, log and safety."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from autograder.cli import main
from autograder.course import Course
from autograder.grading import machine
from tests.autograder.submissions import DOUBLE, SEVEN, SUBMISSIONS, Here, hand_in
from tests.autograder.test_gradebook import grade_from_two_sides, stored
from tests.mini_course import SECTION, answered, mini_course

pytestmark = pytest.mark.slow
pytest.importorskip("psycopg")

if shutil.which("initdb") is None or shutil.which("pg_ctl") is None:
    pytest.skip("no PostgreSQL server is installed", allow_module_level=True)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Run a server that is reached by a socket alone; return its address without a database."""
    owner = "nobody" if os.geteuid() == 0 else None  # the server refuses to run as root
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as name:
        folder = Path(name)
        if owner:
            shutil.chown(folder, owner)

        def run(*command: str) -> None:
            done = subprocess.run(command, user=owner, cwd="/", capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stdout + done.stderr

        data = str(folder / "data")
        run("initdb", "--pgdata", data, "--username", "grader", "--auth", "trust", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "--pgdata", data, "--log", str(folder / "log"), "-w", "-o", options, "start")
        try:
            yield f"postgresql+psycopg://grader@/{{}}?host={folder}"
        finally:
            run("pg_ctl", "--pgdata", data, "-m", "immediate", "stop")


@pytest.fixture
def course(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Return a mini course whose gradebook is a new database of the server, and whose submissions run here."""
    monkeypatch.setattr(machine, "choose_runner", lambda folder, stop, *more: Here(folder, stop))
    made = mini_course(tmp_path / "course")
    engine = create_engine(server.format("postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        name = f"course_{uuid4().hex}"
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    (made.root / "course.toml").write_text(f"[gradebook]\nurl = {json.dumps(server.format(name))}\n")
    return made


@pytest.mark.filterwarnings("ignore:careful")
def test_it_holds_what_the_file_would_hold(course: Course, tmp_path: Path) -> None:
    twin = mini_course(tmp_path / "twin")
    for each in (course, twin):
        for student, (notebook, _) in SUBMISSIONS.items():
            hand_in(each, student, notebook)
        assert main(["grade", "--course", str(each.root)]) == 0
    assert not course.database.exists() and twin.database.exists()
    assert stored(course) == stored(twin)


def test_marks_change_are_logged_and_exported(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ["--course", str(course.root)]
    assert main(["export", "csv", *folder]) == 2
    assert "is empty" in capsys.readouterr().err
    hand_in(course, "ada", answered(SEVEN, None))
    main(["grade", *folder])
    hand_in(course, "ada", answered(SEVEN, DOUBLE))
    main(["grade", *folder])
    capsys.readouterr()
    main(["log", *folder, "--json"])
    changes = [(each["cell"], each["before"], each["after"]) for each in json.loads(capsys.readouterr().out)]
    assert sorted(changes[:2]) == [("double", None, 0), ("seven", None, 1)] and changes[2:] == [("double", 0, 2)]
    for statement in ("UPDATE grade_log SET after = 9", "DELETE FROM grade_log", "TRUNCATE grade_log"):
        with (
            closing(create_engine(course.database_url).connect()) as connection,
            pytest.raises(SQLAlchemyError, match="append-only"),
        ):
            connection.execute(text(statement))
    main(["export", "csv", *folder])
    assert f"ada,{SECTION},3,3" in capsys.readouterr().out


def test_two_graders_at_once_lose_nothing(course: Course) -> None:
    grade_from_two_sides(course)


def test_a_server_that_isnt_there_is_named_without_its_password(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "ada", answered(SEVEN, DOUBLE))
    url = "postgresql+psycopg://grader:secret@127.0.0.1:9/course"
    (course.root / "course.toml").write_text(f'[gradebook]\nurl = "{url}"\n')
    assert main(["grade", "--course", str(course.root)]) == 2
    error = capsys.readouterr().err
    assert "postgresql+psycopg://grader@127.0.0.1:9/course can't be used" in error and "course.toml" in error
    assert "secret" not in error and "Traceback" not in error
