"""What the bit explorer shows: one code of a format, its fields, value, neighbours, error, and other formats."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Context
from fractions import Fraction
from typing import Any

from .codes import decode, encode
from .explaining import kind_of
from .float_format import FLOAT_FORMATS, FloatFormat
from .formats import INTEGER_FORMATS, IntFormat
from .neighbours import next_down, next_up, spacing
from .registry import get_format
from .wrapping import wrap

Number = Fraction | float
"""A typed number: exact, or one of the floats inf, -inf, nan and -0.0."""

FIELDS = {"sign": "S", "exponent": "E", "mantissa": "M", "value": "V"}
"""The letter of each field: colours alone would not tell them apart for everyone."""

_NUMBER = re.compile(r"[+-]?(\d[\d_]*(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?|[+-]?\d+/\d+", re.ASCII)
_SPECIAL = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "nan": math.nan, "-0": -0.0, "-0.0": -0.0}
_LONGEST_NUMBER = 60
_DIGITS = 24
_ROUNDED = Context(prec=17, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True)
class Exploration:
    """A code of a format, and the number that was typed (None: none was, and the code's own value counts)."""

    fmt: FloatFormat | IntFormat
    code: int
    typed: Number | None = None

    @property
    def number(self) -> Number:
        """The value of the code: exact where it is finite."""
        value = decode(self.code, self.fmt)
        return value if not math.isfinite(value) or _is_minus_zero(value) else Fraction(value)

    @property
    def target(self) -> Number:
        """The number that the other formats round."""
        return self.number if self.typed is None else self.typed

    def type(self, text: str) -> Exploration:
        """Return the code nearest to a number given as text; ValueError says what is wrong with it."""
        number = parse(text)
        return Exploration(self.fmt, nearest(number, self.fmt), number)

    def switch(self, fmt: object) -> Exploration:
        """Return the same number in another format."""
        known = get_format(fmt)
        return replace(self, fmt=known, code=nearest(self.target, known))

    def flip(self, bit: int) -> Exploration:
        """Return the code with one bit the other way; bit 0 is the leftmost. ValueError if there is no such bit."""
        if not 0 <= bit < self.fmt.bits:
            raise ValueError(f"{self.fmt} has the bits 0 to {self.fmt.bits - 1}, counted from the left, not {bit}")
        return replace(self, code=self.code ^ (1 << (self.fmt.bits - 1 - bit)))

    def step(self, direction: int) -> Exploration:
        """Return the next larger value (direction 1) or the next smaller one (-1); at the end, the same."""
        if isinstance(self.fmt, IntFormat):
            value = min(max(int(self.number) + direction, self.fmt.min), self.fmt.max)
            return replace(self, code=_code(value, self.fmt))
        here = float(self.number)
        moved = next_up(here, self.fmt) if direction > 0 else next_down(here, self.fmt)
        return self if math.isnan(moved) or moved == here else replace(self, code=_code(moved, self.fmt))


def explore_number(text: str, fmt: object) -> Exploration:
    """Return the exploration of a number, given as text, in a format."""
    return Exploration(get_format(fmt), 0).type(text)


def parse(text: str) -> Number:
    """Return the number that a text such as 0.1, 1e-3, 1/3 or -inf means, exactly; ValueError if it means none."""
    word = text.strip().lower().replace("\N{MINUS SIGN}", "-")
    if word in _SPECIAL:
        return _SPECIAL[word]
    if len(word) > _LONGEST_NUMBER or not _NUMBER.fullmatch(word):
        raise ValueError(f"{text[:_LONGEST_NUMBER]!r} is no number such as 0.1, -3, 1e-3, 1/3, inf or nan")
    try:
        return Fraction(word)
    except ZeroDivisionError:
        raise ValueError(f"{text!r} divides by zero") from None


def nearest(number: Number, fmt: FloatFormat | IntFormat) -> int:
    """Return the code of the value nearest to a number, ties to even; integers wrap. 0 for what can't be held."""
    if not can_hold(number, fmt):
        return 0
    if isinstance(fmt, FloatFormat):
        return _code(number, fmt)
    return _code(wrap(round(number), fmt), fmt)


def can_hold(number: Number, fmt: FloatFormat | IntFormat) -> bool:
    """Say whether a format has any code for a number: some have none for NaN, and integers none for infinity."""
    if isinstance(number, Fraction) or math.isfinite(number):
        return True
    return isinstance(fmt, FloatFormat) and (fmt.has_nan or not math.isnan(number))


def facts(exploration: Exploration) -> dict[str, Any]:
    """Return all that is to be shown, as text and shares from 0 to 1."""
    fmt, number = exploration.fmt, exploration.number
    code = format(exploration.code, f"0{fmt.bits}b")
    return {
        "format": str(fmt),
        "formats": [str(each) for each in choices()],
        "code": f"0x{exploration.code:0{-(-fmt.bits // 4)}X}",
        "bits": [
            {"bit": bit, "field": field, "letter": FIELDS[field]}
            for bit, field in zip(code, fields(fmt), strict=True)
        ],
        "kind": _kind(number, fmt),
        "value": decimal(number),
        "exact": power_of_two(number),
        **_neighbours(exploration),
        "typed": "" if exploration.typed is None else decimal(exploration.typed),
        **_error(exploration),
        "others": [_other(exploration.target, each) for each in choices()],
    }


def as_text(exploration: Exploration) -> str:
    """Return the same facts as lines of text, where nothing can be clicked."""
    found = facts(exploration)
    letters = "".join(each["letter"] for each in found["bits"])
    same = f" = {found['exact']}" if found["exact"] != found["value"] else ""
    lines = [
        f"{found['format']} {found['code']}  {''.join(each['bit'] for each in found['bits'])}",
        f"{'fields':>{len(found['format']) + len(found['code']) + 1}}  {letters}",
        f"value   {found['value']}{same} ({found['kind']})",
        f"beside  {found['below']} and {found['above']}",
    ]
    if found["error"]:
        lines.append(f"typed   {found['typed']}; error {found['error']} ({found['ulps']} ulp)")
    width = max(len(each["name"]) for each in found["others"])
    wide = max(len(each["value"]) for each in found["others"])
    lines += ["", f"{'format':<{width}}  {'value':<{wide}}  error"]
    lines += [f"{each['name']:<{width}}  {each['value']:<{wide}}  {each['error']}" for each in found["others"]]
    return "\n".join(lines)


def choices() -> tuple[FloatFormat | IntFormat, ...]:
    """Return the formats to choose from, floats from the widest on, then integers."""
    floats = sorted(FLOAT_FORMATS, key=lambda fmt: (-fmt.bits, -fmt.exponent_bits, fmt.name))
    integers = sorted(INTEGER_FORMATS, key=lambda fmt: (not fmt.signed, -fmt.bits))
    return tuple(dict.fromkeys([*floats, *integers]))


def fields(fmt: FloatFormat | IntFormat) -> tuple[str, ...]:
    """Return which field each bit belongs to, from the left."""
    if isinstance(fmt, IntFormat):
        return ("sign",) * fmt.signed + ("value",) * (fmt.bits - fmt.signed)
    return ("sign",) * fmt.signed + ("exponent",) * fmt.exponent_bits + ("mantissa",) * fmt.mantissa_bits


def decimal(number: Number) -> str:
    """Return a number in decimal: exactly if that takes few digits, else rounded, with a sign that says so."""
    if isinstance(number, float):
        return "-0" if number == 0 else repr(number)
    digits = number.denominator.bit_length() - 1
    is_finite = number.denominator == 1 << digits
    if is_finite and digits <= _DIGITS and abs(number) < 10**_DIGITS:
        scaled = abs(number) * 10**digits
        whole, part = divmod(scaled.numerator, 10**digits)
        text = f"{whole}.{part:0{digits}d}".rstrip("0").rstrip(".") if digits else str(whole)
        return f"-{text}" if number < 0 else text
    short = format(_ROUNDED.normalize(_ROUNDED.divide(number.numerator, number.denominator)), "g")
    return short if Fraction(short) == number else f"≈ {short}"


def power_of_two(number: Number) -> str:
    """Return a number as an odd integer times a power of two, which is exact for every binary format."""
    if isinstance(number, float):
        return decimal(number)
    if number == 0:
        return "0"
    twos = (number.numerator & -number.numerator).bit_length() - 1
    if number.denominator & (number.denominator - 1):
        return f"{number.numerator}/{number.denominator}"
    return f"{number.numerator >> twos} × 2^{twos - (number.denominator.bit_length() - 1)}"


def _neighbours(exploration: Exploration) -> dict[str, Any]:
    """Return the values beside, the spacing, and where value and typed number lie between the two."""
    below, above = exploration.step(-1).number, exploration.step(1).number
    ends = [each for each in (below, exploration.number, above) if isinstance(each, Fraction)]
    found: dict[str, Any] = {"below": decimal(below), "above": decimal(above), "line": None}
    if len(ends) == 3 and ends[0] < ends[2]:
        width = ends[2] - ends[0]
        typed = exploration.typed
        share = (typed - ends[0]) / width if isinstance(typed, Fraction) else None
        found["line"] = {
            "value": float((ends[1] - ends[0]) / width),
            "typed": None if share is None else float(min(max(share, Fraction(-1)), Fraction(2))),
        }
    return found


def _error(exploration: Exploration) -> dict[str, str]:
    number, typed, fmt = exploration.number, exploration.typed, exploration.fmt
    if not isinstance(number, Fraction) or not isinstance(typed, Fraction):
        return {"error": "", "ulps": ""}
    ulp = Fraction(1) if isinstance(fmt, IntFormat) else Fraction(spacing(float(number), fmt))
    return {"error": _signed(number - typed), "ulps": f"{float((number - typed) / ulp):+.4g}"}


def _other(target: Number, fmt: FloatFormat | IntFormat) -> dict[str, str]:
    if not can_hold(target, fmt):
        return {"name": str(fmt), "bits": "", "value": "–", "error": ""}
    code = nearest(target, fmt)
    number = Exploration(fmt, code).number
    error = _signed(number - target) if isinstance(number, Fraction) and isinstance(target, Fraction) else ""
    return {"name": str(fmt), "bits": format(code, f"0{fmt.bits}b"), "value": decimal(number), "error": error}


def _signed(number: Number) -> str:
    if number == 0:
        return "exact"
    approximately, _, digits = decimal(number).rpartition(" ")
    sign = "" if digits.startswith("-") else "+"
    return f"{approximately} {sign}{digits}".strip()


def _kind(number: Number, fmt: FloatFormat | IntFormat) -> str:
    if isinstance(fmt, IntFormat):
        return "integer"
    return kind_of(float(number), fmt)


def _code(number: Number | int, fmt: FloatFormat | IntFormat) -> int:
    return int(encode(number, fmt))


def _is_minus_zero(value: float) -> bool:
    return value == 0 and math.copysign(1, value) < 0
