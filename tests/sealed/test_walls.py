"""The walls: a student's process can neither take anything nor harm anyone."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path
from textwrap import dedent

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.cli import main
from autograder.course import REPOSITORY
from autograder.errors import CourseError
from autograder.grading.result import Result
from autograder.grading.running import Interrupted
from autograder.grading.seam import grade
from autograder.limits import Limits
from autograder.sealed import diagnosis, groups, isolation, runner, seccomp
from autograder.sealed.runner import SealedRunner, choose_runner
from tests.jobs import abandoned_groups, wait_for
from tests.mini_course import answered, mini_master
from tools.system_packages import is_required


@pytest.fixture(scope="module", autouse=True)
def walls() -> None:
    problem = diagnosis.obstacle()
    if problem is not None:
        (pytest.fail if is_required(os.environ) else pytest.skip)(problem)


def run(code: str, **limits: float) -> tuple[Result, str]:
    """Grade right answers after a cell of hostile code; return the result and what that cell printed."""
    notebook = answered(double="def double(number):\n    return 2 * number")
    cell = new_code_cell(dedent(code).strip())
    cell["id"] = "attack"
    notebook.cells.insert(0, cell)
    result = grade(mini_master(), notebook, SealedRunner(), Limits(**({"cell_seconds": 20.0} | limits)))
    shown = next(each for each in result.notebook.cells if each.source == cell.source)
    return result, "".join(output.get("text", "") for output in shown.outputs)


@pytest.mark.slow
def test_nothing_worth_stealing_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "gradebook.db"
    secret.write_text("canary")
    secret.chmod(0o644)
    monkeypatch.setenv("CANVAS_TOKEN", "canary")
    with socket.create_server(("127.0.0.1", 0)) as server:
        result, printed = run(
            f"""
            import os, socket, subprocess
            def tried(name, action):
                try: print(name, 'GOT', action())
                except Exception as error: print(name, type(error).__name__)
            tried('secret', lambda: open({str(secret)!r}).read())
            tried('masters', lambda: os.listdir({str(REPOSITORY / "notebooks")!r}))
            tried('gradebook', lambda: os.listdir({str(Path.cwd())!r} + '/submitted'))
            tried('shadow', lambda: open('/etc/shadow').read())
            tried('network', lambda: socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2))
            tried('environment', lambda: [v for v in os.environ.values() if 'canary' in v][0])
            lines = [open(f'/proc/{{p}}/cmdline').read() for p in os.listdir('/proc') if p.isdigit()]
            tried('processes', lambda: [line for line in lines if 'autograder.grading' in line][0])
            tried('root', lambda: os.setuid(0))
            tried('mount', lambda: subprocess.run(['mount', '-t', 'tmpfs', 'x', '/mnt'], check=True, stderr=-3))
            tried('write', lambda: open({os.__file__!r}, 'a'))
            tried('tests', lambda: os.listdir('../check'))
            """
        )
    assert "GOT" not in printed and printed.count("\n") == 11, printed
    assert result.score == result.max_score
    assert secret.read_text() == "canary"


@pytest.mark.slow
def test_harm_stays_inside(tmp_path: Path) -> None:
    marker = tmp_path / "alive"
    result, printed = run(
        f"""
        import os, signal, subprocess
        def tried(name, action):
            try: print(name, 'GOT', action())
            except BaseException as error: print(name, type(error).__name__)
        def large():
            with open('large', 'wb') as file:
                file.seek(2**40); file.write(b'x')
        tried('sparse file', large)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        children = []
        def bomb():
            for _ in range(500): children.append(subprocess.Popen(['sleep', '1000']))
        tried('fork bomb', bomb)
        print('children', len(children) < 100)
        for child in children: child.kill()
        tried('parent', lambda: os.kill(os.getppid(), 9) or 'sent')
        subprocess.Popen('sleep 3; touch {marker}', shell=True, start_new_session=True)
        """
    )
    assert "sparse file GOT" not in printed and "fork bomb GOT" not in printed and "children True" in printed, printed
    assert result.score == result.max_score, result.cells
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if b"sleep\x001000" in _bytes(path)]
    assert left == [] and not marker.exists()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.slow
def test_loops_that_refuse_to_end_are_ended() -> None:
    result, _ = run(
        """
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
        """,
        cell_seconds=4.0,
    )
    assert result.score == result.max_score and any("longer than 4 s" in note for note in result.notes)


def test_without_isolation_grading_refuses_unless_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runner, "obstacle", lambda: "bubblewrap (bwrap) is missing: `apt install bubblewrap`")
    with pytest.raises(CourseError, match=r"can't be isolated here\. bubblewrap \(bwrap\) is missing"):
        choose_runner(tmp_path)
    assert choose_runner(tmp_path, unsafe=True).name == "plain"
    monkeypatch.undo()
    assert choose_runner(tmp_path).name == "sealed"


def test_the_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert "can be isolated" in capsys.readouterr().out
    diagnosis.parts.cache_clear()
    monkeypatch.setattr(isolation, "find_bwrap", lambda: None)
    try:
        assert main(["doctor"]) == 1
        assert "bubblewrap (bwrap) is missing: `apt install bubblewrap`" in capsys.readouterr().out
        monkeypatch.setattr(isolation, "find_bwrap", lambda: "/bin/false")
        diagnosis.parts.cache_clear()
        assert main(["doctor", "--json"]) == 1
        told = json.loads(capsys.readouterr().out)
        assert "can't make its namespaces here" in told["problem"]
        assert [part["name"] for part in told["parts"] if not part["is_there"]] == ["namespaces"]
        assert told["limits"]["01_integers"]["memory_bytes"] == 2 * 2**30
        monkeypatch.undo()
        monkeypatch.setattr(isolation, "_python_folders", lambda: [])
        diagnosis.parts.cache_clear()
        assert main(["doctor", "--json"]) == 1
        assert "install Python and the environment where" in json.loads(capsys.readouterr().out)["problem"]
    finally:
        diagnosis.parts.cache_clear()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_link_does_not_give_a_file_away(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("ours")
    for name in (*isolation.WRITABLE, "jupyter"):
        (tmp_path / "scratch" / name).mkdir(parents=True)
    link = tmp_path / "scratch" / "work" / "link"
    link.symlink_to(secret)
    uid = isolation.prepare(tmp_path / "scratch")
    assert (secret.stat().st_uid, link.lstat().st_uid) == (0, uid)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("x = b'x' * (3 * 2**30)", "took more than 2 GiB of memory"),
        (
            "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        x = b'x' * (400 * 2**20)\n"
            "        time.sleep(60)\n        os._exit(0)\ntime.sleep(60)",
            "took more than 2 GiB of memory",
        ),
        (
            "import time\nfor n in range(20):\n    open(f'f{n}', 'wb').write(b'x' * (40 * 2**20))\ntime.sleep(60)",
            "wrote more than 256 MiB of files",
        ),
        ("import time\nfor n in range(20_000):\n    open(f'f{n}', 'wb').close()\ntime.sleep(60)", "10,000 files"),
    ],
    ids=["memory", "memory of many", "disk", "many files"],
)
def test_what_takes_too_much_is_stopped_and_told(code: str, words: str) -> None:
    result, _ = run(code)
    assert [str(cell.state) for cell in result.cells] == ["passed", "passed"]
    (note,) = [each for each in result.notes if "stopped" in each]
    assert words in note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "import os\nwhile True:\n    if os.fork() == 0:\n        os._exit(os.read(0, 1))",
            "processes and threads at a time",
        ),
        (
            "import threading\nwhile True:\n    threading.Thread(target=threading.Event().wait, daemon=True).start()",
            "64 processes and threads at a time",
        ),
        ("open('large', 'wb').write(b'x' * 2**27)", "64 MiB for a file"),
        ("files = [open('/dev/null') for _ in range(2_000)]", "1,024 open files"),
        ("open('/tmp2', 'w')", "only your working folder can be written to"),
        ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')", "there is no network while grading"),
        ("import os\nos.memfd_create('x')", "grading doesn't allow this"),
        ("print('x' * 2**21)", "put out more than 1 MiB; the rest was cut off"),
    ],
)
def test_the_limit_behind_an_error_is_named_with_the_cell(code: str, words: str) -> None:
    result, _ = run(code)
    assert result.score == result.max_score
    (note,) = [each for each in result.notes if words in each]
    assert code.splitlines()[0][:20] in note


@pytest.mark.slow
def test_system_calls_that_grading_never_needs_are_refused() -> None:
    import pyseccomp

    names = " ".join(seccomp.DENIED.values()).split()
    numbers = {name: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name in names}
    _, printed = run(
        f"""
        import ctypes, errno, socket
        libc = ctypes.CDLL(None, use_errno=True)
        def reason(number, *given):
            libc.syscall(number, *(given or (0, 0, 0, 0, 0, 0)))
            return errno.errorcode[ctypes.get_errno()]
        for name, number in {numbers}.items():
            if number >= 0 and reason(number) != "EPERM":
                print("not refused:", name)
        for family in (socket.AF_VSOCK, socket.AF_PACKET, 38, 44, 99):
            try:
                print("socket of family", family, socket.socket(family, socket.SOCK_STREAM))
            except OSError as error:
                assert error.errno == errno.EAFNOSUPPORT, error
        print("clone3:", reason({pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "clone3")}))
        print("clone:", reason({pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "clone")}, 0x10000011, 0, 0, 0, 0))
        socket.socketpair(), socket.create_server(("127.0.0.1", 0))
        """
    )
    assert printed.splitlines() == ["clone3: ENOSYS", "clone: EPERM"]


@pytest.mark.slow
@pytest.mark.skipif(groups.find_place() is None, reason="no control group can be made here")
def test_no_control_group_is_left() -> None:
    run("x = b'x' * (3 * 2**30)")
    wait_for(lambda: not abandoned_groups())


@pytest.mark.skipif(groups.find_place() is None, reason="no control group can be made here")
def test_a_run_that_is_called_off_leaves_no_control_group() -> None:
    stop = threading.Event()
    place = groups.find_place()
    before = set(place.glob("autograder-*")) if place else set()

    def call_off() -> None:
        wait_for(lambda: bool(place and set(place.glob("autograder-*")) - before))
        stop.set()

    thread = threading.Thread(target=call_off)
    thread.start()
    with pytest.raises(Interrupted):
        SealedRunner(stop=stop)(new_notebook(cells=[new_code_cell("import time; time.sleep(60)")]), Limits())
    thread.join()
    wait_for(lambda: not abandoned_groups(), 10)


def test_groups_of_processes_that_were_killed_are_swept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(groups, "find_place", lambda: tmp_path)
    for name in ("autograder-999999999-aa", f"autograder-{os.getpid()}-bb", "autograder-1-cc", "mine"):
        (tmp_path / name).mkdir()
    groups.sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["autograder-1-cc", "mine"]


@pytest.mark.slow
def test_shared_memory_is_bounded_too() -> None:
    _, printed = run(
        """
        try:
            for n in range(10):
                open(f"/dev/shm/{n}", "wb").write(b"x" * 2**26)
        except OSError as error:
            print(n, error.strerror)
        """
    )
    assert printed == "4 No space left on device\n"
