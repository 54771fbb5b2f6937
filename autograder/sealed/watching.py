"""Watch what a sandbox takes of memory and disk, which no limit of a single process bounds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.limits import Limits, size
from autograder.sealed.groups import Group
from autograder.sealed.isolation import WRITABLE

_PAGE = os.sysconf("SC_PAGE_SIZE")


def excess(init: int, folder: Path, limits: Limits, group: Group | None) -> str | None:
    """Say which limit the processes in the namespace of process `init`, and the files that they wrote, go beyond.

    None if they keep to all; also when the sandbox is gone. Where a control group counts memory, that is asked.
    """
    if group.was_too_small() if group else _memory_exceeds(init, limits.memory_bytes):
        return too_much_memory(limits)
    files, written = _written(folder, limits.files)
    if written > limits.disk_bytes:
        return f"it wrote more than {size(limits.disk_bytes)} of files"
    if files > limits.files:
        return f"it made more than {limits.files:,} files"
    return None


def too_much_memory(limits: Limits) -> str:
    """Say that a sandbox took too much memory."""
    return f"it took more than {size(limits.memory_bytes)} of memory"


def _memory_exceeds(init: int, most: int) -> bool:
    processes = tuple(_inside(init))
    # Resident pages that several processes share count for each of them at first; looking closer takes longer.
    return sum(map(_resident, processes)) > most and sum(map(_own_share, processes)) > most


def _inside(init: int) -> Iterator[int]:
    try:
        namespace = os.readlink(f"/proc/{init}/ns/pid")
    except OSError:
        return
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/ns/pid") == namespace:
                yield int(name)
        except OSError:
            continue  # it ended meanwhile, or is nobody's business


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _own_share(process: int) -> int:
    """Return the bytes of a process, those that it shares divided by the number of those who share them."""
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return _resident(process)
    return int(found[1]) * 1024 if found else 0


def _written(folder: Path, most: int) -> tuple[int, int]:
    """Return how many files there are and how many bytes they take; when there are very many, it stops counting."""
    files, total = 0, 0
    waiting = [folder / name for name in WRITABLE]
    while waiting and files <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    if files > most:
                        break
        except OSError:
            continue
    return files, total
