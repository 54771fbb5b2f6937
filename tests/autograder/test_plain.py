"""The plain runner on notebooks that misbehave: it says what happened, goes on, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import nbformat
import numpy as np
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.grading.plain import PlainRunner
from autograder.grading.running import KERNEL_DIED, NOTEBOOK_TIMEOUT, Interrupted, Outcome, Run, RunnerError, Status
from autograder.limits import Limits
from tests.autograder.submissions import heed_ctrl_c
from tests.jobs import running_in, wait_for
from tests.mini_course import cell

pytestmark = pytest.mark.slow

OK = Outcome(Status.OK)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the runner a temporary folder to itself, and see that nothing is left of its files and processes.

    pytest's own folders have paths that the runner finds too long for sockets.
    """
    with TemporaryDirectory(prefix="t-", dir="/tmp") as name:
        folder = Path(name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield folder
        assert not list(folder.iterdir())
        assert not running_in(folder)


def notebook(**cells: str) -> NotebookNode:
    """Return a notebook of these code cells; a name that starts with test_ makes a test cell."""
    made = []
    for name, source in cells.items():
        tests = name.startswith("test_")
        node = cell("tests", name, source, 1) if tests else new_code_cell(dedent(source).strip())
        node["id"] = name
        made.append(node)
    return new_notebook(cells=made)


def text(run: Run, name: str, stream: str = "stdout") -> str:
    node = next(each for each in run.notebook.cells if each["id"] == name)
    return "".join(output.text for output in node.outputs if output.get("name") == stream)


def test_cells_that_fail_flood_and_end_python_cost_only_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "secret-value")
    folder = tmp_path / "section"
    (folder / "images").mkdir(parents=True)
    np.save(folder / "data.npy", np.arange(3))
    (folder / "checks.json").write_text("{}")
    (folder / "images" / "a.png").write_bytes(b"")
    (folder / "wrong_answers.toml").write_text("secret")
    run = PlainRunner(folder)(
        notebook(
            files="import numpy as np, os; print(np.load('data.npy').sum(), *sorted(os.listdir()))",
            environment="e = os.environ; print('secret-value' in str(e), e['MPLBACKEND'], e['OMP_NUM_THREADS'])",
            history="print(get_ipython().history_manager.hist_file)",
            chatter="import sys; os.write(1, b'{}'); os.write(2, b'x')",
            warns="import warnings; warnings.warn('careful'); print('after')",
            fails="x = 1\n1 / 0",
            leaves="raise SystemExit(0)",
            forges="class CheckFailed(AssertionError): pass\nclass OK(Exception): pass",
            test_raises="y = x\nassert y == 2, 'y is 1'",
            dies="import os\nz = 5\nos._exit(0)",
            deadly="import os\ndef die(): os.kill(os.getpid(), 9)",
            test_kills="assert x == 1\ndie()",
            test_after="assert x == 1",
            test_exits="import sys; sys.exit(0)",
            odd_error="raise ValueError('\\ud800')",
            flood="for _ in range(50): print('x' * 2**20)",
            many="from IPython.display import display\nfor number in range(8_000): display(number)",
            empty=" ",
        ),
        Limits(),
    )
    outcomes = dict(run.outcomes)
    assert "empty" not in outcomes
    expected = {name: OK for name in outcomes} | {
        "fails": Outcome(Status.ERROR, "ZeroDivisionError", "division by zero", 2),
        "leaves": Outcome(Status.ERROR, "SystemExit", "0"),
        "test_raises": Outcome(Status.ERROR, "AssertionError", "y is 1", 2),
        "dies": Outcome(Status.ERROR, KERNEL_DIED),
        "test_kills": Outcome(Status.ERROR, KERNEL_DIED),
        "test_exits": Outcome(Status.ERROR, "SystemExit", "0"),
        "odd_error": outcomes["odd_error"],
        "flood": Outcome(Status.OK, is_cut=True),
        "many": Outcome(Status.OK, is_cut=True),
    }
    assert outcomes["odd_error"].status is Status.ERROR
    for exits in ("leaves", "test_exits"):  # the line of a SystemExit is of no use
        outcomes[exits] = Outcome(outcomes[exits].status, outcomes[exits].ename, outcomes[exits].evalue)
    assert outcomes == expected
    assert text(run, "files") == "3 checks.json data.npy images\n"
    assert text(run, "environment") == "False Agg 1\n"
    assert text(run, "history") == ":memory:\n"
    assert (text(run, "warns"), "careful" in text(run, "warns", "stderr")) == ("after\n", True)
    assert 2**20 * 0.9 < len(text(run, "flood")) < 2**20 * 1.1
    for name in ("flood", "many"):
        assert text(run, name).endswith("[Cut off: a cell may put out 1 MiB.]\n")
    nbformat.validate(run.notebook)


def test_loops_are_stopped_also_those_that_refuse_and_children_go_too() -> None:
    run = PlainRunner()(
        notebook(
            keeps="kept = 1",
            loops="while True: pass",
            refuses="""
                while True:
                    try:
                        while True: pass
                    except KeyboardInterrupt:
                        pass
            """,
            daemon="import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)",
            test_kept="assert kept == 1",
            sleeps="import time\nstarted = True\ntime.sleep(1000)",
            test_late="assert kept == 1",
        ),
        Limits(cell_seconds=1.5, notebook_seconds=16),
    )
    stopped = Outcome(Status.TIMEOUT)
    names = ("keeps", "loops", "refuses", "daemon", "test_kept", "sleeps", "test_late")
    assert [run.outcomes[name] for name in names] == [OK, stopped, stopped, OK, OK, stopped, OK]


def test_the_notebook_has_a_limit_of_its_own() -> None:
    run = PlainRunner()(notebook(a="import time; time.sleep(60)", test_b="pass"), Limits(notebook_seconds=1))
    assert run.outcomes == {name: Outcome(Status.TIMEOUT, NOTEBOOK_TIMEOUT) for name in ("a", "test_b")}


def test_a_worker_that_is_killed_is_the_runners_failure() -> None:
    killer = "import os, time; os.kill(os.getppid(), 9); time.sleep(60)"
    with pytest.raises(RunnerError, match="ended early"):
        PlainRunner()(notebook(a=killer, test_b="pass"), Limits())


def test_a_run_can_be_called_off() -> None:
    stop = threading.Event()
    threading.Timer(3, stop.set).start()
    started = time.monotonic()
    with pytest.raises(Interrupted):
        PlainRunner(stop=stop)(notebook(a="import time; time.sleep(60)"), Limits())
    assert time.monotonic() - started < 15


SCRIPT = """
import tempfile, sys
from nbformat.v4 import new_code_cell, new_notebook
from autograder.grading.plain import PlainRunner
from autograder.limits import Limits
tempfile.tempdir = sys.argv[1]
code = "for n in range(9_000): open(str(n), 'w').close()\\nopen('here', 'w').close(); import time; time.sleep(60)"
PlainRunner()(new_notebook(cells=[new_code_cell(code), new_code_cell("1")]), Limits())
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_when_the_grader_is_interrupted_or_killed_the_run_ends(end: signal.Signals, home: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(home)]
    grader = subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=heed_ctrl_c)
    try:
        wait_for(lambda: bool(list(home.glob("*/work/here"))))
        assert len(running_in(home)) >= 2
        os.kill(grader.pid, end)
        grader.wait(20)
    finally:
        grader.kill()
        grader.wait()
    wait_for(lambda: not list(home.iterdir()) and not running_in(home))
