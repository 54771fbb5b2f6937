"""A Sphinx extension that mends what the theme leaves out for keyboards and screen readers, in the finished pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="The book">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="This page">',
    # What scrolls sideways must be reachable without a mouse.
    "<pre>": '<pre tabindex="0">',
    '<div class="math-wrapper docutils container">': '<div class="math-wrapper docutils container" tabindex="0">',
}


def mend(app: Sphinx, error: Exception | None) -> None:
    """Rewrite the pages of a finished build."""
    for page in Path(app.outdir).rglob("*.html") if error is None else ():
        text = page.read_text(encoding="utf-8")
        for before, after in MENDED.items():
            text = text.replace(before, after)
        page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Mend when all pages are written."""
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
