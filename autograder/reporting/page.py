"""The class report as one HTML page that runs nothing and can be shown in class: it names no student."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from statistics import median

from autograder.grading.result import State
from autograder.reporting.figures import WORDS, distribution, exercises
from autograder.reporting.results import SectionResults

MOST_MISCONCEPTIONS = 15
"""Misconceptions that a section's table shows."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; } th, td { padding: .25rem .75rem; text-align: left; vertical-align: top; }
tr + tr { border-top: 1px solid #bbb; } .number { text-align: right; }
figure { margin: 1rem 0; } img { max-width: 100%; } figcaption { font-style: italic; }
"""


def make_page(results: Sequence[SectionResults]) -> str:
    """Return the page."""
    return "\n".join(_lines(results))


def _lines(results: Sequence[SectionResults]) -> Iterator[str]:
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>Class report</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Class report</h1>"
    for each in results:
        yield from _section(each)
    yield "</main>\n</body>\n</html>\n"


def _section(results: SectionResults) -> Iterator[str]:
    yield f"<h2>{escape(results.section)}</h2>"
    count, middle = len(results.scores), median(results.scores)
    who = f"{count} students have" if count != 1 else "1 student has"
    told = f"{who} a grade. Half of them have {middle:g} of {results.max_score:g} points or more."
    yield _figure(distribution(results), f"Histogram of scores. {told}", told)
    if results.states:
        hardest = results.hardest[0]
        told = f"The hardest exercise was {hardest}: {_share(results.solved(hardest))} solved it."
        yield _figure(exercises(results), f"Bars: how many solved each exercise. {told} The table has all.", told)
        yield from _exercises(results)
    yield from _misconceptions(results)


def _exercises(results: SectionResults) -> Iterator[str]:
    met = [state for state in State if any(states[state] for states in results.states.values())]
    heads = "".join(f'<th class="number">{WORDS[state]}</th>' for state in met)
    yield f'<table>\n<tr><th>exercise, hardest first</th><th class="number">share</th>{heads}</tr>'
    for name in results.hardest:
        counts = "".join(f'<td class="number">{results.states[name][state]}</td>' for state in met)
        share = _share(results.solved(name))
        yield f'<tr><td>{escape(name)}</td><td class="number">{share}</td>{counts}</tr>'
    yield "</table>"


def _misconceptions(results: SectionResults) -> Iterator[str]:
    yield "<h3>What was misunderstood</h3>"
    shown, rest = results.misconceptions[:MOST_MISCONCEPTIONS], results.misconceptions[MOST_MISCONCEPTIONS:]
    if shown:
        yield '<table>\n<tr><th class="number">students</th><th>exercise</th><th>mistake</th><th>hint</th></tr>'
        for each in shown:
            texts = "".join(f"<td>{escape(text)}</td>" for text in (each.exercise, each.name, each.hint))
            yield f'<tr><td class="number">{each.students}</td>{texts}</tr>'
        yield "</table>"
    else:
        yield "<p>No wrong answer was one of those that have a name.</p>"
    if rest:
        yield f"<p>{len(rest)} rarer mistakes aren't shown; --json has all.</p>"
    if results.unnamed:
        yield f"<p>Wrong in a way that has no name yet: {escape(_counts(results.unnamed))}.</p>"


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in counter.most_common())


def _share(share: float) -> str:
    return f"{share:.0%}"


def _figure(svg: str, alt: str, caption: str) -> str:
    data = base64.b64encode(svg.encode()).decode()
    image = f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>\n{image}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"
