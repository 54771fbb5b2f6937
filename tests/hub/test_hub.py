"""A term's week on a real JupyterHub: two students fetch, submit, and get their feedback back."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.course import REPOSITORY, Course
from autograder.sealed.diagnosis import obstacle
from tests.autograder.submissions import DOUBLE, SEVEN
from tests.mini_course import SECTION, mini_course
from tools.system_packages import is_required

pytestmark = pytest.mark.slow
pytest.importorskip("jupyterhub")

TOKEN = "for-the-test"
COURSE = "numfmt101"
ANSWERS = {"ada": (SEVEN, DOUBLE), "ben": (SEVEN, "def double(number):\n    return number + 2")}
SCORES = {"ada": "3.0 / 3.0", "ben": "1.0 / 3.0"}


@dataclass(frozen=True)
class Hub:
    """A running hub, and the folder in which it, the exchange and the course are."""

    folder: Path
    port: int

    def ask(self, path: str, method: str = "GET", **form: str) -> Any:
        """Return the JSON that an address of the hub, or of a user's server, replies with."""
        data = "&".join(f"{name}={value}" for name, value in form.items()).encode() if method == "POST" else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        request.add_header("Authorization", f"token {TOKEN}")
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.loads(reply.read() or "null")

    def student(self, name: str, action: str) -> Any:
        """Do what nbgrader's page for students does."""
        done = self.ask(f"/user/{name}/assignments/{action}", "POST", course_id=COURSE, assignment_id=SECTION)
        assert done["success"], done
        return done

    def home(self, name: str) -> Path:
        return self.folder / "homes" / name


def wait_for(condition: Callable[[], object], log: Path, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except (OSError, urllib.error.URLError):
            pass
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.3)


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    problem = obstacle()
    if problem is not None or os.geteuid() != 0:
        (pytest.fail if is_required(os.environ) else pytest.skip)(problem or "the users' containers need root")
    with tempfile.TemporaryDirectory(prefix="hub-", dir="/tmp") as name:
        folder = Path(name)
        for inside in ("config", "exchange", "homes/ada", "homes/ben"):
            (folder / inside).mkdir(parents=True)
        (folder / "exchange").chmod(0o777)
        (folder / "passwd").write_text(f"jovyan:x:{os.geteuid()}:0::/root:/bin/sh\n")
        settings = f"c.Exchange.root = {str(folder / 'exchange')!r}\nc.CourseDirectory.course_id = {COURSE!r}\n"
        (folder / "config" / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}")
        port = _free_ports()
        environment = {
            **os.environ, "HUB_FOLDER": name, "HUB_PORT": str(port), "HUB_TOKEN": TOKEN,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }  # fmt: skip
        config = Path(__file__).with_name("jupyterhub_config.py")
        log = folder / "log"
        with log.open("wb") as file:
            command = [sys.executable, "-m", "jupyterhub", "--config", str(config)]
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=file, stderr=file)
        made = Hub(folder, port)
        try:
            wait_for(lambda: made.ask("/hub/api/")["version"], log)
            for student in ANSWERS:
                made.ask(f"/hub/api/users/{student}", "POST")
                try:
                    made.ask(f"/hub/api/users/{student}/server", "POST")
                except urllib.error.HTTPError as error:
                    raise AssertionError(log.read_text()[-6000:]) from error
                wait_for(lambda who=student: made.ask(f"/hub/api/users/{who}")["server"], log)
                wait_for(lambda who=student: made.ask(f"/user/{who}/assignments?course_id={COURSE}")["success"], log)
            yield made
        finally:
            process.terminate()
            process.wait(30)


def _free_ports() -> int:
    """Return the first of three ports in a row that are free."""
    while True:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            first = free.getsockname()[1]
        try:
            for port in range(first, first + 3):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return int(first)


def run(course: Course, hub: Hub, module: str, *words: str) -> None:
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(hub.folder / "config"), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, cwd=course.root, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_week(hub: Hub) -> None:
    course = mini_course(hub.folder / "course")
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", course.root / "nbgrader_config.py")
    run(course, hub, "nbgrader", "generate_assignment", SECTION)
    run(course, hub, "nbgrader", "release_assignment", SECTION)
    for student, answers in ANSWERS.items():
        (listed,) = hub.ask(f"/user/{student}/assignments?course_id={COURSE}")["value"]
        assert (listed["assignment_id"], listed["status"]) == (SECTION, "released")
        hub.student(student, "fetch")
        path = hub.home(student) / SECTION / f"{SECTION}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        cells = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]
        for cell, answer in zip(cells, answers, strict=True):
            assert "YOUR CODE HERE" in cell.source
            cell.source = answer
        nbformat.write(notebook, path)
        hub.student(student, "submit")
    run(course, hub, "autograder", "collect", str(hub.folder / "exchange" / COURSE / "inbound"))
    run(course, hub, "autograder", "grade")
    run(course, hub, "autograder", "feedback")
    run(course, hub, "nbgrader", "release_feedback", SECTION)
    for student, score in SCORES.items():
        hub.student(student, "fetch_feedback")
        (page,) = (hub.home(student) / SECTION / "feedback").rglob("*.html")
        text = page.read_text(encoding="utf-8")
        assert f"(Score: {score})" in text
        assert ("What to read again" in text) == (student == "ben")
