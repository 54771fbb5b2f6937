"""The scratch folder of a run, and the environment of the processes that work in it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from autograder.course import REPOSITORY
from numfmt.variants import STORE

_PREFIX = "autograder-run-"
_MAKER = "maker"
"""The file in a scratch folder that says which process made it."""

_LONGEST_FOLDER = 50
"""Characters; the path of a socket may have about 100."""

_PATIENCE = 5.0
"""Seconds for killed processes to be gone."""

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PYTHONPATH")
_CACHES = ("XDG_CACHE_HOME", "MPLCONFIGDIR")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def new_folder() -> TemporaryDirectory[str]:
    """Return a folder that goes when it is left: in the usual place, unless paths of sockets would be too long."""
    made = TemporaryDirectory(prefix=_PREFIX, dir=_place(), ignore_cleanup_errors=True)
    Path(made.name, _MAKER).write_text(_identity(os.getpid()) or "")
    return made


def sweep() -> None:
    """Remove the folders of processes of this user that were killed before they could do it themselves."""
    for folder in Path(_place()).glob(f"{_PREFIX}*"):
        try:
            maker = (folder / _MAKER).read_text()
            is_ours = folder.stat().st_uid == os.geteuid()
        except OSError:
            continue
        process, _, _ = maker.partition(" ")
        # Another namespace's processes can't be seen from here, nor on a system without /proc.
        if is_ours and maker.endswith(_namespace() or "?") and _identity(int(process)) != maker:
            remove(folder)


def _place() -> str:
    return gettempdir() if len(gettempdir()) <= _LONGEST_FOLDER else "/tmp"


def _identity(process: int) -> str | None:
    """Return what tells a process from all others, later ones with its number too; None if it is gone."""
    try:
        started = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None
    return f"{process} {started} {_namespace()}"


def _namespace() -> str | None:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None


def fill(scratch: Path, folder: Path | None = None, code: str = "") -> None:
    """Make the folders of a run, and in two of them copies of the files that ship from the section's `folder`.

    With a student's code for variants, that is there too.
    """
    for inside in ("work", "check", "ipc", "tmp", "ipython", "jupyter"):
        (scratch / inside).mkdir()
    if code:
        for inside in ("work", "check"):
            (scratch / inside / STORE).write_text(code, encoding="ascii")
    if folder is None:
        return
    for path in shipped(folder):
        for inside in ("work", "check"):  # the checker's copies are out of the student's reach
            to = scratch / inside / path.relative_to(folder)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)


def shipped(folder: Path) -> tuple[Path, ...]:
    """Return the files in a section's folder that ship beside its notebook."""
    from autograder.releasing.generate import SHIPPED  # with all of nbgrader, which a worker doesn't need

    return tuple(
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(fnmatch(path.name, pattern) for pattern in SHIPPED)
    )


def clear(scratch: Path) -> None:
    """Take away what a kernel has left where it may write, and put back the files that ship."""
    for inside in ("work", "tmp", "ipython"):
        shutil.rmtree(scratch / inside, ignore_errors=True)
        (scratch / inside).mkdir(exist_ok=True)
    shutil.copytree(scratch / "check", scratch / "work", dirs_exist_ok=True)


def remove(folder: Path) -> None:
    """Remove a scratch folder; as long as a dying process still writes to it, again."""
    end = time.monotonic() + _PATIENCE
    while folder.exists() and time.monotonic() < end:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.01)


def environment(scratch: Path) -> dict[str, str]:
    """Return the environment of a run: no secrets, no user configuration, one thread."""
    jupyter = {f"JUPYTER_{each}_DIR": str(scratch / "jupyter") for each in ("CONFIG", "DATA", "RUNTIME")}
    return {
        **{name: os.environ[name] for name in (*_PASSED_ON, *_CACHES) if name in os.environ},
        **dict.fromkeys(_ONE_THREAD, "1"),
        **jupyter,
        "IPYTHONDIR": str(scratch / "ipython"),
        "TMPDIR": str(scratch / "tmp"),
        "MPLBACKEND": "Agg",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        # The same grade every time, also for code that depends on the order of a set.
        "PYTHONHASHSEED": "0",
    }


def python_path(environment: Mapping[str, str]) -> str:
    """Return the PYTHONPATH of our own processes: they must find this package, whatever is installed."""
    return os.pathsep.join([str(REPOSITORY), *filter(None, [environment.get("PYTHONPATH")])])
