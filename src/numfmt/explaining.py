"""What becomes of a number in a format: its fields, its value, its neighbours and the error, for people."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from fractions import Fraction

from .codes import decode, encode
from .float_format import FloatFormat
from .neighbours import next_down, next_up, spacing
from .registry import get_float_format

COLOURS = {"sign": "#D55E00", "exponent": "#009E73", "mantissa": "#0072B2"}


@dataclass(frozen=True)
class Explanation:
    """A number in a float format: its code and fields (as bits), its `value`, and the values beside that.

    `error_ulps` is value minus number in units of the spacing there, None if either is no finite number.
    """

    number: float
    fmt: FloatFormat
    code: int
    value: float
    kind: str
    sign: str
    exponent: str
    mantissa: str
    below: float
    above: float
    error_ulps: float | None

    def __str__(self) -> str:
        fields = " ".join(part for part in (self.sign, self.exponent, self.mantissa) if part)
        lines = [
            f"{self.number!r} in {self.fmt}: {self.value!r} ({self.kind})",
            f"  code     0x{self.code:0{-(-self.fmt.bits // 4)}X} = {fields} (sign, exponent, mantissa)",
            f"  formula  {self.formula}",
            f"  beside   {self.below!r} and {self.above!r}",
        ]
        if self.error_ulps is not None:
            lines.append(f"  error    {self.value - self.number:+.6g}, which is {self.error_ulps:+.3g} ulp")
        return "\n".join(lines)

    @property
    def formula(self) -> str:
        """How the fields make the value."""
        fmt = self.fmt
        if self.kind in ("infinity", "NaN"):
            return f"a special code ({self.kind})"
        field = int(self.exponent, 2)
        if not fmt.has_zero:
            return f"2^({field} - {fmt.bias})"
        sign = "-" if self.sign == "1" else ""
        hidden = int(field > 0)
        steps = int(self.mantissa or "0", 2)
        return f"{sign}({hidden} + {steps}/{2**fmt.mantissa_bits}) * 2^({max(field, 1)} - {fmt.bias})"

    def _repr_html_(self) -> str:
        """Show the explanation in a notebook, fields told apart by colour and by their titles."""
        boxes = "".join(
            f'<td title="{name}" style="color:{colour};font-family:monospace;text-align:center">'
            f"<b>{getattr(self, name)}</b><br><small>{name}</small></td>"
            for name, colour in COLOURS.items()
            if getattr(self, name)
        )
        rows = [("value", f"{self.value!r} ({self.kind})"), ("formula", self.formula)]
        rows.append(("beside", f"{self.below!r} and {self.above!r}"))
        if self.error_ulps is not None:
            rows.append(("error", f"{self.value - self.number:+.6g} ({self.error_ulps:+.3g} ulp)"))
        body = "".join(f'<tr><th>{name}</th><td colspan="3">{html.escape(text)}</td></tr>' for name, text in rows)
        caption = html.escape(f"{self.number!r} in {self.fmt}")
        return f"<table><caption>{caption}</caption><tr><th>code</th>{boxes}</tr>{body}</table>"


def explain(x: float, fmt: object) -> Explanation:
    """Explain what becomes of one number in a float format (rounded to nearest even, IEEE overflow).

    Raises TypeError for what is no single number, and whatever `round_to` raises.
    """
    fmt = get_float_format(fmt, "explain")
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        raise TypeError(
            f"explain: expected one Python number, got {type(x).__name__} {x!r}; use float(x) or x.item()"
        )
    code = encode(x, fmt)
    value = float(decode(code, fmt))
    bits = format(code, f"0{fmt.bits}b")
    sign, rest = (bits[0], bits[1:]) if fmt.signed else ("", bits)
    finite = math.isfinite(value) and math.isfinite(x)
    error = Fraction(value) - Fraction(x) if finite else None
    return Explanation(
        float(x),
        fmt,
        code,
        value,
        kind_of(value, fmt),
        sign,
        rest[: fmt.exponent_bits],
        rest[fmt.exponent_bits :],
        next_down(value, fmt),
        next_up(value, fmt),
        None if error is None else float(error / Fraction(spacing(value, fmt))),
    )


def kind_of(value: float, fmt: FloatFormat) -> str:
    """Say what sort of value of the format this is: normal, subnormal, zero, infinity or NaN."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinity"
    if value == 0:
        return "zero"
    return "normal" if abs(value) >= fmt.smallest_normal else "subnormal"
