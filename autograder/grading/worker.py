"""The process in which a submission runs: `python -m autograder.grading.worker`, request and answer as JSON.

It is started by `autograder.grading.plain`, runs the notebook with nbclient, and ends with its kernel.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.grading import orphaned
from autograder.grading.running import Outcome
from autograder.limits import Limits


def main() -> int:
    """Read the request from standard input, run the notebook, and write the answer to standard output."""
    # The kernel inherits file descriptors 0, 1 and 2: it must not be able to write into the answer.
    answer = os.fdopen(os.dup(1), "wb")
    request = json.loads(sys.stdin.buffer.read())
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    scratch, grader = Path(request["scratch"]), Grader(request["grader"])
    threading.Thread(target=_end_with, args=(grader, scratch), daemon=True).start()
    try:
        reply = asyncio.run(_run(request, scratch))
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    with answer:
        answer.write(json.dumps(reply, default=str).encode())
    if grader.has_ended():
        orphaned.become(scratch)
    return 0


async def _run(request: dict[str, Any], scratch: Path) -> dict[str, Any]:
    from autograder.grading.kernel import execute

    notebook: NotebookNode = nbformat.from_dict(request["notebook"])
    outcomes: dict[str, Outcome] = await execute(
        notebook, Limits(**request["limits"]), scratch, request["environment"], request["sealed"], request["server"]
    )
    return {"notebook": notebook, "outcomes": {name: asdict(outcome) for name, outcome in outcomes.items()}}


class Grader:
    """The process that waits for the answer; it isn't our parent when a fork server is."""

    def __init__(self, process: int) -> None:
        self._parent, self._pidfd = os.getppid(), -1
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(ProcessLookupError):
                self._pidfd = os.pidfd_open(process)

    def has_ended(self) -> bool:
        """Say whether it is gone, so that nobody takes our answer, or cleans up after us."""
        if hasattr(os, "pidfd_open"):
            return self._pidfd < 0 or bool(select.select([self._pidfd], [], [], 0)[0])
        return os.getppid() != self._parent


def _end_with(grader: Grader, scratch: Path) -> None:
    while not grader.has_ended():
        time.sleep(0.5)
    orphaned.become(scratch)


if __name__ == "__main__":
    sys.exit(main())
