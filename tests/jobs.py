"""What tests ask of the processes that run submissions."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil

from autograder.grading.processes import MARK


def running_in(folder: Path) -> list[int]:
    """Return the processes of jobs whose scratch folder is in this folder."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
        except (psutil.Error, OSError):
            continue
        if MARK in environment and environment.get("TMPDIR", "").startswith(str(folder)):
            found.append(process.pid)
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 90) -> None:
    """Wait until the condition holds; an assertion fails if that takes too long."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)
