"""A course of one tiny section with two exercises, for tests that need no lecture."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.course import Course

SECTION = "01_mini"

CATALOGUE = """
[seven]
[[seven.wrong]]
name = "eight"
hint = "Eight is one too many."
answer = '''
seven_squared_minus_42 = 8
'''

[double]
[[double.wrong]]
name = "adds_two"
hint = "You added two; doubling multiplies by two."
answer = '''
def double(number):
    return number + 2
'''
"""


def cell(kind: str, grade_id: str, source: str, points: float = 0) -> NotebookNode:
    """Return an nbgrader cell; `kind` is "solution" or "tests"."""
    metadata: dict[str, Any] = {
        "cell_type": "code",
        "grade": kind == "tests",
        "grade_id": grade_id,
        "locked": kind == "tests",
        "schema_version": 3,
        "solution": kind == "solution",
        "task": False,
    }
    if kind == "tests":
        metadata["points"] = points
    node = new_code_cell(dedent(source).strip(), metadata={"nbgrader": metadata})
    node["id"] = grade_id
    return node


def text(name: str, source: str, code: bool = False) -> NotebookNode:
    """Return a cell without a grade."""
    node = new_code_cell(source) if code else new_markdown_cell(source)
    node["id"] = name
    return node


def mini_master() -> NotebookNode:
    """Return the master: an import cell, a value exercise (1 point), a function exercise (2 points)."""
    notebook = new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
            "language_info": {"name": "python"},
        },
        cells=[
            text("title", "# A tiny section"),
            text("imports", "import math", code=True),
            text("ask-seven", "**Exercise 1.** What is seven squared minus 42?"),
            cell(
                "solution",
                "seven_solution",
                """
                seven_squared_minus_42 = None
                ### BEGIN SOLUTION
                seven_squared_minus_42 = int(math.pow(7, 2)) - 42
                ### END SOLUTION
                """,
            ),
            cell(
                "tests",
                "seven",
                """
                assert seven_squared_minus_42 is not None, "Replace None by your answer."
                assert seven_squared_minus_42 != 8, "Eight is one too many."
                ### BEGIN HIDDEN TESTS
                assert seven_squared_minus_42 * 1000 == 7_000
                ### END HIDDEN TESTS
                """,
                points=1,
            ),
            text("ask-double", "**Exercise 2.** Write `double(number)`."),
            cell(
                "solution",
                "double_solution",
                '''
                def double(number):
                    """Return twice the number."""
                    ### BEGIN SOLUTION
                    return sum([number, number])
                    ### END SOLUTION
                ''',
            ),
            cell(
                "tests",
                "double",
                """
                assert double(0) is not None, "double returns None."
                assert double(5) != 7, "You added two; doubling multiplies by two."
                ### BEGIN HIDDEN TESTS
                assert double(2**70) == 2**71, "double fails on a large number"
                ### END HIDDEN TESTS
                """,
                points=2,
            ),
            text("end", "That was all."),
        ],
    )
    nbformat.validate(notebook)
    return notebook


def mini_course(root: Path) -> Course:
    """Write the mini course into `root` and open it."""
    folder = root / "notebooks" / SECTION
    folder.mkdir(parents=True)
    nbformat.write(mini_master(), folder / f"{SECTION}.ipynb")
    (folder / f"{SECTION}.md").write_text("# A tiny section\n\nreturn sum([number, number])\n", encoding="utf-8")
    (folder / "wrong_answers.toml").write_text(CATALOGUE, encoding="utf-8")
    (folder / "checks.json").write_text(json.dumps({"schema": 1, "exercises": {}}), encoding="utf-8")
    return Course.at(root)


def answered(seven: str | None = "seven_squared_minus_42 = 7", double: str | None = None) -> NotebookNode:
    """Return a submission of the mini section: the released notebook with these solution cells (None: the stub)."""
    notebook = mini_master()
    stubs = {
        "seven_solution": "seven_squared_minus_42 = None\n# YOUR CODE HERE\n...",
        "double_solution": 'def double(number):\n    """Return twice the number."""\n    # YOUR CODE HERE\n    ...',
    }
    answers = {"seven_solution": seven, "double_solution": double}
    for node in notebook.cells:
        if node["id"] in stubs:
            node.source = answers[node["id"]] or stubs[node["id"]]
        elif "BEGIN HIDDEN TESTS" in node.source:
            node.source = node.source.split("### BEGIN HIDDEN TESTS")[0].rstrip()
    return notebook
