"""The figures of the class report, as SVG that needs no script and no font of its own."""

from __future__ import annotations

import io
import math

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from autograder.grading.result import State
from autograder.reporting.results import SectionResults

_COLOURS = {
    State.PASSED: "#4c9f70",
    State.FAILED: "#d1603d",
    State.STUDENT_ERROR: "#8c5383",
    State.TIMEOUT: "#e0b040",
    State.INFRA_ERROR: "#999999",
}
WORDS = {
    State.PASSED: "solved",
    State.FAILED: "wrong answer",
    State.STUDENT_ERROR: "error in the code",
    State.TIMEOUT: "timeout",
    State.INFRA_ERROR: "not graded",
}
"""How the report calls the states."""

_MOST_BARS = 30


def distribution(results: SectionResults) -> str:
    """Draw how many students have which score."""
    width = max(1, math.ceil(results.max_score / _MOST_BARS))
    edges = [each * width - 0.5 for each in range(int(results.max_score // width) + 2)]
    figure = Figure((7, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.hist([min(score, edges[-1] - 0.5) for score in results.scores], edges, color="#3b6ea5", rwidth=0.9)
    axes.set_xlabel(f"points of {results.max_score:g}")
    axes.set_ylabel("students")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    return _svg(figure)


def exercises(results: SectionResults) -> str:
    """Draw how the test cells of each exercise ended, the hardest exercise on top."""
    names = results.hardest[::-1]
    figure = Figure((7, 0.8 + 0.28 * len(names)), layout="constrained")
    axes = figure.subplots()
    left = [0] * len(names)
    for state, colour in _COLOURS.items():
        counts = [results.states[name][state] for name in names]
        if any(counts):
            axes.barh(names, counts, left=left, color=colour, label=WORDS[state])
            left = [one + more for one, more in zip(left, counts, strict=True)]
    axes.set_xlabel("students")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper right", ncols=5, frameon=False, fontsize="small")
    return _svg(figure)


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    with rc_context({"svg.hashsalt": "report", "svg.fonttype": "path"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
