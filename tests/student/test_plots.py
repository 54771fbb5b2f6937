"""The figures of the lectures: what is drawn is what the formats say, and the alt text reaches the page."""

from __future__ import annotations

import ctypes

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import numfmt as nf
from numfmt import plots


def texts(figure: matplotlib.figure.Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("bits", [2, 3, 4, 5])
def test_the_wheel_shows_every_code_and_value_once(bits: int) -> None:
    fmt = nf.IntFormat(bits)
    figure = plots.number_wheel(fmt)
    shown = texts(figure)
    at = {text.get_text(): np.array(text.get_position()) for text in figure.axes[0].texts}
    for value in range(-(2 ** (bits - 1)), 2 ** (bits - 1)):
        code = format(value % 2**bits, f"0{bits}b")
        assert shown.count(code) == 1
        assert shown.count(f"{value:+d}" if value else "0") == 1 + (code == "0")
        # The value stands outside its code, in the same direction.
        inside, outside = at[code], at[f"{value:+d}" if value else "0"]
        assert np.allclose(inside / np.linalg.norm(inside), outside / np.linalg.norm(outside))


@pytest.mark.parametrize("fmt", [nf.INT8, nf.UINT4, nf.IntFormat(6)])
def test_the_wheel_refuses_what_it_cannot_show(fmt: nf.IntFormat) -> None:
    with pytest.raises(ValueError, match="at most 5 bits"):
        plots.number_wheel(fmt)


def test_the_sawtooth_is_what_int8_stores() -> None:
    lines = plots.wrap_sawtooth(nf.INT8, 400).axes[0].lines
    drawn = {
        int(x): int(y)
        for line in lines[1:]
        for x, y in zip(*line.get_data(), strict=True)
        if len(line.get_xdata()) > 2
    }
    assert drawn == {value: ctypes.c_int8(value).value for value in range(-400, 401)}
    assert np.array_equal(*lines[0].get_data())


def test_the_running_sums_are_the_two_that_were_given() -> None:
    exact = np.cumsum(np.full(50, 1000))
    wrapped = exact.astype(np.int16)
    figure = plots.running_sums(exact, wrapped, nf.INT16)
    drawn = {tuple(line.get_ydata()) for line in figure.axes[0].lines}
    assert drawn == {tuple(exact), tuple(wrapped)}
    assert {" exact", " INT16"} <= set(texts(figure))


def test_showing_a_figure_gives_its_alt_text_to_the_page_and_closes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    figure = plots.number_wheel(nf.INT4)
    plots.show(figure, 'A wheel with "quotes" & <marks>')
    [data] = shown
    assert data["text/plain"] == 'A wheel with "quotes" & <marks>'
    assert (
        '<img alt="A wheel with &quot;quotes&quot; &amp; &lt;marks&gt;" src="data:image/png;base64,'
        in data["text/html"]
    )
    assert figure.number not in plt.get_fignums()
