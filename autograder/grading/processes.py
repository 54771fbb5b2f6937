"""End every process of a job, also those that left its session: all carry the job's mark in their environment."""

from __future__ import annotations

import os

import psutil  # type: ignore[import-untyped]

MARK = "AUTOGRADER_JOB"
"""The environment variable that marks the processes of a job."""


def end_job(mark: str) -> None:
    """Kill every process that carries the mark, except this one, until none is left."""
    for _ in range(50):
        left = _marked(mark)
        for process in left:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        if not left:
            return
        psutil.wait_procs(left, timeout=0.2)


def _marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.append(process)
        except (psutil.Error, OSError):
            # Someone else's process, one that has just ended, or one that hasn't been waited for.
            continue
    return found
