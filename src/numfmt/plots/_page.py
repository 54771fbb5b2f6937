"""What all figures of the course share: colours, bare axes, and the way onto the page."""

from __future__ import annotations

import base64
import html
import io
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, YELLOW, PURPLE = "#56B4E9", "#F0E442", "#CC79A7"
GREY = "#6B6B6B"
"""Okabe and Ito's colours, told apart also without colour vision; letters and markers say the same again."""


def show(figure: Figure, alt: str) -> None:
    """Display a figure in a notebook as an image with `alt` as its alternative text, and close it."""
    from IPython.display import display

    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110, bbox_inches="tight", facecolor="white")
    plt.close(figure)
    encoded = base64.b64encode(picture.getvalue()).decode()
    image = f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{encoded}" style="max-width:100%">'
    display({"text/html": image, "text/plain": alt}, raw=True)


def bare(axes: Any) -> None:
    """Take the top and right lines off a pair of axes."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
