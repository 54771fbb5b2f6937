"""A census: what each format would make of the numbers of a tensor."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

import numpy as np

from ._arrays import Array, torch_if_loaded
from ._reals import read_reals
from ._tally import Tally, decibels
from ._text import aligned, printable
from .float_format import FLOAT_FORMATS, FloatFormat
from .registry import get_float_format, get_format

CENSUS_FORMATS = tuple(fmt for fmt in FLOAT_FORMATS if fmt.signed)
"""The formats of a census unless others are named: all but E8M0, which is for scales."""

_BLOCK = 64 * 1024


@dataclass(frozen=True)
class FormatCensus:
    """What one format makes of the numbers.

    Shares are of the finite numbers other than zero: `zeroed` become 0, `subnormal` a nonzero number below the
    smallest normal one, `overflowed` lie so far beyond the largest value that they don't round to it. Errors leave
    out what overflows: `worst_relative_error` and `mean_relative_error` are of abs(rounded - x) / abs(x), which is 1
    for what is zeroed; `snr_db` is 10 * log10(sum of squares of x / sum of squares of the errors), infinite without
    an error and NaN without a number. `bytes` is what the codes take, packed.
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
        return f"{printable(self.name)}: {counted}{ranged}" if self.name else counted + ranged

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
    errors = (_figure(each, ".3g") for each in (row.worst_relative_error, row.mean_relative_error))
    return row.format, *shares, *errors, _figure(row.snr_db, ".1f"), f"{row.bytes:,}"


def _figure(number: float, spec: str) -> str:
    return "-" if math.isnan(number) else format(number, spec)


def _percent(share: float) -> str:
    # A share that isn't 0 or 1 must not read as if it were.
    text = _figure(share, ".2%")
    if share > 0 and text == "0.00%":
        return "<0.01%"
    return ">99.99%" if share < 1 and text == "100.00%" else text


def _html_row(row: FormatCensus) -> str:
    name, *cells = map(html.escape, _cells(row))
    shares = zip((row.zeroed, row.subnormal, row.overflowed), cells, _COLOURS, strict=False)
    bars = "".join(f'<td style="text-align:right">{cell}{_bar(share, colour)}</td>' for share, cell, colour in shares)
    rest = "".join(f'<td style="text-align:right">{cell}</td>' for cell in cells[3:])
    return f'<tr><th scope="row" style="text-align:left">{name}</th>{bars}{rest}</tr>'


def _bar(share: float, colour: str) -> str:
    """Return a bar that says what the figure beside it says already."""
    if math.isnan(share):
        return ""
    filled = f'<div style="height:0.5em;background:{colour};width:{100 * share:.4g}%"></div>'
    return f'<div aria-hidden="true" style="width:6em;margin-left:auto;border:1px solid currentColor">{filled}</div>'


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def census(x: object, formats: Sequence[object] | None = None, name: str = "") -> Census:
    """Take a census of an array, a tensor or numbers of any kind; `formats` are those of `CENSUS_FORMATS` by default.

    Works block by block, so that a `numpy.memmap` may be larger than memory. Integers of 64 bits and long doubles
    count as the nearest float64. Raises TypeError for what is no real number, ValueError for a format that is none,
    that has no sign (E8M0), or that float64 doesn't hold.
    """
    return census_of_blocks(_blocks_of(x), formats, name)


def census_of_blocks(blocks: Iterable[object], formats: Sequence[object] | None = None, name: str = "") -> Census:
    """Take a census of arrays or tensors of real numbers, one after the other, as if they were one.

    How the numbers are cut into blocks makes no difference to the counts and to the worst error, and to the other
    figures less than 1e-12 of themselves: what is summed over a block is float64, and sums of blocks are exact.
    Raises as `census` does, for wrong formats before any block is read.
    """
    tallies = [Tally(_checked(get_float_format(each, "census"))) for each in _list_of(formats)]
    scratch = np.empty(_BLOCK), np.empty(_BLOCK)
    count = zeros = infinities = nans = 0
    smallest, largest = math.inf, 0.0
    for block in chain.from_iterable(map(_blocks_of, blocks)):
        sizes = np.abs(_as_float64(block))
        count += sizes.size
        sizes, more_infinities, more_nans = _finite(sizes)
        infinities, nans = infinities + more_infinities, nans + more_nans
        some = int(np.count_nonzero(sizes))
        zeros += sizes.size - some
        if some:
            sizes = sizes if some == sizes.size else sizes[sizes != 0]
            top = float(sizes.max())
            smallest, largest = min(smallest, float(sizes.min())), max(largest, top)
            source = _format_of(block)
            for tally in tallies:
                tally.add(sizes, top, source, (scratch[0][:some], scratch[1][:some]))
    if largest == 0:
        smallest = largest = math.nan
    return Census(
        name, count, zeros, infinities, nans, smallest, largest, tuple(_row(each, count) for each in tallies)
    )


def _list_of(formats: Sequence[object] | None) -> Sequence[object]:
    if formats is None:
        return CENSUS_FORMATS
    if isinstance(formats, str | FloatFormat):
        raise TypeError(f"census: formats is a list, such as [{formats!r}], and not one format")
    return formats


def _checked(fmt: FloatFormat) -> FloatFormat:
    if not fmt.signed:
        raise ValueError(f"census: {fmt} has no sign, so it isn't for tensors; choose a format with a sign")
    if not fmt.fits_float64:
        raise ValueError(f"census: {fmt} has values that float64 doesn't hold; choose a narrower format")
    return fmt


def _blocks_of(x: object) -> Iterator[Any]:
    """Yield an array or a tensor as 1-D pieces of at most a block, at least one; the order doesn't matter."""
    torch = torch_if_loaded()
    flat: Any
    if torch is not None and isinstance(x, torch.Tensor) and x.layout is torch.strided:
        flat, size = x.detach().reshape(-1), x.numel()
    elif isinstance(x, np.ndarray | np.generic) or (hasattr(x, "__array__") and not hasattr(x, "layout")):
        array = np.asarray(x)
        # A view where there is one; elsewhere each piece is copied in its turn.
        flat, size = array.reshape(-1, order="A") if array.flags.forc else array.flat, array.size
    else:
        flat = read_reals(x, "census").array.reshape(-1)
        size = flat.size
    for start in range(0, max(size, 1), _BLOCK):
        yield flat[start : start + _BLOCK]


def _as_float64(block: Any) -> Array:
    """Return a block as float64: 64-bit integers and long doubles as the nearest that is finite and not zero."""
    if not isinstance(block, np.ndarray) or not (block.dtype.kind in "iu" or block.dtype.itemsize > 8):
        return read_reals(block, "census").array
    if block.dtype.kind not in "iuf":
        return read_reals(block, "census").array  # which refuses it
    with np.errstate(over="ignore", under="ignore"):
        near = block.astype(np.float64)
    if block.dtype.kind == "f":
        ends = np.finfo(np.float64)
        near[np.isinf(near) & np.isfinite(block)] = ends.max
        near[(near == 0) & (block != 0)] = ends.smallest_subnormal
    return near


def _finite(sizes: Array) -> tuple[Array, int, int]:
    """Return the finite magnitudes, the number of infinities and that of NaNs."""
    is_finite = np.isfinite(sizes)
    odd = sizes.size - int(np.count_nonzero(is_finite))
    if not odd:
        return sizes, 0, 0
    nans = int(np.count_nonzero(np.isnan(sizes)))
    return sizes[is_finite], odd - nans, nans


def _format_of(block: Any) -> FloatFormat | None:
    """Return the format whose values a block holds, by its dtype; None if that is no float format."""
    try:
        fmt = get_format(block.dtype)
    except (ValueError, TypeError):
        return None
    return fmt if isinstance(fmt, FloatFormat) else None


def _row(tally: Tally, count: int) -> FormatCensus:
    """Return the figures of a tally, with the bytes of `count` numbers."""
    seen, inside = tally.seen, tally.inside
    zeroed, subnormal, overflowed = (
        part / seen if seen else math.nan for part in (tally.zeroed, tally.subnormal, tally.overflowed)
    )
    return FormatCensus(
        format=str(tally.fmt),
        bits=tally.fmt.bits,
        zeroed=zeroed,
        subnormal=subnormal,
        overflowed=overflowed,
        worst_relative_error=tally.worst if inside else math.nan,
        mean_relative_error=float(tally.relative_errors / inside) if inside else math.nan,
        snr_db=decibels(tally.signal, tally.noise),
        bytes=-(-count * tally.fmt.bits // 8),
    )
