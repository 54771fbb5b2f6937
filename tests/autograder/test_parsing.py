"""Syntax trees from many threads at once."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.parsing import is_python, parse


def let_others_run(*_: object) -> None:
    """Do as finalizers that end a database session: let go of the interpreter while garbage is collected."""
    time.sleep(0)


@pytest.fixture
def restless_collection() -> Iterator[None]:
    """Collect garbage all the time, also in the middle of a tree."""
    before = gc.get_threshold()
    gc.callbacks.append(let_others_run)
    gc.set_threshold(20)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(let_others_run)


@pytest.mark.usefixtures("restless_collection")
def test_threads_do_not_disturb_each_other() -> None:
    source = "\n".join(f"def f{n}(x):\n    return [(x + {n}) * (x - {n}) for _ in range({n})]" for n in range(60))
    with ThreadPoolExecutor(4) as pool:
        assert {len(tree.body) for tree in pool.map(parse, [source] * 100)} == {60}


@pytest.mark.parametrize("source", ["x = 1", "", "await f()", "return 1"])
def test_what_parses(source: str) -> None:
    assert is_python(source)


@pytest.mark.parametrize("source", ["x =", "%time 1", "a\0b", "(" * 500, "-" * 100_000 + "1"])
def test_what_does_not_parse(source: str) -> None:
    assert not is_python(source)
