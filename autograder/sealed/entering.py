"""Enter a sandbox that bubblewrap has made, give up every right, and be sure of it: for a process that was forked.

What bubblewrap, `prlimit` and `setpriv` do before they start a kernel (see `isolation`) is done here by the process
itself, for a forked one never runs them.
"""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path
from typing import Any

from autograder.limits import OPEN_FILES, Limits
from autograder.sealed import seccomp

_LIBC = ctypes.CDLL(None, use_errno=True)
_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWPID and NEWNET."""

_NEW_USER = 0x10000000
_DUMPABLE, _BOUNDING_DROP, _SUBREAPER, _NO_NEW_PRIVS, _AMBIENT, _AMBIENT_CLEAR = 4, 24, 36, 38, 47, 4
_CAPABILITIES_VERSION = 0x20080522


class Doubt(Exception):
    """The process has more rights than it should have: it must not run anything."""


def adopt_orphans() -> None:
    """Become the parent of processes whose parents, our descendants, end before them."""
    _call("prctl", _SUBREAPER, 1, 0, 0, 0)


def enter(sandbox: int) -> None:
    """Enter the namespaces of a process, given by its pidfd; children are born there. OSError if that can't be."""
    as_root = os.geteuid() == 0
    _call("setns", sandbox, _NAMESPACES if as_root else _NAMESPACES | _NEW_USER)


def give_up_rights(uid: int, limits: Limits, rules: bytes) -> None:
    """Become an unprivileged user with limits and a filter, for good; OSError or Doubt if that didn't work."""
    os.setsid()
    os.umask(0o022)
    most = {"NPROC": limits.processes, "FSIZE": limits.file_bytes, "CORE": 0, "NOFILE": OPEN_FILES}
    for name, value in most.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    _call("prctl", _AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    for capability in range(int(Path("/proc/sys/kernel/cap_last_cap").read_text()) + 1):
        _call("prctl", _BOUNDING_DROP, capability, 0, 0, 0)
    if os.getuid() != uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", _DUMPABLE, 1, 0, 0, 0)  # or its files in /proc would belong to root
    seccomp.put_on(rules)
    _check(uid)


def _check(uid: int) -> None:
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    rights = [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
    if any(rights) or status["NoNewPrivs"] != "1" or uid == 0 or set(os.getresuid()) != {uid} or 0 in os.getresgid():
        raise Doubt("a forked process kept rights that it should have lost")
    if status["Seccomp"] != "2":
        raise Doubt("a forked process has no filter of system calls")
    if status["Threads"] != "1" or int(status["Pid"]) != os.getpid():
        raise Doubt("a forked process isn't alone, or not where it should be")


def _call(name: str, *arguments: Any) -> None:
    words = [ctypes.c_ulong(each) if isinstance(each, int) and name == "prctl" else each for each in arguments]
    if getattr(_LIBC, name)(*words) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
