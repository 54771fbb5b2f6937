"""The card that a check shows below an exercise: an icon, words, and what to do; in a terminal the same as text."""

from __future__ import annotations

import html
import sys
import textwrap
from dataclasses import dataclass

_LINE = 76
"""Characters on a line of an error's text: JupyterLab breaks lines that are too long in the middle of a word."""

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_RIGHT = "border-left:0.3em solid #1a7f37;padding:0.1em 0.8em"


@dataclass(frozen=True)
class RightCard:
    """Says that an exercise is right, in green and in words."""

    exercise: str
    words: str

    def __repr__(self) -> str:
        return f"✓ {self.exercise}: {self.words}."

    def _repr_html_(self) -> str:
        name = html.escape(self.exercise)
        return f'<div style="{_RIGHT}"><strong>✓ {name}</strong>: {html.escape(self.words)}.</div>'


def show_right(card: RightCard) -> None:
    """Show a card in a notebook, and print it elsewhere."""
    if "IPython" in sys.modules:  # where it isn't, this is no notebook, and NumPy is all that numfmt needs
        from IPython import get_ipython
        from IPython.display import display

        if get_ipython() is not None:
            display(card)
            return
    print(card)


def wrong_card(icon: str, heading: str, paragraphs: tuple[str, ...]) -> list[str]:
    """Return the lines of a card that stands in place of a traceback: nbgrader's Validate button looks for it there.

    The heading is bold. Of the paragraphs, the last says what to do or to think of, if there are two.
    """
    lines = [f"{_BOLD}{icon} {heading}{_PLAIN}"]
    for sign, paragraph in zip(("  ", "→ "), paragraphs, strict=False):
        lines += textwrap.wrap(paragraph, _LINE, initial_indent=sign, subsequent_indent="  ", break_on_hyphens=False)
    return lines
