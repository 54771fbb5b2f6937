"""The bit explorer: click bits, type numbers, step from value to value, and see what a format makes of them.

`explore(0.1, "E4M3")` shows the widget in JupyterLab (it needs anywidget); where no widget runs,
`explore_text(0.1, "E4M3")` prints the same facts.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from .exploring import Exploration, as_text, explore_number, facts

_FOLDER = Path(__file__).with_name("widgets")


def explore_text(number: object = "0.1", fmt: object = "E4M3") -> None:
    """Print what a format makes of a number, given as a number or as text such as "1/3" (nearest, ties to even)."""
    print(as_text(explore_number(str(number), fmt)))


def explore(number: object = "0.1", fmt: object = "E4M3") -> Any:
    """Return the explorer as a widget, at a number (or text such as "1/3") in a format.

    Raises ValueError for what is no number, and ImportError where anywidget isn't installed.
    """
    exploration = explore_number(str(number), fmt)
    return _widget()(exploration)


@cache
def _widget() -> type:
    """Return the widget's class; anywidget is imported only here, for numfmt itself needs NumPy alone."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        message = "explore needs anywidget (pip install anywidget); explore_text prints the same facts without it"
        raise ImportError(message) from error

    class Explorer(anywidget.AnyWidget):
        """The page shows `facts`, and asks by messages for what should change."""

        _esm = _FOLDER / "explorer.js"
        _css = _FOLDER / "explorer.css"
        facts = traitlets.Dict().tag(sync=True)
        problem = traitlets.Unicode().tag(sync=True)

        def __init__(self, exploration: Exploration) -> None:
            self._now = exploration
            super().__init__(facts=facts(exploration))
            self.on_msg(lambda _, message, __: self.do(message))

        def do(self, message: dict[str, Any]) -> None:
            """Carry out what was asked for; what makes no sense changes nothing, and is said."""
            try:
                self._now = changed(self._now, message)
                self.problem = ""
            except ValueError as error:
                self.problem = str(error)
            self.facts = facts(self._now)

        def __repr__(self) -> str:
            return as_text(self._now)

    return Explorer


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
