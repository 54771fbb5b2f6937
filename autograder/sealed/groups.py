"""A control group for a sandbox, where this machine lets us make one: it counts memory that no process owns, too.

Both versions of control groups are known. In version 2 a group may have groups within it that count memory only if it
says so in `cgroup.subtree_control`; in version 1 there is a tree for memory alone.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "autograder-"
_PATIENCE = 2.0
"""Seconds for the kernel to take the last process out of a group."""


@dataclass(frozen=True)
class Group:
    """A group of processes that may take so much memory together; the kernel ends one of them when they take more."""

    folder: Path

    @classmethod
    def of_memory(cls, most: int) -> Group | None:
        """Return a new group whose processes may take `most` bytes; None if there can't be any here."""
        place = find_place()
        return None if place is None else cls._made(place, most)

    @classmethod
    def _made(cls, place: Path, most: int) -> Group | None:
        folder = place / f"{_PREFIX}{os.getpid()}-{uuid.uuid4().hex[:8]}"
        try:
            folder.mkdir()
        except OSError:
            return None
        group = cls(folder)
        try:
            if (folder / "memory.max").exists():
                (folder / "memory.max").write_text(str(most))
                (folder / "memory.oom.group").write_text("1")
                _write_if_there(folder / "memory.swap.max", 0)
            else:
                (folder / "memory.limit_in_bytes").write_text(str(most))
                _write_if_there(folder / "memory.memsw.limit_in_bytes", most)
        except OSError:
            group.remove()
            return None
        return group

    @property
    def door(self) -> str:
        """The file to write a process's number to so that it belongs to the group."""
        return str(self.folder / "cgroup.procs")

    def entrance(self) -> list[str]:
        """Return the words to put before a command so that it runs in the group from the start."""
        return ["sh", "-c", 'echo 0 > "$0" && exec "$@"', self.door]

    def was_too_small(self) -> bool:
        """Say whether a process was ended since the group had no more memory."""
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                lines = (self.folder / name).read_text().splitlines()
                return any(line.startswith("oom_kill ") and line.split()[1] != "0" for line in lines)
        return False

    def remove(self) -> None:
        """Take the group away when its processes have ended; harmless when that has been done."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                self.folder.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                if time.monotonic() > end:
                    return
                time.sleep(0.02)


def sweep() -> None:
    """Take away the groups of this process, and of processes that were killed before they could do it."""
    place = find_place()
    for folder in place.glob(f"{_PREFIX}*") if place else ():
        maker = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if maker == str(os.getpid()) or not Path("/proc", maker).exists():
            Group(folder).remove()


@cache
def find_place() -> Path | None:
    """Return the folder in which groups that count memory can be made; None if there is none."""
    for place in _places():
        group = Group._made(place, 2**30)
        if group is not None:
            group.remove()
            return place
    return None


def _places() -> Iterator[Path]:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, own = line.split(":", 2)
        if controllers == "" and (_ROOT / "cgroup.controllers").exists():
            tree = _ROOT
        elif "memory" in controllers.split(","):
            tree = _ROOT / controllers
        else:
            continue
        path = tree / own.lstrip("/")
        # In a container our own group may stand where the tree begins.
        yield from (each for each in (path, *path.parents) if each.is_relative_to(tree) and each.is_dir())


def _write_if_there(path: Path, value: int) -> None:
    if path.exists():
        path.write_text(str(value))
