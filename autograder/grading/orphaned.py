"""What a worker becomes when the grader was killed: a process that takes away all that the job would leave behind.

It is a new program in the same process, so none of the worker's threads goes on: it would take the death of its
kernel for the student's doing, and fill the folder again that is being taken away.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from autograder.grading import scratch as scratch_folder
from autograder.grading.processes import MARK, end_job
from autograder.sealed.groups import sweep


def become(scratch: Path) -> NoReturn:
    """Become this program, which removes the scratch folder of the job whose mark is in the environment."""
    environment = {**os.environ, "PYTHONPATH": scratch_folder.python_path(os.environ)}
    os.execve(sys.executable, [sys.executable, "-m", __name__, str(scratch)], environment)


def main() -> int:
    """End the job's processes, then remove its folder and its control groups."""
    os.chdir("/")
    if MARK in os.environ:
        end_job(os.environ[MARK])
    scratch_folder.remove(Path(sys.argv[1]))
    sweep()
    return 0


if __name__ == "__main__":
    sys.exit(main())
