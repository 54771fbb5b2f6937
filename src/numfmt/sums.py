"""Sums in a float format, by the algorithms whose errors differ: running, pairwise, compensated, blocked.

Every operation is rounded once to nearest even in the format, and each term is rounded to it first.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Literal, overload

import numpy as np

from ._arrays import Array
from ._float_arithmetic import Arithmetic
from ._reals import read_reals
from .registry import get_float_format
from .rounding import round_to


@overload
def running_sum(x: object, fmt: object, partial: Literal[False] = False) -> float: ...
@overload
def running_sum(x: object, fmt: object, partial: Literal[True]) -> Array: ...
def running_sum(x: object, fmt: object, partial: bool = False) -> Any:
    """Return the sum of a 1-D input added from left to right in a float format; with `partial`, all partial sums.

    Raises ValueError for other shapes and TypeError for what is no real number, as all functions here do.
    """
    arithmetic, terms = _read(x, fmt, "running_sum")
    sums = list(accumulate(terms, arithmetic.add))
    return np.array(sums, dtype=np.float64) if partial else sums[-1] if sums else 0.0


def pairwise_sum(x: object, fmt: object) -> float:
    """Return the sum of a 1-D input as a tree: neighbours are added, then their sums, and so on.

    An odd one out goes to the next level as it is. The error grows with log2(n) (Higham, Accuracy and Stability of
    Numerical Algorithms, 2002, 4.2).
    """
    arithmetic, terms = _read(x, fmt, "pairwise_sum")
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [arithmetic.add(a, b) for a, b in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0] if terms else 0.0


def kahan_sum(x: object, fmt: object) -> float:
    """Return the sum of a 1-D input with Kahan's compensation: what each addition lost is added to the next term.

    (Kahan, Further remarks on reducing truncation errors, 1965.)
    """
    arithmetic, terms = _read(x, fmt, "kahan_sum")
    total = lost = 0.0
    for term in terms:
        term = arithmetic.sub(term, lost)
        larger = arithmetic.add(total, term)
        lost = arithmetic.sub(arithmetic.sub(larger, total), term)
        total = larger
    return total


def neumaier_sum(x: object, fmt: object) -> float:
    """Return the sum of a 1-D input with Neumaier's compensation, which also holds where a term exceeds the sum.

    (Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974.)
    """
    arithmetic, terms = _read(x, fmt, "neumaier_sum")
    total = lost = 0.0
    for term in terms:
        larger = arithmetic.add(total, term)
        big, small = (total, term) if abs(total) >= abs(term) else (term, total)
        lost = arithmetic.add(lost, arithmetic.add(arithmetic.sub(big, larger), small))
        total = larger
    return arithmetic.add(total, lost)


def blocked_sum(x: object, fmt: object, block: int) -> float:
    """Return the running sum of the running sums of blocks of `block` terms; the last block may be shorter."""
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:
        raise ValueError(f"blocked_sum: block counts terms, so it must be an int of at least 1, got {block!r}")
    arithmetic, terms = _read(x, fmt, "blocked_sum")
    total = 0.0
    for start in range(0, len(terms), block):
        *_, part = accumulate(terms[start : start + block], arithmetic.add)
        total = arithmetic.add(total, part)
    return total


def _read(x: object, fmt: object, what: str) -> tuple[Arithmetic, list[float]]:
    fmt = get_float_format(fmt, what)
    if not fmt.signed:
        raise ValueError(f"{what}: {fmt} has no sign, and sums need one; choose a signed format")
    array = read_reals(round_to(x, fmt), what).array
    if array.ndim != 1:
        raise ValueError(f"{what}: x must be 1-D, got shape {array.shape}; pass one row, or x.ravel()")
    return Arithmetic(fmt), array.tolist()
