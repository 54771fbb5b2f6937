"""The frame of the widgets: the state lives in Python, the page shows facts about it and asks for changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

_FOLDER = Path(__file__).with_name("widgets")
State = TypeVar("State")


def shown(
    name: str,
    state: State,
    facts: Callable[[State], dict[str, Any]],
    changed: Callable[[State, dict[str, Any]], State],
    as_text: Callable[[State], str],
    instead: str,
) -> Any:
    """Return a widget whose page is widgets/`name`.js and .css.

    Where anywidget isn't installed, ImportError names the function that does `instead`.
    """
    try:
        return _widget(name)(state, facts, changed, as_text)
    except ImportError as error:
        message = f"This widget needs anywidget (pip install anywidget); {instead} prints the same facts without it"
        raise ImportError(message) from error


@cache
def _widget(name: str) -> type:
    """Return the class of a page; anywidget is imported only here, for numfmt itself needs NumPy alone."""
    import anywidget
    import traitlets

    class Widget(anywidget.AnyWidget):
        """The page shows `facts`, and asks by messages for what should change."""

        # A widget's module can't import a neighbour: the common part is put in front.
        _esm = "\n".join((_FOLDER / each).read_text("utf-8") for each in ("common.js", f"{name}.js"))
        _css = "\n".join((_FOLDER / each).read_text("utf-8") for each in ("common.css", f"{name}.css"))
        facts = traitlets.Dict().tag(sync=True)
        problem = traitlets.Unicode().tag(sync=True)

        def __init__(self, state: Any, facts: Any, changed: Any, as_text: Any) -> None:
            self._state, self._facts, self._changed, self._as_text = state, facts, changed, as_text
            super().__init__(facts=facts(state))
            self.on_msg(lambda _, message, __: self.do(message))

        def do(self, message: dict[str, Any]) -> None:
            """Carry out what was asked for; what makes no sense changes nothing, and is said."""
            try:
                self._state = self._changed(self._state, message)
                self.problem = ""
            except ValueError as error:
                self.problem = str(error)
            self.facts = self._facts(self._state)

        def __repr__(self) -> str:
            return str(self._as_text(self._state))

    return Widget
