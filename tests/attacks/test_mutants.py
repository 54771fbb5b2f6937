"""Without any one of its defences, grading falls to an attack, or sees that by itself and refuses.

So what is switched off here is needed, and is tested. `make test` tries a few of them, `make mutants` all.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.course import REPOSITORY
from autograder.sealed.diagnosis import obstacle
from tests.attacks.arena import VICTIM, Field, read_attacks
from tools.system_packages import is_required


@dataclass(frozen=True)
class Mutant:
    """A defence that is switched off by changes to files (file, text, new text), and an attack that then succeeds."""

    defence: str
    attack: str
    changes: tuple[tuple[str, str, str], ...]
    options: tuple[str, ...] = ("--no-fork-server",)

    def copy_to(self, folder: Path) -> None:
        """Put the autograder without this defence into a folder."""
        shutil.copytree(REPOSITORY / "autograder", folder / "autograder")
        for name, old, new in self.changes:
            path = folder / "autograder" / name
            text = path.read_text(encoding="utf-8")
            assert text.count(old) == 1, f"{name} has changed: look for the defence there, and switch that off"
            path.write_text(text.replace(old, new), encoding="utf-8")


MUTANTS = (
    Mutant(
        "the checker's own process: AST transformers",
        "marks/ast_transformer",
        (("grading/kernel.py", "if _is_tests(notebook.cells[index]):", "if False:"),),
    ),
    Mutant(
        "the checker's own process: objects that are equal to everything",
        "marks/equal_to_everything",
        (("grading/kernel.py", "if _is_tests(notebook.cells[index]):", "if False:"),),
    ),
    Mutant(
        "test cells are the master's",
        "marks/forged_metadata",
        (("grading/rebuild.py", "slot.role in (Role.TESTS, Role.FIXED)", "slot.role is Role.FIXED"),),
    ),
    Mutant(
        "no pickles for the checker",
        "marks/pickle",
        (
            ("sealed/codec.py", "dtype.hasobject or ", ""),
            ("sealed/codec.py", "io.BytesIO(raw), allow_pickle=False", "io.BytesIO(raw), allow_pickle=True"),
        ),
    ),
    Mutant(
        "nothing tells a kernel that it is started to be graded",
        "marks/grader_seen",
        (("sealed/isolation.py", ', "--unsetenv", MARK', ""),),
    ),
    Mutant(
        "nothing tells a kernel that it is forked to be graded",
        "marks/grader_seen",
        (("sealed/zygote.py", "        _forget(mark)\n", ""),),
        options=(),
    ),
    Mutant(
        "an environment without secrets",
        "stealing/environment_and_proc",
        (("grading/scratch.py", "for name in (*_PASSED_ON, *_CACHES) if", "for name in os.environ if"),),
    ),
    Mutant(
        "a network of its own",
        "stealing/network",
        (("sealed/isolation.py", ', "--unshare-net"', ""),),
    ),
    Mutant(
        "the course isn't there",
        "stealing/files",
        (
            (
                "sealed/isolation.py",
                'bind("--ro-bind", scratch / "jupyter")',
                'bind("--ro-bind", scratch / "jupyter"); bind("--ro-bind", scratch.parents[1] / "course")',
            ),
        ),
    ),
    Mutant(
        "only the student's own folders can be written to",
        "stealing/everyones_grades",
        (("sealed/isolation.py", '"--dir", str(parent)', '"--bind", str(parent), str(parent)'),),
    ),
    Mutant(
        "the filter of system calls",
        "stealing/kernel_surface",
        (("sealed/sandbox.py", ', "--seccomp", str(rules.fileno())', ""),),
    ),
    Mutant(
        "what a hidden test makes a function raise isn't shown",
        "stealing/hidden_inputs",
        (
            (
                "grading/judging.py",
                "if _is_visible(source, outcome.line):\n        return f",
                "if True:\n        return f",
            ),
        ),
    ),
    Mutant(
        "a limit on memory",
        "harm/memory",
        (
            (
                "sealed/groups.py",
                "        return None if place is None else cls._made(place, most)",
                "        return None",
            ),
            ("sealed/watching.py", "_memory_exceeds(init, limits.memory_bytes):", "False:"),
        ),
    ),
    Mutant(
        "a limit on disk",
        "harm/disk",
        (("sealed/watching.py", "if written > limits.disk_bytes:", "if False:"),),
    ),
    Mutant(
        "a limit on processes",
        "harm/processes",
        (("sealed/isolation.py", 'f"--nproc={limits.processes}"', '"--nproc=unlimited"'),),
    ),
    Mutant(
        "a limit on processes, when forked",
        "harm/processes",
        (("sealed/entering.py", '"NPROC": limits.processes, ', ""),),
        options=(),
    ),
    Mutant(
        "a limit on output",
        "harm/output_flood",
        (("grading/output.py", "return self._cut(message)", "return message"),),
    ),
    Mutant(
        "a limit on a cell's time",
        "harm/endless_loop",
        (("grading/kernel.py", "allowed = min(seconds, self._limits.cell_seconds)", "allowed = seconds"),),
        options=("--no-fork-server", "--timeout-notebook", "8"),
    ),
    Mutant(
        "a kernel that heeds nothing is replaced",
        "harm/deaf_loop",
        (("grading/kernel.py", "if not usable:", "if False:"),),
        options=("--no-fork-server", "--timeout-notebook", "12"),
    ),
    Mutant(
        "a kernel that has ended is replaced",
        "harm/ends",
        (("grading/kernel.py", "return Outcome(Status.ERROR, KERNEL_DIED, reason), False", "raise"),),
    ),
    Mutant(
        "processes end with their kernel",
        "harm/orphans",
        (("sealed/isolation.py", ' "--unshare-pid",', ""),),
    ),
    Mutant(
        "markup of outputs is sanitised",
        "harm/markup",
        (("markup.py", "kept[kind] = clean_html(value)", "kept[kind] = value"),),
    ),
    Mutant(
        "a page may run nothing",
        "harm/markup",
        (("markup.py", r'return f"{head}{sep}\n{META}{bare}"', "return page"),),
    ),
    Mutant(
        "no control characters in messages",
        "harm/control_characters",
        (
            (
                "grading/judging.py",
                r""""".join(char if char.isprintable() or char == "\n" else " " for char in text)""",
                "text",
            ),
        ),
    ),
    Mutant(
        "texts that can't be written to a file",
        "harm/control_characters",
        (("grading/plain.py", '.encode("utf-8", "replace")', '.encode("utf-8")'),),
    ),
)


TRIED_EVERY_TIME = (
    "the checker's own process: AST transformers",
    "an environment without secrets",
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder whose path is short, as those of sockets must be."""
    problem = obstacle()
    if problem is not None:
        (pytest.fail if is_required(os.environ) else pytest.skip)(problem)
    with tempfile.TemporaryDirectory(prefix="m-", dir="/tmp") as name:
        yield Path(name)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.defence)
def test_every_defence_can_be_switched_off(mutant: Mutant, tmp_path: Path) -> None:
    mutant.copy_to(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(
            mutant, id=mutant.defence, marks=() if mutant.defence in TRIED_EVERY_TIME else pytest.mark.exhaustive
        )
        for mutant in MUTANTS
    ],
)
def test_without_it_an_attack_succeeds(mutant: Mutant, folder: Path) -> None:
    if not mutant.options and os.geteuid() != 0:
        pytest.skip("only root's kernels are forked")
    mutant.copy_to(folder / "copy")
    (attack,) = read_attacks(mutant.attack)
    report = Field.prepared(folder, [attack]).grade(
        *mutant.options, repository=folder / "copy", pages="markup" in mutant.attack
    )
    found = [*report.faults(attack), *report.changed, *report.left()]
    report.end()
    if report.results:
        assert report.results[VICTIM]["score"] == 3, "grading doesn't work at all this way, which proves nothing"
        assert found
    else:
        assert "can't be isolated" in str(report.problems)  # grading looks first, and has refused
