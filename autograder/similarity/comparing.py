"""How much of what is their own two submissions have in common; a passage that many have counts little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

AT_LEAST = 12
"""Passages that two submissions must share to be reported: a short answer is soon the same by chance."""

_AT_ONCE = 4_096


@dataclass(frozen=True)
class Alike:
    """Two submissions by number, how alike they are from 0 to 1, and how many passages they share."""

    first: int
    second: int
    similarity: float
    shared: int


def compare(prints: Sequence[frozenset[int]], threshold: float) -> list[Alike]:
    """Return all pairs that are at least so alike, the most alike first.

    The measure is Dice's: twice the weight of the shared passages over the weight of both, where a passage that d of
    n submissions have weighs log((n + 1) / d).
    """
    uses = Counter(code for each in prints for code in each)
    weight = {code: float(np.log((len(prints) + 1) / count)) for code, count in uses.items()}
    totals = np.array([sum(weight[code] for code in sorted(each)) for each in prints])
    common = sorted(code for code, count in uses.items() if count > 1)
    shared = np.zeros((len(prints), len(prints)))
    counts = np.zeros_like(shared)
    for start in range(0, len(common), _AT_ONCE):
        codes = common[start : start + _AT_ONCE]
        has = _table(prints, codes)
        shared += (has * np.array([weight[code] for code in codes], np.float32)) @ has.T
        counts += has @ has.T
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = np.nan_to_num(2 * shared / (totals[:, None] + totals))
    first, second = np.nonzero(np.triu((alike >= threshold) & (counts >= AT_LEAST), 1))
    pairs = (
        Alike(int(a), int(b), min(1.0, float(alike[a, b])), round(float(counts[a, b])))
        for a, b in zip(first, second, strict=True)
    )
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def _table(prints: Sequence[frozenset[int]], codes: Sequence[int]) -> NDArray[np.float32]:
    """Return a row a submission and a column a passage, 1 where the submission has it."""
    place = {code: column for column, code in enumerate(codes)}
    table = np.zeros((len(prints), len(codes)), np.float32)
    for row, each in enumerate(prints):
        table[row, [place[code] for code in each if code in place]] = 1
    return table
