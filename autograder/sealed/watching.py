"""Watch what a sandbox takes of memory and disk, which no limit of a single process bounds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.sealed.isolation import WRITABLE, Walls

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_FILES = 10_000


def excess(init: int, folder: Path, walls: Walls) -> str | None:
    """Say which limit the processes in the namespace of process `init`, and the files that they wrote, go beyond.

    None if they keep to all; also when the sandbox is gone.
    """
    processes = tuple(_inside(init))
    # Resident pages that several processes share count for each of them at first; looking closer takes longer.
    if sum(map(_resident, processes)) > walls.memory_bytes and sum(map(_own_share, processes)) > walls.memory_bytes:
        return f"it took more than {size(walls.memory_bytes)} of memory"
    files, written = _written(folder)
    if written > walls.disk_bytes:
        return f"it wrote more than {size(walls.disk_bytes)} of files"
    if files > _MOST_FILES:
        return f"it made more than {_MOST_FILES:,} files"
    return None


def size(number: int) -> str:
    """Return a number of bytes in words, such as 2 GiB."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if number >= factor:
            return f"{number / factor:.3g} {unit}"
    return f"{number} bytes"


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


def _written(folder: Path) -> tuple[int, int]:
    """Return how many files there are and how many bytes they take; when there are very many, it stops counting."""
    files, total = 0, 0
    waiting = [folder / name for name in WRITABLE]
    while waiting and files <= _MOST_FILES:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    if files > _MOST_FILES:
                        break
        except OSError:
            continue
    return files, total
