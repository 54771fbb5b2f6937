"""Make .venv with the locked versions; resume, or start over, after an interruption.

A stamp in .venv says that it is ready and for what; pip's own words go to build/setup.log.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from tools.pip_steps import Step, explain, remaining_steps, torch_pin, torch_steps, unavailable

ROOT = Path(__file__).resolve().parent.parent
AGAIN = "run the same command again"
NEEDED_BYTES = 2_500_000_000


class SetupError(Exception):
    """Set-up can't go on: what is wrong, and the cure."""


def stamp_text(root: Path, lock: bytes, project: bytes, python: str) -> str:
    """Return what the stamp of a ready environment says: the folder, and a digest of all that decides its content."""
    digest = hashlib.sha256(b"\0".join((lock, project, python.encode()))).hexdigest()
    return f"{root}\n{digest}\n"


def missing_module_cure(version: tuple[int, ...]) -> str:
    """Return the line for a Python that was installed without venv or ensurepip, as Debian splits them off."""
    name = f"python{version[0]}.{version[1]}-venv"
    return (
        "this Python has no venv or no ensurepip module; on Debian and Ubuntu install them with "
        f"`apt install {name}`, elsewhere use a full Python, then {AGAIN}"
    )


class Environment:
    """The environment of one checkout (`root`): where its parts lie and in what state it is."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".venv"
        self.python = self.folder / "bin" / "python"
        self.stamp = self.folder / ".ready"
        self.busy = self.folder / ".pip-at-work"
        self.lock = root / "requirements.lock"
        self.log = root / "build" / "setup.log"

    def wanted(self) -> str:
        """Return the text of the stamp that this checkout asks for."""
        config = self.folder / "pyvenv.cfg"
        made_with = config.read_text(encoding="utf-8") if config.exists() else ""
        return stamp_text(self.root, self.lock.read_bytes(), (self.root / "pyproject.toml").read_bytes(), made_with)

    def is_ready(self) -> bool:
        """Say whether the stamp is there and says what this checkout asks for."""
        return self.works() and self.stamp.exists() and self.stamp.read_text(encoding="utf-8") == self.wanted()

    def works(self) -> bool:
        """Say whether there is a Python with pip, made in this place and not left half changed by an interruption."""
        script = self.folder / "bin" / "pip"
        if self.busy.exists() or not script.exists() or str(self.folder) not in script.read_text(encoding="utf-8"):
            return False
        check = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
        try:
            return subprocess.run([self.python, "-c", check], capture_output=True, check=False).returncode == 0
        except OSError:
            return False

    def create(self) -> None:
        """Make a new, empty environment in place of whatever lies there."""
        if find_spec("venv") is None or find_spec("ensurepip") is None:
            raise SetupError(missing_module_cure(sys.version_info[:2]))
        free = shutil.disk_usage(self.root).free
        if free < NEEDED_BYTES:
            raise SetupError(f"the disk has {free / 1e9:.1f} GB free and set-up needs 2.5; free some, then {AGAIN}")
        if self.folder.is_symlink() or self.folder.is_file():
            raise SetupError(f"{self.folder} isn't a folder; remove it, then {AGAIN}")
        say(f"Making .venv with Python {sys.version.split()[0]}")
        code, output = self.run([sys.executable, "-m", "venv", "--clear", str(self.folder)])
        if code and "ensurepip" in output:
            raise SetupError(missing_module_cure(sys.version_info[:2]))
        if code:
            raise self.failure(output)

    def run(self, command: list[str]) -> tuple[int, str]:
        """Run a command with its output appended to the log; return the exit code and what it printed."""
        self.log.parent.mkdir(exist_ok=True)
        # Settings that send packages elsewhere than into the environment, or let pip see others, are left out.
        hidden = {"PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"}
        variables = {name: value for name, value in os.environ.items() if name not in hidden}
        with self.log.open("a+b") as log:
            log.write(f"\n$ {' '.join(command)}\n".encode())
            log.flush()
            start = log.tell()
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables, cwd=self.root, check=False
            ).returncode
            log.seek(start)
            return code, log.read().decode("utf-8", errors="replace")

    def install(self, step: Step) -> tuple[bool, str]:
        """Run one step; return whether it worked and what pip printed; SetupError if pip was killed.

        A killed pip leaves a mark: the environment is half changed. A pip that only failed has undone its work.
        """
        say(step.says)
        self.busy.touch()
        pip = [str(self.python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
        code, output = self.run([*pip, "--progress-bar", "off", *step.arguments])
        if code < 0:
            raise SetupError(f"pip was stopped by signal {-code} (short of memory, perhaps); {AGAIN}")
        if "No space left" not in output:
            self.busy.unlink()
        return code == 0, output

    def has_torch(self, version: str) -> bool:
        """Say whether this version of torch is there, in whatever build."""
        code = f"from importlib.metadata import version as v; assert v('torch').split('+')[0] == {version!r}"
        return subprocess.run([self.python, "-c", code], capture_output=True, check=False).returncode == 0

    def install_first_that_works(self, steps: tuple[Step, ...]) -> None:
        """Try the steps in order until one works; raise SetupError with the last one's cause."""
        for step in steps:
            worked, output = self.install(step)
            if worked:
                return
            if not step.optional or not unavailable(output):
                raise self.failure(output)

    def failure(self, output: str) -> SetupError:
        """Return the error for a command that failed after printing `output`."""
        problem, cure = explain(output)
        return SetupError(f"{problem}; {cure}, then {AGAIN} (all details: {self.log.relative_to(self.root)})")


def say(text: str) -> None:
    """Print a line of progress at once."""
    print(text, flush=True)


def make(environment: Environment) -> None:
    """Bring the environment to what the checkout asks for, doing only what is left to do."""
    if environment.is_ready():
        environment.stamp.touch()
        return
    started = time.monotonic()
    environment.stamp.unlink(missing_ok=True)
    if not environment.works():
        if environment.folder.exists():
            say("The .venv that is there is unfinished, broken or was moved: starting over")
        environment.log.unlink(missing_ok=True)
        environment.create()
    version = torch_pin(environment.lock.read_text(encoding="utf-8"))
    if not environment.has_torch(version):
        environment.install_first_that_works(torch_steps(version, sys.platform))
    for step in remaining_steps(environment.lock, environment.root):
        environment.install_first_that_works((step,))
    environment.stamp.write_text(environment.wanted(), encoding="utf-8")
    say(f"The environment is ready after {time.monotonic() - started:.0f} s")


def main() -> int:
    """Make this checkout's environment; on failure print one line that names problem and cure."""
    try:
        make(Environment(ROOT))
    except SetupError as error:
        print(f"Set-up stopped: {error}.", file=sys.stderr)
        return 1
    except OSError as error:
        reason = "the disk is full; free about 3 GB" if error.errno == errno.ENOSPC else f"{error}; mend that"
        print(f"Set-up stopped: {reason}, then {AGAIN}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Set-up was interrupted; run the same command again.", file=sys.stderr)
        return 130
    return 0
