"""Python source as a syntax tree, from any thread."""

from __future__ import annotations

import ast
import threading
import warnings

_ONE_AT_A_TIME = threading.Lock()
"""Python 3.11 counts the depth of all trees under construction together: two at once may end in a SystemError
(CPython issue 106905)."""


def parse(source: str) -> ast.Module:
    """Return the tree of a source, silently; SyntaxError, ValueError, RecursionError or MemoryError if none."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def is_python(source: str) -> bool:
    """Say whether the source parses as Python."""
    try:
        parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
