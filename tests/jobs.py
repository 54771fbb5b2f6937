"""What tests ask of the processes that run submissions."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil

from autograder.grading.processes import MARK
from autograder.sealed.groups import find_place


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


def abandoned_groups() -> list[Path]:
    """Return the control groups whose makers have ended: others may be grading at the same time."""
    place = find_place()
    groups = place.glob("autograder-*") if place else ()
    return [path for path in groups if not psutil.pid_exists(int(path.name.split("-")[1]))]


def wait_for(condition: Callable[[], bool], seconds: float = 90) -> None:
    """Wait until the condition holds; an assertion fails if that takes too long."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)
