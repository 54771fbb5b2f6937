"""The Makefile and the CI entry, through make itself; no target that sets up is run."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARENTS = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHON"}
TARGETS = {
    "setup",
    "lab",
    "solutions",
    "demo",
    "test",
    "test-fast",
    "mutants",
    "notebooks",
    "book",
    "lint",
    "bench",
    "lock",
}


def run_make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    # The make that runs the tests would otherwise hand its own flags down.
    inherited = {name: value for name, value in os.environ.items() if name not in PARENTS}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env={**inherited, **variables}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A copy of what set-up reads, without an environment."""
    (tmp_path / "tools").mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy2(ROOT / name, tmp_path / name)
    for name in ("bootstrap.py", "environment.py", "pip_steps.py"):
        shutil.copy2(ROOT / "tools" / name, tmp_path / "tools" / name)
    return tmp_path


def fake_python(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_a_bare_make_lists_every_target_with_a_line_and_makes_nothing(bare: Path) -> None:
    before = sorted(bare.rglob("*"))
    listed = run_make(bare)
    lines = dict(re.findall(r"^  make (\S+) +(\S.*)$", listed.stdout, flags=re.MULTILINE))
    assert listed.returncode == 0 and lines.keys() == TARGETS
    assert sorted(bare.rglob("*")) == before


def test_every_listed_target_waits_for_the_environment() -> None:
    rules = dict(re.findall(r"^([a-z-]+):(.*?)(?:##.*)?$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {target for target, needs in rules.items() if "$(STAMP)" in needs.split()} == TARGETS


def test_a_name_without_a_python_behind_it_gets_one_clear_line(bare: Path) -> None:
    done = run_make(bare, "PYTHON=no-such-python", "setup")
    assert done.returncode == 2 and not (bare / ".venv").exists()
    said = [line for line in done.stderr.splitlines() if not line.startswith("make:")]
    assert len(said) == 1 and "no-such-python" in said[0] and "install Python 3.11" in said[0]


def test_shims_that_fail_when_called_are_passed_over(bare: Path, tmp_path: Path) -> None:
    shims = tmp_path / "shims"
    for name in ("python3.13", "python3.12", "python3.11"):
        fake_python(shims, name, "echo 'shim: not found' >&2; exit 127")
    fake_python(shims, "python3", 'case "$1" in -c) exit 0;; *) echo "python3 runs $1"; exit 7;; esac')
    done = run_make(bare, "setup", PATH=f"{shims}:{os.environ['PATH']}")
    assert "python3 runs tools/bootstrap.py" in done.stdout
    assert "shim" not in done.stdout + done.stderr


def test_a_ready_environment_is_used_until_it_is_moved_or_outdated_or_its_python_goes(
    bare: Path, tmp_path: Path
) -> None:
    setup = "echo setting up >&2; exit 1"
    python = fake_python(tmp_path / "pythons", "python", f'case "$1" in -c) exit 0;; *) {setup};; esac')
    inside = bare / ".venv" / "bin"
    inside.mkdir(parents=True)
    fake_python(inside, "python", "exit 0")
    stamp = bare / ".venv" / ".ready"
    stamp.write_text(f"{bare.resolve()}\ndigest\n")

    def sets_up() -> bool:
        return "setting up" in run_make(bare, f"PYTHON={python}", "setup").stderr

    assert not sets_up()
    stamp.write_text("/another/folder\ndigest\n")
    assert sets_up()
    stamp.write_text(f"{bare.resolve()}\ndigest\n")
    os.utime(bare / "requirements.lock", (stamp.stat().st_mtime + 10,) * 2)
    assert sets_up()
    os.utime(stamp, (stamp.stat().st_mtime + 20,) * 2)
    assert not sets_up()
    (inside / "python").unlink()
    assert sets_up()


def test_ci_runs_make_test_from_the_root_and_nothing_more() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = [line for line in script.read_text().splitlines() if line and not line.startswith("#")]
    assert script.read_text().startswith("#!/usr/bin/env bash\n")
    assert lines == ["set -euo pipefail", 'cd "$(dirname "${BASH_SOURCE[0]}")/.."', "make test"]
