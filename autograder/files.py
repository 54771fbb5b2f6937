"""Writing files and folders so that each is there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to `path` and make its folder; an interruption leaves what was there before, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The leading dot and the odd ending keep it out of every glob for notebooks, should the machine go down here.
    scratch = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    try:
        with scratch.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `path` and of all in it, unless the body raises an exception."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new, old = (path.with_name(f".{path.name}.{role}") for role in ("new", "old"))
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    try:
        new.mkdir()
        yield new
        if path.exists():
            path.rename(old)
        new.rename(path)
    finally:
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)
