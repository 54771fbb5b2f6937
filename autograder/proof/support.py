"""Test cells that can't be run apart from the student's process, found by reading them.

The checker gives a test cell plain data, and functions that pass plain data on (see `autograder.sealed`). What goes
beyond that works in JupyterLab and would fail every student when it counts; so it is refused before the release.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.parsing import parse
from autograder.sealed.names import free_names

_SHELL = {"get_ipython", "display", "In", "Out", "exit", "quit", "_", "__", "___", "_i", "_ih", "_oh", "_dh"}
_LOOKING_INSIDE = {"inspect", "dis"}
_CAPTURING = {"redirect_stdout", "redirect_stderr", "patch", "monkeypatch"}


@dataclass(frozen=True)
class Unsupported:
    """What a test cell does that can't be checked apart: the exercise, the line in the cell, and the cure."""

    grade_id: str
    line: int
    text: str
    problem: str
    cure: str

    def __str__(self) -> str:
        return f"test cell '{self.grade_id}', line {self.line} ({self.text}): {self.problem}.\n  → {self.cure}"


def unsupported(master: NotebookNode) -> tuple[Unsupported, ...]:
    """Return what the test cells of a master do that the checker can't support, in order."""
    imported, classes = _made_elsewhere(master)
    found = []
    for cell in master.cells:
        mark = cell.metadata.get("nbgrader") or {}
        if cell.cell_type == "code" and mark.get("grade") and not mark.get("solution"):
            lines = cell.source.splitlines()
            troubles = sorted(set(_troubles(cell.source, imported, classes)))
            found += [
                Unsupported(str(mark["grade_id"]), line, lines[line - 1].strip()[:80] if lines else "", *words)
                for line, *words in troubles
            ]
    return tuple(found)


def _made_elsewhere(master: NotebookNode) -> tuple[set[str], set[str]]:
    """Return the names that cells other than tests import, and those that they make classes of."""
    imported: set[str] = set()
    classes: set[str] = set()
    for cell in master.cells:
        mark = cell.metadata.get("nbgrader") or {}
        if cell.cell_type != "code" or (mark.get("grade") and not mark.get("solution")):
            continue
        try:
            tree = parse(cell.source)
        except SyntaxError:  # magics are allowed there
            continue
        for node in tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imported |= {(each.asname or each.name).partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ClassDef):
                classes.add(node.name)
    return imported, classes


def _troubles(source: str, imported: set[str], classes: set[str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, problem and cure."""
    try:
        tree, free = parse(source), set(free_names(source))
        compile(tree, "<test cell>", "exec")  # which alone finds an await outside of functions
    except SyntaxError as error:
        yield error.lineno or 1, f"it is no plain Python ({error.msg})", "Leave out %, ! and await: use Python alone"
        return
    own = _functions(tree)
    modules = {
        (each.asname or each.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for each in node.names
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from ((line, *words) for words in _of_name(node.id, free, imported, classes))
        elif isinstance(node, ast.Attribute):
            yield from ((line, *words) for words in _of_attribute(node, free, modules))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _base(node) in free:
            yield (line, *_a_copy(_base(node)))
        elif isinstance(node, ast.alias) and node.name.rpartition(".")[2] in _CAPTURING | {"mock"}:
            yield line, "what it catches or replaces is in another process", "Test what functions return"
        elif isinstance(node, ast.Call):
            yield from ((line, *words) for words in _of_call(node, free, own))


def _functions(tree: ast.Module) -> set[str]:
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    assigned = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return defined | assigned


def _of_name(name: str, free: set[str], imported: set[str], classes: set[str]) -> Iterator[tuple[str, str]]:
    if name in _SHELL and (name in free or name in ("exit", "quit")):
        yield f"{name} belongs to the notebook's shell, which isn't there", "Test values and what functions return"
    elif name in free & imported:
        yield f"{name} is imported in another cell, and modules don't cross", "Import it in the test cell"
    elif name in free & classes:
        cure = "Let a function of the student's make the object and return plain data"
        yield f"{name} is a class of another cell, and its objects don't cross", cure


def _of_attribute(node: ast.Attribute, free: set[str], modules: set[str]) -> Iterator[tuple[str, str]]:
    base = _base(node)
    if isinstance(node.value, ast.Name) and base in free and node.attr.startswith("__"):
        yield f"it looks inside {base}, which stands for something in another process", "Test what it returns"
    if isinstance(node.ctx, ast.Store) and base in free:
        yield _a_copy(base)
    elif isinstance(node.ctx, ast.Store) and base in modules:
        yield f"it changes {base} here, and the student's process has its own", "Test what functions return"


def _a_copy(name: str) -> tuple[str, str]:
    return f"it changes a copy: the student's own {name} stays as it was", "Compare; change nothing"


def _of_call(node: ast.Call, free: set[str], own: set[str]) -> Iterator[tuple[str, str]]:
    given = [*node.args, *(each.value for each in node.keywords)]
    names = {each.id for each in given if isinstance(each, ast.Name)}
    if isinstance(node.func, ast.Attribute):
        if _base(node.func) in _LOOKING_INSIDE and names & free:
            yield "it looks inside a function that is in another process", "Test what it returns"
    elif isinstance(node.func, ast.Name) and node.func.id in free and (names & own or _has_function(given)):
        cure = "Hand over plain data, or put the function into a cell of the students'"
        yield f"it hands a function or a generator to {node.func.id}, and they don't cross", cure


def _has_function(given: list[ast.expr]) -> bool:
    return any(isinstance(each, (ast.Lambda, ast.GeneratorExp)) for each in given)


def _base(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
