"""Rewrite the lock files from the ranges in pyproject.toml: `make lock`, with LOCK_ARGS=--upgrade for new versions.

requirements.lock holds all that development needs, binder/course.lock the student's part of it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {"dev": ROOT / "requirements.lock", "course": ROOT / "binder" / "course.lock"}
PROJECT = "numfmt-course"

# pip-compile sees only the system it runs on; these are what the locked packages want on the others.
ELSEWHERE = {
    "appnope": 'appnope==0.1.4 ; sys_platform == "darwin"',
    "colorama": 'colorama==0.4.6 ; sys_platform == "win32"',
    "pywin32": 'pywin32==311 ; sys_platform == "win32"',
    "pywinpty": 'pywinpty==3.1.2 ; sys_platform == "win32"',
}
SYSTEMS = tuple(
    {
        "sys_platform": name, "platform_system": system, "os_name": "nt" if name == "win32" else "posix",
        "python_version": python, "python_full_version": f"{python}.1", "platform_python_implementation": "CPython",
        "implementation_name": "cpython", "platform_machine": "x86_64",
    }
    for name, system in (("linux", "Linux"), ("darwin", "Darwin"), ("win32", "Windows"))
    for python in ("3.11", "3.12", "3.13")
)  # fmt: skip


def tidy(compiled: str) -> list[str]:
    """Return the pins in pip-compile's output, without comments, local version tags and the project itself."""
    pins = (line.strip() for line in compiled.splitlines())
    kept = (pin for pin in pins if pin and not pin.startswith(("#", "-")) and not pin.startswith(PROJECT))
    return [pin.split("+")[0] for pin in kept]


def names(pins: Iterable[str]) -> set[str]:
    """Return the normalized names of the packages that the pins are for."""
    return {canonicalize_name(Requirement(pin).name) for pin in pins}


def wanted_by(name: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what an installed package with these extras needs on any system: normalized names and their extras."""
    for line in requires(name) or ():
        requirement = Requirement(line)
        environments = ({**system, "extra": extra} for system in SYSTEMS for extra in (*extras, ""))
        if requirement.marker is None or any(requirement.marker.evaluate(each) for each in environments):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def wanted_anywhere(extra: str) -> set[str]:
    """Return the names of all packages that the project with this extra needs on some system (installed metadata)."""
    todo = [(PROJECT, frozenset({extra}))]
    seen = set(todo)
    while todo:
        name, extras = todo.pop()
        try:
            found = set(wanted_by(name, extras))
        except PackageNotFoundError:
            continue  # one for another system: nothing here knows what it needs in turn
        todo += found - seen
        seen |= found
    return {name for name, _ in seen} - {PROJECT, "pip"}


def lock(extra: str, arguments: list[str]) -> None:
    """Write the lock file of one extra; the student's takes its versions from the other."""
    target = LOCKS[extra]
    scratch = ROOT / "build" / f"{extra}.lock"
    scratch.parent.mkdir(exist_ok=True)
    scratch.write_bytes(target.read_bytes() if target.exists() else b"")
    command = [sys.executable, "-m", "piptools", "compile", "--quiet", "--extra", extra]
    command += ["--output-file", str(scratch), "--strip-extras", "--unsafe-package", "pip"]
    command += ["--no-header", "--no-annotate", "--no-emit-options"]
    command += ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host"]
    command += [] if extra == "dev" else ["--constraint", str(LOCKS["dev"])]
    subprocess.run([*command, *arguments, "pyproject.toml"], cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    pins = tidy(scratch.read_text(encoding="utf-8"))
    pins += [ELSEWHERE[name] for name in wanted_anywhere(extra) & ELSEWHERE.keys() - names(pins)]
    target.write_text("\n".join(sorted(pins, key=str.lower)) + "\n", encoding="utf-8")
    print(f"{target.relative_to(ROOT)}: {len(pins)} packages", flush=True)


def main(arguments: list[str]) -> int:
    """Rewrite both lock files; `arguments` go to pip-compile."""
    for extra in LOCKS:
        try:
            lock(extra, arguments)
        except subprocess.CalledProcessError as error:
            print(f"pip-compile failed; to see why, run: {' '.join(error.cmd)}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
