"""Forked kernels: the same marks as started ones, no more rights, a chance of their own, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import psutil
import pytest
from nbformat.v4 import new_code_cell

from autograder.course import Course
from autograder.grading.plain import PlainRunner
from autograder.grading.result import Result
from autograder.grading.seam import grade
from autograder.limits import Limits
from autograder.proof.catalogue import read_catalogue
from autograder.sealed import diagnosis, provisioner
from autograder.sealed.forking import KERNEL, ForkServer
from autograder.sealed.isolation import WRITABLE
from autograder.sealed.runner import SealedRunner
from tests.autograder.submissions import heed_ctrl_c
from tests.jobs import running_in, wait_for
from tests.mini_course import SECTION, answered, mini_course, mini_master
from tests.samples import make_samples
from tools.system_packages import is_required

pytestmark = pytest.mark.slow

GOOD = "def double(number):\n    return 2 * number"


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    problem = diagnosis.obstacle()
    if problem is not None:
        (pytest.fail if is_required(os.environ) else pytest.skip)(problem)
    made = ForkServer()
    assert made.address() or os.geteuid() != 0
    yield made
    made.close()


def run(server: ForkServer, code: str) -> tuple[Result, str]:
    """Grade right answers after a cell with this code; return the result and what the cell printed."""
    notebook = answered(double=GOOD)
    cell = new_code_cell(dedent(code).strip())
    cell["id"] = "first"
    notebook.cells.insert(0, cell)
    result = grade(mini_master(), notebook, SealedRunner(server=server), Limits(cell_seconds=20))
    shown = next(each for each in result.notebook.cells if each.source == cell.source)
    return result, "".join(output.get("text", "") for output in shown.outputs)


def said(result: Result) -> list[object]:
    cells = [(cell.grade_id, cell.state, cell.points, cell.message) for cell in result.cells]
    return [cells, result.notes, [cell.get("outputs") for cell in result.notebook.cells]]


def test_all_samples_get_the_same_marks_messages_and_outputs_on_every_path(
    server: ForkServer, tmp_path: Path
) -> None:
    course: Course = mini_course(tmp_path)
    master, folder = course.master(SECTION), course.master_path(SECTION).parent
    samples = make_samples(SECTION, master, read_catalogue(course.catalogue_path(SECTION)))
    assert len(samples) >= 5
    for name, sample in samples.items():
        paths = (PlainRunner(folder), SealedRunner(folder), SealedRunner(folder, server=server))
        plain, sealed, forked = (said(grade(master, sample.notebook, path)) for path in paths)
        assert plain == sealed == forked, name


def test_a_forked_kernel_has_no_rights_and_sees_nothing(server: ForkServer) -> None:
    _, printed = run(
        server,
        """
        import os, socket
        lines = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
        print([int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")])
        print(lines["NoNewPrivs"].strip(), 0 in os.getresuid(), 0 in os.getresgid(), os.getgroups())
        print(sorted(name for name in os.listdir("/proc") if name.isdigit() and int(name) > 3))
        print(socket.gethostname(), [name for name in os.environ if "AUTOGRADER" in name])
        print(sorted(os.readlink(f"/proc/self/fd/{each}").split(":")[0].split("/")[-1] for each in (0, 1, 2)))
        try:
            socket.create_connection(("127.0.0.1", 9), 2)
        except OSError as error:
            print(type(error).__name__)
        """,
    )
    lines = printed.splitlines()
    assert lines[0] == "[0, 0, 0, 0, 0]"
    assert lines[1].startswith("1 False False")
    assert lines[3].startswith("student [")
    assert lines[-1] in ("ConnectionRefusedError", "OSError")


def test_every_fork_has_a_chance_of_its_own(server: ForkServer) -> None:
    code = "import random, numpy as np; print(random.random(), np.random.random(), np.random.default_rng().random())"
    seen = [run(server, code)[1].split() for _ in range(2)]
    assert all(one != other for one, other in zip(*seen, strict=True))


def test_what_one_submission_does_to_modules_is_gone_in_the_next(server: ForkServer) -> None:
    _, printed = run(server, "import numpy; numpy.mark = 1; print('set', numpy.mark)")
    assert printed.split() == ["set", "1"]
    _, printed = run(server, "import numpy; print(hasattr(numpy, 'mark'))")
    assert printed.split() == ["False"]


def test_without_a_living_zygote_kernels_are_started(server: ForkServer) -> None:
    broken = ForkServer()
    address = broken.address()
    for process in psutil.process_iter(["cmdline"]):
        if str(Path(address).parent) in (process.info["cmdline"] or []):
            process.kill()
    result, printed = run(broken, "print('here')")
    broken.close()
    assert printed == "here\n"
    assert {cell.state.value for cell in result.cells} <= {"passed", "failed"}


def test_an_ordinary_users_kernel_is_started_whatever_the_server_could_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    for name in ("jupyter", *WRITABLE):
        (tmp_path / name).mkdir(exist_ok=True)
    monkeypatch.setattr(provisioner.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(provisioner, "Sandbox", lambda words, command, environment, group: command)
    monkeypatch.setattr(provisioner, "fork", lambda *_, **__: pytest.fail("it was forked"))
    made = provisioner.SealedProvisioner(server="/zygote", scratch=str(tmp_path))
    command = [sys.executable, "-m", KERNEL, "-f", "file"]
    made._launch(command, {})
    assert made._sandbox == command


SCRIPT = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from nbformat.v4 import new_code_cell, new_notebook
from autograder.limits import Limits
from autograder.sealed.forking import ForkServer
from autograder.sealed.runner import SealedRunner
code = "for n in range(9_000): open(str(n), 'w').close()\\nopen('here', 'w').close(); import time; time.sleep(60)"
SealedRunner(server=ForkServer())(new_notebook(cells=[new_code_cell(code), new_code_cell("1")]), Limits())
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_the_grader_ends(end: signal.Signals, server: ForkServer) -> None:
    with tempfile.TemporaryDirectory(prefix="f-", dir="/tmp") as name:
        home = Path(name)
        command = [sys.executable, "-c", SCRIPT, name]
        grader = subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=heed_ctrl_c)
        try:
            wait_for(lambda: bool(list(home.glob("*/work/here"))))
            os.kill(grader.pid, end)
            grader.wait(30)
        finally:
            grader.kill()
            grader.wait()
        wait_for(lambda: not list(home.iterdir()) and not running_in(home))
