"""Test cells that can't be checked apart: each kind is refused with its line and a cure, and the course has none."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import nbformat
import pytest

from autograder.cli import main
from autograder.course import REPOSITORY, Course
from autograder.proof.support import unsupported
from tests.mini_course import SECTION, mini_course, mini_master


def troubles(source: str) -> list[tuple[int, str, str]]:
    master = mini_master()
    cells = {cell["id"]: cell for cell in master.cells}
    cells["imports"].source = "import math, numpy as np\n\n\nclass Point:\n    pass"
    cells["double"].source = dedent(source).strip()
    return [(each.line, each.problem, each.cure) for each in unsupported(master)]


@pytest.mark.parametrize(
    ("source", "line", "problem", "cure"),
    [
        ("assert double(1) == 2\n%timeit double(1)", 2, "no plain Python", "Leave out %"),
        ("assert (await double(1)) == 2", 1, "no plain Python", "await"),
        ("x = 1\nassert np.array_equal(double(1), 2)", 2, "np is imported in another", "Import it in"),
        ("assert isinstance(double(1), Point)", 1, "Point is a class of another cell", "return plain data"),
        ("get_ipython().run_line_magic('x', '')", 1, "get_ipython belongs to the notebook's shell", "Test values"),
        ("assert 'double' in In[-1]", 1, "In belongs to the notebook's shell", "Test values"),
        ("assert double.__code__.co_argcount == 1", 1, "it looks inside double", "Test what it returns"),
        ("import inspect\nassert 'for' in inspect.getsource(double)", 2, "it looks inside a function", "returns"),
        ("assert double(lambda: 1) == 2", 1, "hands a function or a generator to double", "plain data"),
        ("def f(x):\n    return x\nassert double(number=f) == 2", 3, "hands a function or a generator", "plain data"),
        ("f = lambda x: x\nassert double(f) == 2", 2, "hands a function or a generator", "plain data"),
        ("assert double(x for x in range(3)) == 2", 1, "hands a function or a generator", "plain data"),
        ("seven_squared_minus_42[0] = 5", 1, "changes a copy: the student's own seven_squared_minus_42", "Compare"),
        ("double.calls = 0\nassert double(2) == 4", 1, "changes a copy: the student's own double", "Compare"),
        ("import math\nmath.pow = None\nassert double(2) == 4", 2, "it changes math here", "Test what functions"),
        ("from unittest.mock import patch\nassert double(2) == 4", 1, "catches or replaces", "Test what functions"),
        ("from contextlib import redirect_stdout as r\nassert double(2) == 4", 1, "catches or replaces", "Test what"),
    ],
)
def test_what_cannot_be_checked_apart_is_named(source: str, line: int, problem: str, cure: str) -> None:
    found = troubles(source)
    assert any(each[0] == line and problem in each[1] and cure in each[2] for each in found), found


@pytest.mark.parametrize(
    "source",
    [
        """
        import inspect, math
        import numpy as np
        class Own: pass
        def helper(x): return double(x) + helper.__name__.count("x")
        values = [double(x) for x in range(3)]
        values[0] = helper(1)
        Own.mark = lambda: 1
        assert sorted(values, key=lambda x: -x) and np.all(map(helper, values))
        inspect.getsource(Own)
        try:
            double("x")
        except TypeError as error:
            assert error.args
        """,
        "assert seven_squared_minus_42.bit_length() == 3, double(2)",
    ],
)
def test_ordinary_tests_are_supported(source: str) -> None:
    assert troubles(source) == []


def test_the_course_has_none() -> None:
    course = Course.at(REPOSITORY)
    assert {section: unsupported(course.master(section)) for section in course.sections} == dict.fromkeys(
        course.sections, ()
    )


@pytest.mark.slow
def test_verify_and_release_refuse_with_exercise_line_and_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = mini_course(tmp_path)
    master = mini_master()
    (cell,) = (each for each in master.cells if each["id"] == "double")
    cell.source += "\nassert double.__doc__"
    nbformat.write(master, course.master_path(SECTION))
    line = len(cell.source.splitlines())
    for command in ("verify", "release"):
        assert main([command, "--course", str(tmp_path)]) in (1, 2)
        said = capsys.readouterr().err
        assert f"test cell 'double', line {line} (assert double.__doc__): it looks inside double" in said, command
        assert "→ Test what it returns" in said
    assert not (tmp_path / "release").exists()
