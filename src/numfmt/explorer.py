"""The bit explorer: click bits, type numbers, step from value to value, and see what a format makes of them.

`explore(0.1, "E4M3")` shows the widget in JupyterLab (it needs anywidget); where no widget runs,
`explore_text(0.1, "E4M3")` prints the same facts.
"""

from __future__ import annotations

from typing import Any

from ._widgets import shown
from .exploring import Exploration, as_text, explore_number, facts


def explore_text(number: object = "0.1", fmt: object = "E4M3") -> None:
    """Print what a format makes of a number, given as a number or as text such as "1/3" (nearest, ties to even)."""
    print(as_text(explore_number(str(number), fmt)))


def explore(number: object = "0.1", fmt: object = "E4M3") -> Any:
    """Return the explorer as a widget, at a number (or text such as "1/3") in a format.

    Raises ValueError for what is no number, and ImportError where anywidget isn't installed.
    """
    return shown("explorer", explore_number(str(number), fmt), facts, changed, as_text, "explore_text")


def changed(exploration: Exploration, message: dict[str, Any]) -> Exploration:
    """Return what a message of the page makes of an exploration; ValueError says what is wrong with it."""
    match message:
        case {"do": "flip", "bit": int(bit)}:
            return exploration.flip(bit)
        case {"do": "type", "text": str(text)}:
            return exploration.type(text)
        case {"do": "step", "direction": 1 | -1 as direction}:
            return exploration.step(direction)
        case {"do": "switch", "format": str(name)}:
            return exploration.switch(name)
    raise ValueError(f"the explorer doesn't know what {message!r} means")
