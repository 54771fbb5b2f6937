"""Grading on a Dask cluster: real scheduler and workers, one of them killed; nothing lost, nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.course import REPOSITORY, Course
from autograder.sealed.diagnosis import obstacle
from tests.autograder.submissions import DOUBLE, SEVEN, SUBMISSIONS, hand_in
from tests.autograder.test_gradebook import stored
from tests.mini_course import answered, mini_course
from tools.system_packages import is_required

pytestmark = pytest.mark.slow
pytest.importorskip("distributed")

SLOW = f"import time; time.sleep(1.5)\n{DOUBLE}"


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder with a short name, as sockets lie below it."""
    problem = obstacle()
    if problem is not None:
        (pytest.fail if is_required(os.environ) else pytest.skip)(problem)
    with tempfile.TemporaryDirectory(prefix="k-", dir="/tmp") as name:
        yield Path(name)


@contextmanager
def running(place: Path, name: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of Dask's, as a group of its own that is gone afterwards."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(place)}
    log = (place / f"{name}.log").open("wb")
    command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
    with log, subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True) as process:
        try:
            yield process
        finally:
            with ExitStack() as quietly:
                quietly.callback(process.wait)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def scheduler(place: Path) -> Iterator[str]:
    """Run a scheduler and yield its address."""
    file = place / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with running(place, "scheduler", "scheduler", *options):
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"]


def worker(place: Path, name: str, address: str) -> Any:
    options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
    return running(place, name, "worker", address, *options, "--local-directory", str(place))


def wait_for_workers(address: str, number: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(number, timeout=60)


def report(course: Course, *arguments: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "autograder", "grade", "--course", str(course.root), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=REPOSITORY)
    return done.returncode, json.loads(done.stdout or "{}") | {"said": done.stderr}


def test_a_killed_worker_costs_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course = mini_course(place / "course")
    students = {"eight": (0, 2), "adds_two": (1, 0), "stub": (0, 0), "reference": (1, 2)}
    for student in students:
        hand_in(course, student, SUBMISSIONS[student][0])
    for number in range(6):
        hand_in(course, f"slow{number}", answered(SEVEN, SLOW))
    hand_in(course, "corrupt", "{")
    with scheduler(place) as address, worker(place, "a", address) as first, worker(place, "b", address):
        wait_for_workers(address, 2)
        command = [sys.executable, "-m", "autograder", "grade", "--course", str(course.root), "--json"]
        grader = subprocess.Popen(
            [*command, "--scheduler", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=REPOSITORY
        )
        deadline = time.monotonic() + 120
        while len(list(course.root.glob("autograded/*/*/*.ipynb"))) < 2:
            assert time.monotonic() < deadline and grader.poll() is None, grader.communicate()
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        out, err = grader.communicate(timeout=200)
    found = json.loads(out)
    assert (grader.returncode, len(found["problems"])) == (1, 1), err.decode()
    assert "corrupt" in found["problems"][0]["file"] and "not JSON" in found["problems"][0]["problem"]
    got = {each["student"]: tuple(cell["points"] for cell in each["cells"]) for each in found["submissions"]}
    assert got == students | {f"slow{number}": (1, 2) for number in range(6)}
    assert {each["runner"] for each in found["submissions"]} == {"sealed"}
    assert main(["log", "--course", str(course.root), "--json"]) == 0
    logged = [(each["student"], each["cell"]) for each in json.loads(capsys.readouterr().out)]
    assert sorted(logged) == sorted((student, cell) for student in got for cell in ("seven", "double"))
    assert report(course, "--no-fork-server")[1]["submissions"] == [
        {**each, "unchanged": True} for each in found["submissions"]
    ], "grading here goes on where the cluster left off"
    assert set(stored(course)) == set(got)


def test_what_is_wrong_with_a_cluster_is_said(place: Path) -> None:
    course = mini_course(place / "course")
    hand_in(course, "reference", SUBMISSIONS["reference"][0])
    code, said = report(course, "--scheduler", "not an address")
    assert code == 2 and "No Dask scheduler answers at not an address" in said["said"]
    assert "dask scheduler" in said["said"] and "Traceback" not in said["said"]
    with scheduler(place) as address:
        code, said = report(course, "--scheduler", address)
    assert code == 2 and "The cluster has no workers" in said["said"]
    assert not list(course.root.glob("autograded/*"))
