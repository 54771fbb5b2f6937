"""Make what students wrote harmless on a page: their HTML, and what their code displayed.

Whatever may come from a student passes a sanitiser (nh3, which is Rust's ammonia) and stands on a page whose
Content-Security-Policy allows no script, no frame, no form and no network.
"""

from __future__ import annotations

import re
from typing import Any

import nh3
from nbformat import NotebookNode

POLICY = "; ".join(
    ("default-src 'none'", "img-src data:", "style-src 'unsafe-inline'", "font-src data:", "base-uri 'none'",
     "form-action 'none'")
)  # fmt: skip
"""The Content-Security-Policy of a feedback page, which is a file of its own."""

META = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'

_STYLES = {
    "background-color", "border", "border-collapse", "color", "font-family", "font-style", "font-weight", "height",
    "max-width", "padding", "text-align", "white-space", "width",
}  # fmt: skip
"""Nothing that takes a thing out of its place on the page: it could be laid over a mark."""

_ATTRIBUTES = {tag: set(names) - {"class"} for tag, names in nh3.ALLOWED_ATTRIBUTES.items()} | {
    "*": {"style", "title", "aria-label", "role"}
}
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
_SHOWN = ("text/html", "text/markdown", "image/png", "image/jpeg", "text/plain")
"""What is kept of an output; all else (SVG, LaTeX, JavaScript, widgets) can do more than show itself."""

_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")


def clean_html(html: str) -> str:
    """Return HTML without whatever could run, load, cover, or lead to anything but a web page."""
    return nh3.clean(
        html,
        tags=nh3.ALLOWED_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto", "data"},
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Return what an attribute's value becomes; None takes the attribute away."""
    if name == "src":
        return value if _PICTURE.fullmatch(value) else None
    if name in ("href", "cite"):
        return value if _LINK.match(value.strip()) else None
    return value


def clean_output(output: NotebookNode) -> None:
    """Leave in an output of a cell only what is harmless, in place."""
    if "data" in output:
        kept = {kind: _text(value) for kind, value in output["data"].items() if kind in _SHOWN}
        for kind, value in list(kept.items()):
            if kind in ("text/html", "text/markdown"):
                kept[kind] = clean_html(value)
            elif kind.startswith("image/") and not _BASE64.fullmatch(value):
                del kept[kind]
        left_out = ", ".join(kind for kind in output["data"] if kind not in kept)
        output["data"], output["metadata"] = kept or {"text/plain": f"(not shown here: {left_out})"}, {}
    for part in ("text", "evalue", "ename"):
        if part in output:
            output[part] = printable(_text(output[part]))
    if "traceback" in output:
        output["traceback"] = [printable(_text(line), keep="\x1b") for line in output["traceback"]]


def printable(text: str, keep: str = "") -> str:
    """Return a text without control characters and without those that turn its direction round."""
    return "".join(
        each if each.isprintable() or each in "\n\t" + keep else "\N{REPLACEMENT CHARACTER}" for each in text
    )


def with_policy(page: str) -> str:
    """Return a page with the Content-Security-Policy at the very beginning of its head, and without scripts."""
    head, sep, rest = page.partition("<head>")
    bare = re.sub(r"<script\b.*?</script\s*>", "", rest, flags=re.DOTALL | re.IGNORECASE)
    return f"{head}{sep}\n{META}{bare}"


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value)
