"""A Sphinx extension that writes formulas as MathML, which needs neither script nor network to be read or heard."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    self.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
