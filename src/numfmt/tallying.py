"""A census: what each format would make of the numbers of a tensor."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ._arrays import Array
from ._kernels import FLOAT64, overflow_limit
from ._reals import read_reals
from ._text import aligned
from .float_format import FLOAT_FORMATS, FloatFormat
from .registry import get_float_format
from .rounding import round_to

CENSUS_FORMATS = tuple(fmt for fmt in FLOAT_FORMATS if fmt.signed)
"""The formats of a census unless others are named: all but E8M0, which is for scales."""

_BLOCK = 64 * 1024


@dataclass(frozen=True)
class FormatCensus:
    """What one format makes of the numbers.

    Shares are of the finite numbers other than zero: `zeroed` become 0, `subnormal` a nonzero number below the
    smallest normal one, `overflowed` lie so far beyond the largest value that they don't round to it. Errors leave
    out what overflows: `worst_relative_error` and `mean_relative_error` are of |rounded - x| / |x|, which is 1 for
    what is zeroed; `snr_db` is 10 * log10(sum of squares of x / sum of squares of the errors), infinite without an
    error and NaN without a number. `bytes` is what the codes take, packed.
    """

    format: str
    bits: int
    zeroed: float
    subnormal: float
    overflowed: float
    worst_relative_error: float
    mean_relative_error: float
    snr_db: float
    bytes: int


@dataclass(frozen=True)
class Census:
    """A census of a tensor: its numbers counted, and a row for each format.

    `smallest` and `largest` are magnitudes of finite numbers other than zero (NaN if there are none).
    """

    name: str
    count: int
    zeros: int
    infinities: int
    nans: int
    smallest: float
    largest: float
    formats: tuple[FormatCensus, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold: infinite and undefined figures are None."""
        plain = asdict(self)
        rows = [{key: _jsonable(value) for key, value in row.items()} for row in plain.pop("formats")]
        return {**{key: _jsonable(value) for key, value in plain.items()}, "formats": rows}

    def _heading(self) -> str:
        counted = f"{self.count:,} numbers: {self.zeros:,} zeros, {self.infinities:,} infinities, {self.nans:,} NaN"
        ranged = "" if math.isnan(self.largest) else f"; magnitudes {self.smallest:.4g} to {self.largest:.4g}"
        return f"{self.name}: {counted}{ranged}" if self.name else counted + ranged

    def __str__(self) -> str:
        rows = [_TITLES, *(_cells(row) for row in self.formats)]
        return "\n".join([self._heading(), aligned(rows)])

    def _repr_html_(self) -> str:
        """Return an HTML table with a bar beside each share; readable on light and dark pages."""
        head = "".join(f'<th scope="col" style="text-align:right">{title}</th>' for title in _TITLES[1:])
        body = "".join(map(_html_row, self.formats))
        return (
            f'<table><caption style="text-align:left">{html.escape(self._heading())}</caption>'
            f'<thead><tr><th scope="col" style="text-align:left">{_TITLES[0]}</th>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )


_TITLES = (
    "format", "zeroed", "subnormal", "overflowed", "worst rel. error", "mean rel. error", "SNR in dB", "bytes",
)  # fmt: skip
_COLOURS = ("#D55E00", "#E69F00", "#0072B2")
"""Okabe and Ito's, for what is zeroed, subnormal and overflowed; the figures stand beside the bars."""


def _cells(row: FormatCensus) -> tuple[str, ...]:
    shares = (_percent(each) for each in (row.zeroed, row.subnormal, row.overflowed))
    errors = (f"{each:.3g}" for each in (row.worst_relative_error, row.mean_relative_error))
    return row.format, *shares, *errors, f"{row.snr_db:.1f}", f"{row.bytes:,}"


def _percent(share: float) -> str:
    if math.isnan(share):
        return "nan"
    # A share that isn't 0 or 1 must not read as if it were.
    text = f"{share:.2%}"
    if share > 0 and text == "0.00%":
        return "<0.01%"
    return ">99.99%" if share < 1 and text == "100.00%" else text


def _html_row(row: FormatCensus) -> str:
    name, *cells = map(html.escape, _cells(row))
    shares = zip((row.zeroed, row.subnormal, row.overflowed), cells, _COLOURS, strict=False)
    bars = "".join(
        f'<td style="text-align:right">{cell}<div style="width:6em;border:1px solid currentColor;opacity:0.9">'
        f'<div style="height:0.5em;background:{colour};width:{0.0 if math.isnan(share) else 100 * share:.4g}%"></div>'
        f"</div></td>"
        for share, cell, colour in shares
    )
    rest = "".join(f'<td style="text-align:right">{cell}</td>' for cell in cells[3:])
    return f'<tr><th scope="row" style="text-align:left">{name}</th>{bars}{rest}</tr>'


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def census(x: object, formats: Sequence[object] | None = None, name: str = "") -> Census:
    """Take a census of an array, a tensor or numbers of any kind; `formats` are those of `CENSUS_FORMATS` by default.

    Raises TypeError for what is no real number, ValueError for a format that is none or that float64 doesn't hold.
    """
    array = read_reals(x, "census").array.reshape(-1)
    return census_of_blocks((array[start : start + _BLOCK] for start in range(0, array.size, _BLOCK)), formats, name)


def census_of_blocks(blocks: Iterable[Array], formats: Sequence[object] | None = None, name: str = "") -> Census:
    """Take a census of 1-D arrays of real numbers, one after the other, as if they were one."""
    chosen = [get_float_format(each, "census") for each in (CENSUS_FORMATS if formats is None else formats)]
    tallies = [_Tally(fmt) for fmt in chosen]
    count = zeros = infinities = nans = 0
    smallest, largest = math.inf, 0.0
    for block in blocks:
        numbers = read_reals(block, "census").array
        finite = numbers[np.isfinite(numbers)]
        some = finite[finite != 0]
        count += numbers.size
        zeros += finite.size - some.size
        nans += int(np.isnan(numbers).sum())
        infinities += int(np.isinf(numbers).sum())
        if some.size:
            sizes = np.abs(some)
            smallest, largest = min(smallest, float(sizes.min())), max(largest, float(sizes.max()))
            for tally in tallies:
                tally.add(some)
    rows = tuple(tally.row(count) for tally in tallies)
    if largest == 0:
        smallest = largest = math.nan
    return Census(name, count, zeros, infinities, nans, smallest, largest, rows)


class _Tally:
    """The running counts and sums of one format."""

    def __init__(self, fmt: FloatFormat) -> None:
        self.fmt = fmt
        self.limit = math.inf if fmt == FLOAT64.fmt else overflow_limit(fmt)
        self.seen = self.zeroed = self.subnormal = self.overflowed = 0
        self.worst = self.errors = 0.0
        self.signal, self.noise = _Squares(), _Squares()

    def add(self, numbers: Array) -> None:
        """Count finite numbers other than zero."""
        inside = numbers[np.abs(numbers) <= self.limit]
        rounded = round_to(inside, self.fmt)
        gone = rounded == 0
        self.seen += numbers.size
        self.overflowed += numbers.size - inside.size
        self.zeroed += int(gone.sum())
        self.subnormal += int((~gone & (np.abs(rounded) < float(self.fmt.smallest_normal))).sum())
        if inside.size:
            off = rounded - inside
            relative = np.abs(off / inside)
            self.worst = max(self.worst, float(relative.max()))
            self.errors += float(relative.sum())
            self.signal.add(inside)
            self.noise.add(off)

    def row(self, count: int) -> FormatCensus:
        """Return the figures, with the bytes of `count` numbers."""
        inside = self.seen - self.overflowed
        zeroed, subnormal, overflowed = (
            part / self.seen if self.seen else math.nan for part in (self.zeroed, self.subnormal, self.overflowed)
        )
        return FormatCensus(
            format=str(self.fmt),
            bits=self.fmt.bits,
            zeroed=zeroed,
            subnormal=subnormal,
            overflowed=overflowed,
            worst_relative_error=self.worst if inside else math.nan,
            mean_relative_error=self.errors / inside if inside else math.nan,
            snr_db=self.signal.decibels_over(self.noise),
            bytes=-(-count * self.fmt.bits // 8),
        )


class _Squares:
    """A sum of squares, kept as total * 4**scale, so that no square overflows or vanishes."""

    def __init__(self) -> None:
        self.total, self.scale = 0.0, 0

    def add(self, numbers: Array) -> None:
        largest = float(np.abs(numbers).max())
        if largest == 0:
            return
        scale = math.frexp(largest)[1]
        if self.total == 0 or scale > self.scale:
            self.total, self.scale = math.ldexp(self.total, 2 * (self.scale - scale)), scale
        scaled = np.ldexp(numbers, -self.scale)
        self.total += float(np.dot(scaled, scaled))

    def decibels_over(self, noise: _Squares) -> float:
        if self.total == 0:
            return math.nan
        if noise.total == 0:
            return math.inf
        return 10 * math.log10(self.total / noise.total) + 20 * (self.scale - noise.scale) * math.log10(2)
