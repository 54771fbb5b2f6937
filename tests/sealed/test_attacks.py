"""Attacks on the marks: each submission has every answer wrong and tries to earn points all the same."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.grading.plain import PlainRunner
from autograder.grading.result import Result, State
from autograder.grading.seam import grade
from autograder.limits import Limits
from tests.mini_course import answered, mini_master

pytestmark = pytest.mark.slow

WRONG = {"seven": "seven_squared_minus_42 = 8", "double": "def double(number):\n    return number + 2"}

FIRST_CELL = {
    "an input transformer that blanks cells": """
        get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])
        get_ipython().input_transformers_post.append(lambda lines: ['pass\\n'])""",
    "an AST transformer that drops assert": """
        import ast
        class Drop(ast.NodeTransformer):
            def visit_Assert(self, node): return ast.Pass()
        get_ipython().ast_transformers.append(Drop())""",
    "a patched run_cell": """
        async def run(*args, **kwargs):
            from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult
            return ExecutionResult(ExecutionInfo('', False, False, False, ''))
        get_ipython().run_cell_async = run""",
    "a patched execute_reply": """
        kernel = get_ipython().kernel
        genuine = kernel.session.send
        def send(stream, kind, content=None, **rest):
            if kind == 'execute_reply':
                content = {'status': 'ok', 'execution_count': 1, 'user_expressions': {}, 'payload': []}
            return genuine(stream, kind, content, **rest)
        kernel.session.send = send""",
    "patched builtins and libraries": """
        import builtins, math, numpy.testing
        builtins.AssertionError = type('Nothing', (Exception,), {})
        builtins.int = builtins.abs = builtins.isinstance = lambda *a: True
        math.isclose = numpy.testing.assert_allclose = lambda *a, **k: True""",
    "a silenced traceback": """
        get_ipython().showtraceback = lambda *a, **k: None
        get_ipython().set_custom_exc((Exception,), lambda *a, **k: None)""",
    "a patched check": """
        import numfmt.checks
        numfmt.checks.check = lambda *a, **k: None""",
    "a helper name that is shadowed": "check = print = len = range = lambda *a, **k: 1",
    "frames and settrace": """
        import sys, threading
        sys.settrace(lambda *a: None); threading.settrace(lambda *a: None)""",
}

ANSWERS = {
    "an impostor that equals everything": {
        "seven": """
            class Yes(int):
                def __eq__(self, other): return True
                def __ne__(self, other): return False
                __hash__ = int.__hash__
            seven_squared_minus_42 = Yes(8)""",
        "double": """
            class Any:
                def __eq__(self, other): return True
            def double(number): return Any()""",
    },
    "an object that turns into the answer": {
        "seven": """
            class Late:
                def __init__(self): self.asked = 0
                def __eq__(self, other): self.seen = other; return True
                def __array__(self, *a): return [7]
                def __bool__(self): return True
            seven_squared_minus_42 = Late()""",
    },
    "displayhook inside the function": {
        "double": """
            def double(number):
                get_ipython().displayhook(5.0)
                import sys; sys.displayhook(5.0)
                return number + 2""",
    },
    "a pickle for an answer": {
        "seven": """
            import numpy as np
            class Evil:
                def __reduce__(self): return (exec, ('raise SystemExit(0)',))
            seven_squared_minus_42 = np.array([Evil()], dtype=object)""",
    },
    "an exit that looks like success": {
        "double": """
            def double(number):
                raise SystemExit(0)""",
    },
    "the test's own frame": {
        "double": """
            def double(number):
                import sys
                frame = sys._getframe()
                while frame:
                    for name in ('expected', 'double'):
                        frame.f_globals[name] = lambda *a: None
                    frame = frame.f_back
                return number + 2""",
    },
    "an exception that the tests expect": {
        "double": """
            def double(number):
                raise AssertionError('')""",
    },
}


def submission(answers: dict[str, str], first: str = "") -> NotebookNode:
    notebook = answered(**{name: dedent(text).strip() for name, text in (WRONG | answers).items()})
    if first:
        cell = new_code_cell(dedent(first).strip())
        cell["id"] = "attack"
        notebook.cells.insert(0, cell)
    return notebook


def graded(notebook: NotebookNode) -> Result:
    return grade(mini_master(), notebook, PlainRunner(), Limits(cell_seconds=5, notebook_seconds=60))


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    notebooks = {name: submission({}, first) for name, first in FIRST_CELL.items()}
    notebooks |= {name: submission(answers) for name, answers in ANSWERS.items()}
    with ThreadPoolExecutor(3) as pool:
        return dict(zip(notebooks, pool.map(graded, notebooks.values()), strict=True))


@pytest.mark.parametrize("name", [*FIRST_CELL, *ANSWERS])
def test_an_attack_earns_nothing_and_is_judged(results: dict[str, Result], name: str) -> None:
    result = results[name]
    assert result.score == 0, [(cell.grade_id, cell.state, cell.message) for cell in result.cells]
    assert result.is_sound


def test_right_answers_earn_all_also_with_prints_and_warnings() -> None:
    loud = {
        "seven": "import warnings\nwarnings.warn('careful')\nprint('working')\nseven_squared_minus_42 = 7",
        "double": "import warnings\ndef double(n):\n    warnings.warn('x')\n    print('x' * 100)\n    return n * 2",
    }
    result = graded(submission(loud, "raise ValueError('my own mistake')"))
    assert result.score == result.max_score == 3
    assert {cell.state for cell in result.cells} == {State.PASSED}


def test_no_test_source_reaches_the_students_process() -> None:
    spy = """
        import atexit, threading
        seen = []
        get_ipython().events.register('pre_run_cell', lambda info: seen.append(info.raw_cell))
        get_ipython().input_transformers_cleanup.append(lambda lines: seen.append(''.join(lines)) or lines)"""
    answers = {
        "seven": "seven_squared_minus_42 = 8",
        "double": "def double(number):\n    raise ValueError('|'.join(seen) if 'assert' in str(seen) else 'none')",
    }
    result = graded(submission(answers, spy))
    messages = " ".join(cell.message for cell in result.cells)
    assert "assert" not in messages and result.score == 0
