"""What a runner is: it takes a rebuilt notebook and limits, says what became of each code cell, and never judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from nbformat import NotebookNode

from autograder.limits import Limits


class Status(StrEnum):
    """What became of a code cell."""

    OK = "ok"
    """This very cell ran to its end, and the kernel said so in its reply."""
    ERROR = "error"
    TIMEOUT = "timeout"
    NOT_RUN = "not_run"


@dataclass(frozen=True)
class Outcome:
    """What became of a code cell; for an error its class name, its text and, if known, the line of the cell."""

    status: Status
    ename: str = ""
    evalue: str = ""
    line: int | None = None
    is_cut: bool = False
    """Whether its output was more than is kept."""


KERNEL_DIED = "KernelDied"
"""The `ename` of the outcome of a cell during which the kernel's process ended."""

NOTEBOOK_TIMEOUT = "NotebookTimeout"
"""The `ename` of a timeout that is due to the limit of the whole notebook."""


@dataclass(frozen=True)
class Run:
    """A run: the executed notebook, of which only outputs are used, and the outcome of each cell by cell id."""

    notebook: NotebookNode
    outcomes: Mapping[str, Outcome]


class RunnerError(Exception):
    """The runner itself failed, so nothing is known about the answers."""


class Interrupted(Exception):
    """The run was called off."""


class Runner(Protocol):
    """Runs a rebuilt notebook."""

    @property
    def name(self) -> str:
        """How results name this runner."""

    def __call__(self, notebook: NotebookNode, limits: Limits) -> Run:
        """Run every code cell in order; raise RunnerError only if the run as a whole failed."""
