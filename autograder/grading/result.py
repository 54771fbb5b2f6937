"""What grading a submission gives: one state per test cell, and only `passed` earns points."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nbformat import NotebookNode


class State(StrEnum):
    """How a test cell ended."""

    PASSED = "passed"
    FAILED = "failed"
    """An assertion said that the answer is wrong."""
    STUDENT_ERROR = "student_error"
    """The student's code raised an error, or its process died."""
    TIMEOUT = "timeout"
    """A limit on time ran out."""
    INFRA_ERROR = "infra_error"
    """The grader failed: try again, and never count this as zero."""


@dataclass(frozen=True)
class CellResult:
    """The result of one test cell; `message` is for the student."""

    grade_id: str
    state: State
    max_points: float
    message: str = ""

    @property
    def points(self) -> float:
        """The points earned."""
        return self.max_points if self.state is State.PASSED else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "grade_id": self.grade_id,
            "state": str(self.state),
            "points": self.points,
            "max_points": self.max_points,
            "message": self.message,
        }


@dataclass(frozen=True)
class Result:
    """The result of a submission: its test cells, the executed `notebook`, and what was repaired (`notes`)."""

    cells: tuple[CellResult, ...]
    notebook: NotebookNode
    seconds: float
    runner: str
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The points earned by all test cells."""
        return sum(cell.points for cell in self.cells)

    @property
    def max_score(self) -> float:
        """The points that could be earned."""
        return sum(cell.max_points for cell in self.cells)

    @property
    def is_sound(self) -> bool:
        """Whether the grader itself worked; without that there is no score."""
        return all(cell.state is not State.INFRA_ERROR for cell in self.cells)

    @property
    def states(self) -> Counter[State]:
        """How many test cells ended in each state."""
        return Counter(cell.state for cell in self.cells)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data, without the notebook."""
        return {
            "score": self.score,
            "max_score": self.max_score,
            "cells": [cell.to_json() for cell in self.cells],
            "seconds": round(self.seconds, 2),
            "runner": self.runner,
            "notes": list(self.notes),
        }
