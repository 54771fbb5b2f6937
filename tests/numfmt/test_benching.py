"""The quantization bench: its facts against sums done by hand, and what it says of settings that there aren't."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from numfmt.bench import bench_text, changed
from numfmt.benching import ALIGNMENTS, GROUP_SIZES, LARGEST, WIDTHS, Bench, as_text, facts

OUTLIERS = (-LARGEST, 0.0, 0.05, 1.0)


def by_hand(bench: Bench, start: int) -> list[Fraction]:
    """Return what comes back of a group, computed with exact numbers and Python's own rounding, ties to even."""
    weights = [Fraction(each) for each in bench.weights[start : start + bench.group_size].tolist()]
    if bench.scheme == "absmax":
        scale = max(abs(each) for each in weights) / (2 ** (bench.bits - 1) - 1) or Fraction(1)
        return [round(each / scale) * scale for each in weights]
    low, high = min(Fraction(0), *weights), max(Fraction(0), *weights)
    top = 2**bench.bits - 1
    scale = (high - low) / top or Fraction(1)
    zero = round(-low / scale)
    return [(min(max(round(each / scale) + zero, 0), top) - zero) * scale for each in weights]


@pytest.mark.parametrize("scheme", ["absmax", "zero_point"])
@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_the_facts_are_those_of_sums_by_hand(scheme: str, alignment: str) -> None:
    for outlier in OUTLIERS:
        for bits in (WIDTHS[0], 4, WIDTHS[-1]):
            for size in GROUP_SIZES:
                bench = Bench(outlier, bits, scheme, size, alignment)
                found = facts(bench)
                back = [value for start in range(0, 64, size) for value in by_hand(bench, start)]
                assert found["back"] == pytest.approx([float(each) for each in back], rel=1e-9, abs=1e-12)
                ordinary = [i for i in range(64) if i not in ALIGNMENTS[alignment]]
                assert found["zeros"] == sum(back[i] == 0 for i in ordinary)
                off = sum(float(back[i] - Fraction(bench.weights[i])) ** 2 for i in ordinary)
                norm = sum(bench.weights[i] ** 2 for i in ordinary)
                assert float(found["error"].rstrip(" %")) == pytest.approx(100 * (off / norm) ** 0.5, abs=0.006)
                assert found["zeros"] == sum(group["zeros"] for group in found["groups"])


def test_what_comes_back_is_a_level_of_its_group() -> None:
    for scheme in ("absmax", "zero_point"):
        found = facts(Bench(0.5, 4, scheme, 16, "strided"))
        for group in found["groups"]:
            for value in found["back"][group["start"] : group["start"] + 16]:
                assert abs(value) > found["visible"] or np.isclose(group["levels"], value, atol=1e-15).any()


def test_a_group_shelters_the_others_only_from_outliers_that_fit_into_it() -> None:
    error = {name: float(facts(Bench(alignment=name))["error"].rstrip(" %")) for name in ALIGNMENTS}
    assert error["aligned"] < error["straddling"] < error["strided"]


def test_the_text_has_the_facts(capsys: pytest.CaptureFixture[str]) -> None:
    bench_text(outlier=2, bits=8, group_size=32)
    printed = capsys.readouterr().out
    bench = Bench(2, 8, group_size=32)
    assert printed == as_text(bench) + "\n"
    assert "64 weights, 4 outliers of 2, aligned; 8 bits, absmax, groups of 32" in printed
    assert facts(bench)["words"] in printed and len(printed.splitlines()) == 5


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("outlier", 5, "between -4 and 4, not 5"),
        ("outlier", float("nan"), "between -4 and 4, not nan"),
        ("outlier", "1", "a number, not '1'"),
        ("bits", 1, "bits is one of 2, 3, 4, 5, 6, 7, 8, not 1"),
        ("scheme", "minmax", "scheme is one of absmax, zero_point, not 'minmax'"),
        ("group_size", 5, "group size is one of 8, 16, 32, 64, not 5"),
        ("alignment", [], r"alignment is one of aligned, straddling, strided, not \[\]"),
        ("weights", 1, "the bench has no setting 'weights'"),
    ],
)
def test_a_setting_that_there_is_not_is_refused(name: str, value: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        changed(Bench(), {"do": "set", "name": name, "value": value})


@pytest.mark.parametrize("message", [{}, {"do": "set"}, {"do": "flip", "bit": 1}])
def test_a_message_that_means_nothing_is_refused(message: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="doesn't know what"):
        changed(Bench(), message)


def test_the_widget_keeps_what_it_had_when_something_is_refused() -> None:
    pytest.importorskip("anywidget")
    from numfmt.bench import bench

    shown = bench(bits=3)
    shown.do({"do": "set", "name": "bits", "value": 8})
    shown.do({"do": "set", "name": "bits", "value": 99})
    assert shown.facts["settings"]["bits"] == 8 and "not 99" in shown.problem
    assert "8 bits" in repr(shown)
