"""The free names of a test cell are what it takes from the student."""

from __future__ import annotations

import pytest

from autograder.sealed.names import free_names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("assert f(1) == 2", ("f",)),
        ("import math\nfrom os import path as p\nassert math.isclose(f(p), x)", ("f", "x")),
        ("for a in range(3):\n    assert f(a) == [b for b in c]", ("c", "f")),
        ("def helper(v):\n    return g(v) + w\nassert helper(1)", ("g", "w")),
        ("check('n', {'a': a}, inputs=[(print,)])", ("a", "check")),
        ("x = 1\nx += y\ndel x", ("y",)),
        ("with open(n) as file: pass\ntry: pass\nexcept E as e: raise e", ("E", "n")),
        ("assert (z := f()) and z", ("f",)),
        ("class A:\n    b = c\n    def d(self): return self.e, g", ("c", "g")),
        ("t = lambda u=k: u + v", ("k", "v")),
        ("", ()),
    ],
)
def test_free_names(source: str, names: tuple[str, ...]) -> None:
    assert free_names(source) == names


def test_what_is_no_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        free_names("%timeit f()")
