"""explain: what a person reads of a number in a format, in a notebook and on the command line."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import pytest

import numfmt as nf
from numfmt.__main__ import main
from numfmt.float_format import FLOAT_FORMATS


def test_a_tenth_in_e4m3() -> None:
    text = str(nf.explain(0.1, "e4m3fn"))
    for part in ("0.1015625 (normal)", "0x1D = 0 0011 101", "(1 + 5/8) * 2^(3 - 7)", "0.09375 and 0.109375"):
        assert part in text
    assert "+0.0015625, which is +0.2 ulp" in text


@pytest.mark.parametrize("fmt", [fmt for fmt in FLOAT_FORMATS if fmt.bits <= 8], ids=str)
def test_every_code_is_explained_by_its_own_formula(fmt: nf.FloatFormat) -> None:
    for code in range(fmt.count):
        value = float(nf.decode(code, fmt))
        if math.isnan(value):
            continue
        found = nf.explain(value, fmt)
        assert found.code == code and found.value == value
        assert found.sign + found.exponent + found.mantissa == format(code, f"0{fmt.bits}b")
        if math.isfinite(value):
            assert _calculated(found.formula) == Fraction(value)
            assert found.error_ulps == 0


def _calculated(formula: str) -> Fraction:
    """Calculate a formula such as -(1 + 5/8) * 2^(3 - 7)."""
    head, _, tail = formula.rpartition("2^")
    field, bias = map(int, tail.strip("()").split(" - "))
    power = Fraction(2) ** (field - bias)
    if not head:
        return power
    hidden, fraction = head.strip(" *()-").split(" + ")
    numerator, denominator = map(int, fraction.split("/"))
    size = (int(hidden) + Fraction(numerator, denominator)) * power
    return -size if head.startswith("-") else size


@pytest.mark.parametrize(
    ("number", "fmt", "kind", "error"),
    [
        (1e9, nf.E4M3, "NaN", None),
        (1e9, nf.FP16, "infinity", None),
        (math.inf, nf.FP16, "infinity", None),
        (1e-9, nf.FP16, "zero", -1e-9 * 2**24),
        (3e-8, nf.FP16, "subnormal", 1 - 3e-8 * 2**24),
        (7, nf.E2M1, "normal", -0.5),
    ],
)
def test_kinds_and_errors(number: float, fmt: nf.FloatFormat, kind: str, error: float | None) -> None:
    found = nf.explain(number, fmt)
    assert found.kind == kind
    assert found.error_ulps == (None if error is None else pytest.approx(error))


def test_the_notebook_names_the_fields_besides_colouring_them() -> None:
    shown = nf.explain(-0.3, nf.E4M3)._repr_html_()
    for part in ("<small>sign</small>", "<small>exponent</small>", "<small>mantissa</small>", "-0.3125", "ulp"):
        assert part in shown


@pytest.mark.parametrize("x", ["0.1", True, None, [1.0], 1j])
def test_one_number_is_expected(x: object) -> None:
    with pytest.raises(TypeError, match="one Python number"):
        nf.explain(x, nf.E4M3)  # type: ignore[arg-type]


def test_the_command_line() -> None:
    command = [sys.executable, "-m", "numfmt", "explain", "0.1", "--format", "e4m3fn"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(nf.explain(0.1, nf.E4M3))


def test_the_command_line_takes_negative_numbers_and_refuses_unknown_formats(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "-3e-8", "--format", "FP16"]) == 0
    assert "subnormal" in capsys.readouterr().out
    assert main(["explain", "1", "--format", "e4m4"]) == 2
    assert "unknown format 'e4m4'" in capsys.readouterr().err
    assert main(["explain", "1", "--format", "int8"]) == 2
    with pytest.raises(SystemExit):
        main(["explain", "one"])


def test_the_table_has_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for fmt in FLOAT_FORMATS:
        [line] = [line for line in lines if line.startswith(f"{fmt} ")]
        assert fmt.name in line and f"{fmt.count_finite:,}" in line
