"""docs/conventions.md, run: what it says of ml_dtypes, torch and numfmt is what they do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import torch

import numfmt as nf

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conventions.md"
TEXT = PAGE.read_text(encoding="utf-8")
NOT_THERE = "–"

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in cast", "ignore:.*encountered in spacing")


def table(heading: str) -> list[dict[str, str]]:
    """Return the rows of the table under a heading of the page, with the names of its columns."""
    lines = TEXT.split(f"### {heading}\n", 1)[1].split("\n#", 1)[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|"))
    assert len(rows) > 5
    return [dict(zip(head, row, strict=True)) for row in rows]


def rows(heading: str) -> pytest.MarkDecorator:
    found = table(heading)
    first = next(iter(found[0]))
    return pytest.mark.parametrize("row", found, ids=[f"{row[first]} to {row['format']}" for row in found])


def exact(text: str) -> Fraction:
    """Read a sum of products of decimals and powers of two."""
    total = Fraction(0)
    for term in text.split(" + "):
        product = Fraction(1)
        for factor in term.split(" * "):
            base, _, power = factor.partition("^")
            product *= Fraction(base) ** int(power or 1)
        total += product
    return total


def number(text: str, kind: type[np.generic]) -> np.generic:
    """Read a number of the page as a NumPy type has it."""
    if text.startswith("just below "):
        return np.nextafter(number(text.removeprefix("just below "), kind), kind(0))  # type: ignore[arg-type]
    if text.startswith("NaN with payload "):
        return np.array(0x7FC00000 + int(text.split()[-1], 16), np.uint32).view(np.float32)[()]
    if text in ("NaN", "-NaN", "inf", "-inf", "-0"):
        return np.copysign(kind(text.lstrip("-").lower()), kind(-1 if text[0] == "-" else 1))  # type: ignore[call-arg,type-var]
    value = exact(text)
    if issubclass(kind, np.integer):
        return kind(int(value))
    if kind is np.longdouble:
        return kind(value.numerator) / kind(value.denominator)
    return kind(float(value))


def read(cell: str) -> object:
    """Read a result of the page: a number, or the name of an error."""
    if cell == "none" or cell.endswith("Error"):
        return None if cell == "none" else cell
    return float(number(cell, np.float64))


def outcome(function: Callable[[], object]) -> object:
    try:
        return function()
    except (ArithmeticError, TypeError, ValueError) as error:
        return type(error).__name__


def alike(found: object, cell: str) -> bool:
    wanted = read(cell)
    if not isinstance(wanted, float) or not isinstance(found, float | int):
        return found == wanted
    if math.isnan(wanted):
        return math.isnan(found)
    return found == wanted and math.copysign(1, found) == math.copysign(1, wanted)


def alone(array: np.ndarray) -> float:
    """Return what all elements of an array are; vectorized and plain code must agree."""
    elements = array.astype(np.float64)
    assert len({*elements.view(np.uint64).tolist()}) == 1
    return float(elements[0])


def split(row: dict[str, str]) -> tuple[str, np.generic, nf.FloatFormat | nf.IntFormat, np.dtype]:
    kind, text = row["input"].split(" ", 1)
    x = number(text, np.float64 if kind == "number" else getattr(np, kind))
    return kind, x, nf.get_format(row["format"]), np.dtype(getattr(ml_dtypes, row["format"], row["format"]))


@rows("Casts")
def test_casts(row: dict[str, str]) -> None:
    kind, x, fmt, dtype = split(row)
    if kind == "longdouble" and np.finfo(np.longdouble).nmant == 52:
        return  # the row is about machines on which a long double is wider than a double
    for count in (1, 67):
        many = np.full(count, x)
        if kind == "number":
            theirs: object = float(dtype.type(float(x)))
            ours, saturating = (nf.round_to(float(x), fmt, overflow=policy) for policy in ("ieee", "saturate"))
        else:
            theirs = alone(many.astype(dtype))
            ours, saturating = (
                outcome(lambda: alone(nf.round_to(many, fmt, overflow=policy)))  # noqa: B023
                for policy in ("ieee", "saturate")
            )
        assert alike(theirs, row["ml_dtypes"]), theirs
        assert alike(ours, row["numfmt"]), ours
        assert alike(saturating, row["numfmt, saturating"]), saturating
        if row["torch"] != NOT_THERE:
            cast = torch.from_numpy(many).to(getattr(torch, row["format"]))
            assert alike(alone(cast.double().numpy()), row["torch"]), cast


@rows("Codes")
def test_codes(row: dict[str, str]) -> None:
    _, x, fmt, dtype = split(row)
    assert isinstance(fmt, nf.FloatFormat)
    for count in (1, 67):
        many = np.full(count, x)
        cast = torch.from_numpy(many).to(getattr(torch, row["format"]))
        bits = cast.view(torch.uint8 if fmt.bits == 8 else torch.uint16).numpy()
        for found, cell in (
            (many.astype(dtype).view(fmt.code_dtype), row["ml_dtypes"]),
            (bits, row["torch"]),
            (nf.encode(many, fmt), row["numfmt"]),
        ):
            if cell == "a NaN":
                assert np.isnan(nf.decode(found, fmt)).all()
            else:
                assert {format(code, f"0{fmt.bits // 4}X") for code in found.tolist()} == {cell}


@rows("What a format is")
def test_facts(row: dict[str, str]) -> None:
    fmt, dtype = nf.get_format(row["format"]), np.dtype(getattr(ml_dtypes, row["format"], row["format"]))
    question = row["question"]
    if question.startswith("spacing of "):
        x = float(question.removeprefix("spacing of "))
        ours, theirs = nf.spacing(x, fmt), float(np.spacing(np.array([x]).astype(dtype))[0])
    else:
        ours, theirs = getattr(fmt, question), float(getattr(ml_dtypes.finfo(dtype), question))
        if row["torch"] != NOT_THERE:
            assert alike(getattr(torch.finfo(getattr(torch, row["format"])), question), row["torch"])
    assert alike(theirs, row["ml_dtypes"]), theirs
    assert alike(ours, row["numfmt"]), ours


@rows("Integers of four bits")
def test_integers(row: dict[str, str]) -> None:
    _, x, fmt, dtype = split(row)
    plain, many = x.item(), np.full(5, x)
    assert alike(alone(many.astype(dtype)), row["ml_dtypes, array"])
    assert alike(outcome(lambda: int(dtype.type(plain))), row["ml_dtypes, number"])
    for function, cell in ((nf.encode, row["numfmt.encode"]), (nf.wrap, row["numfmt.wrap"])):
        assert alike(outcome(lambda: function(plain, fmt)), cell)  # noqa: B023
        assert alike(outcome(lambda: alone(function(many, fmt))), cell)  # noqa: B023


def test_the_choices_are_all_there_are() -> None:
    from numfmt.policies import Nan, Overflow, Rounding

    choices = TEXT.split("| choice | values | default |", 1)[1].split("\n\n", 1)[0]
    for line, kind in zip(choices.splitlines()[2:], (Rounding, Overflow, Nan), strict=True):
        assert re.findall(r"`(\w+)`", line.split("|")[2])[-len(kind) :] == list(kind)
        assert line.split("|")[1].strip().startswith(f"`{kind.__name__.lower()}`")
