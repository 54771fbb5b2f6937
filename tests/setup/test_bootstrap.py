"""What set-up decides, as pure functions: Python's version, torch's source, pip's failures, the stamp."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools.bootstrap import complaint
from tools.environment import Environment, SetupError, make, missing_module_cure, stamp_text
from tools.pip_steps import TORCH_CPU_INDEX, Step, explain, torch_pin, torch_steps, unavailable

ROOT = Path(__file__).resolve().parents[2]

UNREACHABLE = """\
Looking in indexes: https://index.example/cpu
WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': Temporary failure in name \
resolution')': /torch/
ERROR: Could not find a version that satisfies the requirement torch==9.9 (from versions: none)
ERROR: No matching distribution found for torch==9.9
"""
NOT_THERE = "ERROR: No matching distribution found for torch==9.9+cpu\n"
FULL = "Collecting torch\nERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
BROKE_OFF = "  Downloading torch-9.9%2Bcpu.whl (190 MB)\nERROR: Exception: ReadTimeoutError: Read timed out.\n"


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13), (2, 7, 18)])
def test_an_old_python_is_told_its_version_and_the_cure(version: tuple[int, ...]) -> None:
    said = complaint((*version, "final", 0))
    assert "3.11 or newer is needed" in said and "\n" not in said
    assert ".".join(map(str, version)) in said and "make PYTHON=" in said


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 13, 0), (3, 14, 1), (4, 0, 0)])
def test_a_new_enough_python_hears_nothing(version: tuple[int, ...]) -> None:
    assert complaint((*version, "final", 0)) == ""


def test_bootstrap_holds_no_syntax_newer_than_python_3_6() -> None:
    ast.parse((ROOT / "tools" / "bootstrap.py").read_text(encoding="utf-8"), feature_version=(3, 6))


def test_a_missing_venv_module_names_the_debian_package() -> None:
    assert "apt install python3.12-venv" in missing_module_cure((3, 12))


def test_linux_tries_the_cpu_index_cheaply_and_then_the_ordinary_package_with_a_word_on_its_size() -> None:
    first, second = torch_steps("9.9", "linux")
    assert TORCH_CPU_INDEX in first.arguments and "torch==9.9+cpu" in first.arguments and first.optional
    assert first.arguments[first.arguments.index("--retries") + 1] == "0"
    assert float(first.arguments[first.arguments.index("--timeout") + 1]) <= 30
    assert "torch==9.9" in second.arguments and TORCH_CPU_INDEX not in second.arguments and not second.optional
    assert "GB" in second.says


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_the_ordinary_package_is_a_cpu_build(platform: str) -> None:
    (only,) = torch_steps("9.9", platform)
    assert "torch==9.9" in only.arguments and TORCH_CPU_INDEX not in only.arguments


def test_torch_never_brings_dependencies_of_its_own() -> None:
    assert all("--no-deps" in step.arguments for system in ("linux", "darwin") for step in torch_steps("9.9", system))


def test_the_pin_of_torch_comes_from_the_lock() -> None:
    assert torch_pin("tornado==6\ntorch==2.13.0\ntorchvision==1\n") == "2.13.0"
    with pytest.raises(ValueError, match="make lock"):
        torch_pin("numpy==2\n")


@pytest.mark.parametrize(
    ("output", "next_may_help"),
    [(UNREACHABLE, True), (NOT_THERE, True), (FULL, False), (BROKE_OFF, False), ("", False)],
)
def test_only_a_package_that_is_not_offered_leads_to_the_next_source(output: str, next_may_help: bool) -> None:
    assert unavailable(output) is next_may_help


@pytest.mark.parametrize(
    ("output", "problem", "cure"),
    [
        (UNREACHABLE, "can't be reached", "network"),
        (BROKE_OFF, "broke off", "network"),
        (FULL, "disk is full", "free"),
        (NOT_THERE, "no torch==9.9+cpu", "pip config list"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "certificate", "PIP_CERT"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "damaged", "pip cache purge"),
        ("PermissionError: [Errno 13] Permission denied: '/x'", "may not be written", "your own"),
        ("ERROR: Failed building wheel for numpy", "no ready-made build", "make PYTHON="),
        ("noise\nERROR: Something {odd} happened\n", "Something {odd} happened", "details"),
        ("", "no reason", "details"),
    ],
)
def test_each_failure_of_pip_has_its_line(output: str, problem: str, cure: str) -> None:
    said = explain(output)
    assert problem in said[0] and cure in said[1] and "\n" not in "".join(said)


def test_the_stamp_names_the_folder_first_and_changes_with_all_that_it_stands_for() -> None:
    base = stamp_text(Path("/a b"), b"lock", b"project", "python")
    assert base.splitlines()[0] == "/a b"
    others = [
        stamp_text(Path("/c"), b"lock", b"project", "python"),
        stamp_text(Path("/a b"), b"lock2", b"project", "python"),
        stamp_text(Path("/a b"), b"lock", b"project2", "python"),
        stamp_text(Path("/a b"), b"lock", b"project", "python2"),
    ]
    assert len({base, *others}) == 5


class Recorded(Environment):
    """An environment whose pip is a table: package words → (exit code, output)."""

    def __init__(self, root: Path, answers: dict[str, tuple[int, str]]) -> None:
        super().__init__(root)
        self.answers = answers
        self.calls: list[list[str]] = []
        self.folder.mkdir(parents=True)

    def run(self, command: list[str]) -> tuple[int, str]:
        self.calls.append(command)
        return next((answer for word, answer in self.answers.items() if word in command), (0, ""))


def test_an_unreachable_cpu_index_leads_on_quietly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = Recorded(tmp_path, {"torch==9.9+cpu": (1, UNREACHABLE)})
    environment.install_first_that_works(torch_steps("9.9", "linux"))
    assert [command[-1] for command in environment.calls] == ["torch==9.9+cpu", "torch==9.9"]
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert not environment.busy.exists()


@pytest.mark.parametrize(
    ("code", "output", "says"), [(1, BROKE_OFF, "broke off"), (1, FULL, "full"), (-9, "", "signal 9")]
)
def test_other_failures_stop_at_once(tmp_path: Path, code: int, output: str, says: str) -> None:
    environment = Recorded(tmp_path, {"torch==9.9+cpu": (code, output)})
    with pytest.raises(SetupError, match=says):
        environment.install_first_that_works(torch_steps("9.9", "linux"))
    assert len(environment.calls) == 1


@pytest.mark.parametrize(
    ("code", "output", "stays"), [(0, "", False), (1, NOT_THERE, False), (1, FULL, True), (-9, "", True)]
)
def test_a_mark_stays_only_when_the_environment_may_be_half_changed(
    tmp_path: Path, code: int, output: str, stays: bool
) -> None:
    environment = Recorded(tmp_path, {"thing": (code, output)})
    try:
        environment.install(Step("Installing a thing", ("thing",)))
    except SetupError:
        assert code < 0
    assert environment.busy.exists() is stays
    assert not (stays and environment.works())


def test_too_little_disk_is_said_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.environment.NEEDED_BYTES", 10**18)
    with pytest.raises(SetupError, match="GB free"):
        Environment(tmp_path).create()
    assert list(tmp_path.iterdir()) == []


def test_a_python_without_ensurepip_is_told_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.environment.find_spec", lambda name: None if name == "ensurepip" else object())
    with pytest.raises(SetupError, match="-venv"):
        Environment(tmp_path).create()


@pytest.mark.slow
def test_an_environment_left_half_made_is_made_anew_and_then_only_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "check out"
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").write_text("home = /nowhere\n")
    (root / "requirements.lock").write_text("torch==9.9\n")
    (root / "pyproject.toml").write_text('[project]\nname = "empty"\nversion = "0"\n')
    monkeypatch.setattr(Environment, "install_first_that_works", lambda self, steps: None)
    make(Environment(root))
    assert "starting over" in capsys.readouterr().out
    version = subprocess.run([root / ".venv/bin/python", "-c", "import sys, pip; print(*sys.version_info[:2])"],
                             capture_output=True, text=True, check=True).stdout.split()  # fmt: skip
    assert version == [str(part) for part in sys.version_info[:2]]
    assert Environment(root).is_ready()
    make(Environment(root))
    assert capsys.readouterr().out == ""
    moved = root.rename(tmp_path / "elsewhere")
    assert not Environment(moved).is_ready() and not Environment(moved).works()
