"""The quantization bench: drag an outlier, choose bits, scheme, groups and alignment, and see what the others suffer.

`bench()` shows the widget in JupyterLab (it needs anywidget); where no widget runs, `bench_text(outlier=2)` prints
the same facts.
"""

from __future__ import annotations

from typing import Any

from ._widgets import shown
from .benching import Bench, as_text, facts


def bench_text(**settings: Any) -> None:
    """Print what quantization does to 64 weights with four outliers; settings as in `numfmt.benching.Bench`."""
    print(as_text(Bench(**settings)))


def bench(**settings: Any) -> Any:
    """Return the bench as a widget, with settings as in `numfmt.benching.Bench`.

    Raises ValueError for a setting that there isn't, and ImportError where anywidget isn't installed.
    """
    return shown("bench", Bench(**settings), facts, changed, as_text, "bench_text")


def changed(state: Bench, message: dict[str, Any]) -> Bench:
    """Return what a message of the page makes of the settings; ValueError says what is wrong with it."""
    match message:
        case {"do": "set", "name": str(name), "value": value}:
            return state.set(name, value)
    raise ValueError(f"the bench doesn't know what {message!r} means")
