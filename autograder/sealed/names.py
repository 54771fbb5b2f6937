"""The free names of a test cell: what it takes from the student."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator


def free_names(source: str) -> tuple[str, ...]:
    """Return the names that a cell reads and doesn't make itself, sorted; SyntaxError if it is no plain Python."""
    table = symtable.symtable(source, "<test cell>", "exec")
    made = {each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported()}
    return tuple(sorted(name for name in set(global_reads(table)) - made if not hasattr(builtins, name)))


def global_reads(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names that a cell's code reads anywhere, also inside its functions."""
    top = table.get_type() == "module"
    for each in table.get_symbols():
        if each.is_referenced() and (top or each.is_global()):
            yield each.get_name()
    for inner in table.get_children():
        yield from global_reads(inner)
