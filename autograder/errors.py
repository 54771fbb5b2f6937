"""What goes wrong in a way that a person can cure, and the exit codes that say so."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every `autograder` command."""

    OK = 0
    PROBLEMS = 1
    """The command finished, but something was refused, failed or left undone; the report names it."""
    USAGE = 2
    """The call or the course folder is wrong; nothing was done."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C; what was finished before is kept."""


class CourseError(Exception):
    """A problem with a cure: `problem` says what is wrong and with which file, `cure` what to do."""

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(f"{problem}\n  → {cure}")
        self.problem = problem
        self.cure = cure
