"""The report as one HTML page that runs nothing: each pair side by side, what they share marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from autograder.intake.entries import shown
from autograder.similarity.comparing import Alike
from autograder.similarity.submissions import Comparison, Own
from autograder.similarity.tokens import Passage

MOST_PAIRS = 200
"""Pairs that the page shows in full; the others are in its table alone."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; } th, td { padding: .25rem .75rem; text-align: left; }
tr + tr { border-top: 1px solid #bbb; } td.number { text-align: right; }
details { border-top: 1px solid #bbb; padding: .5rem 0; } summary { cursor: pointer; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
pre { background: #f5f5f2; padding: .75rem; overflow-x: auto; margin: .5rem 0; } mark { background: #ffe08a; }
"""

_INTRODUCTION = """
<p>This page shows what to look at; it decides nothing. Alike are also answers that are simply right, that follow the
same lecture, or that two people were allowed to write together. Read both sides, and talk to the students, before you
think of copying.</p>
<p>What students were given isn't counted. Names, comments, docstrings, texts and spacing make no difference. A
passage of six tokens counts the less, the more students have it. The number is the share of both students' own
passages that both have, by this weight. Marked is each line with a shared passage.</p>
"""


def make_page(section: str, threshold: float, comparison: Comparison) -> str:
    """Return the page; all that students wrote is escaped."""
    return "\n".join(_lines(section, threshold, comparison))


def _lines(section: str, threshold: float, comparison: Comparison) -> Iterator[str]:
    title = f"Similar submissions of {escape(section)}"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
    yield f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>"
    yield _INTRODUCTION
    compared, pairs = len(comparison.submissions), comparison.pairs
    yield f"<p>{compared} submissions were compared; {len(pairs)} pairs are alike by {threshold:.0%} or more.</p>"
    if pairs:
        yield "<table>\n<tr><th>students</th><th>alike</th><th>shared passages</th></tr>"
        yield from (_row(number, pair, comparison) for number, pair in enumerate(pairs))
        yield "</table>"
    for number, pair in enumerate(pairs[:MOST_PAIRS]):
        yield from _side_by_side(number, pair, comparison)
    yield "</main>\n</body>\n</html>\n"


def _row(number: int, pair: Alike, comparison: Comparison) -> str:
    names = _names(pair, comparison)
    link = f'<a href="#pair-{number}">{names}</a>' if number < MOST_PAIRS else names
    return (
        f'<tr><td>{link}</td><td class="number">{pair.similarity:.0%}</td><td class="number">{pair.shared}</td></tr>'
    )


def _names(pair: Alike, comparison: Comparison) -> str:
    first, second = comparison.submissions[pair.first], comparison.submissions[pair.second]
    return escape(f"{shown(first.student)} and {shown(second.student)}")


def _side_by_side(number: int, pair: Alike, comparison: Comparison) -> Iterator[str]:
    both = comparison.submissions[pair.first], comparison.submissions[pair.second]
    shared = both[0].codes & both[1].codes
    yield f'<details id="pair-{number}"{" open" * (number == 0)}>'
    names = _names(pair, comparison)
    yield f"<summary><b>{names}</b>: {pair.similarity:.0%}, {pair.shared} shared passages</summary>"
    yield '<div class="pair">'
    for one in both:
        yield f"<section>\n<h2>{escape(shown(one.student))}</h2>"
        yield from _cells(one, shared)
        yield "</section>"
    yield "</div>\n</details>"


def _cells(own: Own, shared: frozenset[int]) -> Iterator[str]:
    for piece, found in own.cells:
        marked = _marked(found, shared)
        lines = (_line(text, number in marked) for number, text in enumerate(piece.source.splitlines()))
        yield f"<pre>{chr(10).join(lines)}</pre>"


def _marked(found: Iterable[Passage], shared: frozenset[int]) -> frozenset[int]:
    return frozenset(line for each in found if each.code in shared for line in range(each.first, each.last + 1))


def _line(text: str, marked: bool) -> str:
    safe = escape(shown(text.expandtabs(4)))
    return f"<mark>{safe}</mark>" if marked else safe
