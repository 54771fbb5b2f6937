"""The proof of the exercises: solution full marks, stub none, each named mistake none and its own hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from nbformat import NotebookNode

from autograder.course import Course
from autograder.grading.plain import PlainRunner
from autograder.grading.result import CellResult, Result, State
from autograder.grading.seam import grade_again_if_unsound
from autograder.grading.template import template
from autograder.limits import Limits, read_limits
from autograder.proof.catalogue import MINIMUM, Entry, WrongAnswer, read_catalogue
from autograder.proof.exercises import Exercise, find_exercises
from autograder.proof.sealing import variant_counts
from autograder.proof.support import Unsupported, unsupported
from autograder.proof.trials import HIDDEN, needed_cells, only, with_answers, with_tests_apart, with_tests_of
from autograder.sealed.forking import ForkServer
from autograder.sealed.runner import choose_runner
from autograder.variants import covering


@dataclass(frozen=True)
class WrongProof:
    """A named mistake: its points on the hidden tests, and what the visible check said to it."""

    wrong: WrongAnswer
    score: float
    said: str
    state: State

    @property
    def faults(self) -> Iterator[str]:
        """What is not as it should be."""
        if self.state is State.INFRA_ERROR:
            yield f"'{self.wrong.name}' couldn't be graded"
        elif self.state is State.TIMEOUT:
            yield f"'{self.wrong.name}' runs into a time limit"
        if self.score:
            yield f"'{self.wrong.name}' passes the hidden tests"
        if self.wrong.hint not in self.said:
            yield f"'{self.wrong.name}' gets another hint in the visible check: {self.said or 'none'}"


@dataclass(frozen=True)
class ExerciseProof:
    """What was found of one exercise: the points of its solution and of its stub, and its named mistakes."""

    section: str
    exercise: Exercise
    reference: CellResult
    stub: CellResult
    wrong: tuple[WrongProof, ...]
    unsupported: tuple[Unsupported, ...] = ()
    variants: Mapping[str, ExerciseProof] = field(default_factory=dict)
    """The same with other inputs, by codes that choose them."""

    @property
    def faults(self) -> tuple[str, ...]:
        """What is not as it should be, in plain words; empty if the exercise is proven."""
        return tuple(self._faults())

    def _faults(self) -> Iterator[str]:
        yield from map(str, self.unsupported)
        if self.reference.state is not State.PASSED:
            yield f"its solution doesn't pass: {self.reference.message}"
        if self.stub.points or self.stub.state is State.INFRA_ERROR:
            yield f"its stub earns {self.stub.points:g} points ({self.stub.state})"
        if len(self.wrong) < MINIMUM:
            yield f"it has {len(self.wrong)} named wrong answers; at least {MINIMUM} are needed"
        for wrong in self.wrong:
            yield from wrong.faults
        for code, proof in self.variants.items():
            yield from (f"with the code {code}: {fault}" for fault in proof.faults)

    def to_json(self) -> dict[str, Any]:
        """Return the proof as plain data; a wrong answer's `hint` is None if the visible check didn't give it."""
        return {
            "section": self.section,
            "grade_id": self.exercise.grade_id,
            "points": self.exercise.points,
            "reference": self.reference.points,
            "stub": self.stub.points,
            "wrong": [
                {
                    "name": each.wrong.name,
                    "score": each.score,
                    "hint": each.wrong.hint if each.wrong.hint in each.said else None,
                }
                for each in self.wrong
            ],
            "faults": list(self.faults),
        }


Job = tuple[str, NotebookNode, NotebookNode]


@dataclass(frozen=True)
class Plan:
    """The gradings that prove a section: each a label, a master, and a submission.

    The notebooks of `jobs` lack the cells that no exercise seems to need; `whole` has the same ones with all cells.
    """

    section: str
    exercises: tuple[Exercise, ...]
    catalogue: Mapping[str, Entry]
    jobs: tuple[Job, ...]
    whole: Mapping[str, Job]
    runner: PlainRunner
    limits: Limits
    unsupported: tuple[Unsupported, ...]


def plans(course: Course, section: str, server: ForkServer | None = None) -> tuple[Plan, ...]:
    """Plan the proof of a section, and then of its exercises with variants for codes that choose each variant."""
    counts = variant_counts(course, section)
    codes = [_plan(course, section, server, code, frozenset(counts)) for code in covering(counts)]
    return _plan(course, section, server), *codes


def together(proofs: Iterable[tuple[str, ExerciseProof]]) -> tuple[ExerciseProof, ...]:
    """Return proofs, each with its code, as one proof for each exercise."""
    found: dict[tuple[str, str], ExerciseProof] = {}
    for code, proof in proofs:
        name = (proof.section, proof.exercise.grade_id)
        found[name] = replace(found[name], variants={**found[name].variants, code: proof}) if code else proof
    return tuple(found.values())


def _plan(
    course: Course, section: str, server: ForkServer | None, code: str = "", names: frozenset[str] | None = None
) -> Plan:
    """Plan the proof of a section: its solutions, its stubs, and then the k-th mistake of every exercise at once.

    With `names`, only of these exercises, for the student with this code. They are graded as submissions are: sealed,
    where this machine can do that.

    Exercises don't depend on each other's answers, so one run tries a mistake in each of them. The masters of these
    runs have their test cells taken apart, which tells the visible check from the hidden tests.
    """
    master = course.master(section)
    if names is not None:
        master = with_tests_of(master, names)
    catalogue = read_catalogue(course.catalogue_path(section))
    exercises = find_exercises(master)
    wrong = {each.grade_id: catalogue.get(each.grade_id, Entry(())).wrong for each in exercises}
    apart = with_tests_apart(master)
    jobs = [("reference", master, master), ("stub", master, template(master))]
    for k in range(max((len(each) for each in wrong.values()), default=0)):
        answers = {grade_id: each[k].answer for grade_id, each in wrong.items() if k < len(each)}
        jobs.append((f"wrong {k}", apart, with_answers(master, answers)))
    folder = course.master_path(section).parent
    runner, limits = choose_runner(folder, unsafe=True, server=server, code=code), read_limits(folder)
    whole = {job[0]: job for job in jobs}
    short = tuple(map(_shortened, jobs))
    return Plan(section, exercises, catalogue, short, whole, runner, limits, unsupported(master))


def _shortened(job: Job) -> Job:
    """Return a job of wrong answers without the cells that no exercise needs; the others stay as they are."""
    label, master, submission = job
    if not label.startswith("wrong"):
        return job
    ids = needed_cells(submission)
    return label, only(master, ids), only(submission, ids)


def run(work: Plan, workers: int, done: Callable[[], None] = lambda: None) -> tuple[ExerciseProof, ...]:
    """Grade what the plan holds, `workers` notebooks at a time, and return the proofs in the notebook's order."""

    def one(job: Job) -> tuple[str, Result]:
        label, master, submission = job
        result = grade_again_if_unsound(master, submission, work.runner, work.limits)
        done()
        return label, result

    with ThreadPoolExecutor(workers) as pool:
        try:
            results = dict(pool.map(one, work.jobs))
            doubtful = _doubtful(work, results)
            results |= dict(pool.map(one, [work.whole[label] for label in doubtful]))
        except BaseException:
            work.runner.stop.set()
            raise
    return _proofs(work, results)


def _doubtful(work: Plan, results: Mapping[str, Result]) -> list[str]:
    """Return the jobs whose wrong answers aren't proven: a cell that was left out may be the reason."""
    found = {
        f"wrong {k}" for proof in _proofs(work, results) for k, wrong in enumerate(proof.wrong) if any(wrong.faults)
    }
    return sorted(found)


def _proofs(work: Plan, results: Mapping[str, Result]) -> tuple[ExerciseProof, ...]:
    cells = {(label, cell.grade_id): cell for label, result in results.items() for cell in result.cells}
    return tuple(_proof(work, exercise, cells) for exercise in work.exercises)


def _proof(work: Plan, exercise: Exercise, cells: Mapping[tuple[str, str], CellResult]) -> ExerciseProof:
    name = exercise.grade_id
    wrong = tuple(
        WrongProof(each, hidden.points, visible.message, hidden.state)
        for k, each in enumerate(work.catalogue.get(name, Entry(())).wrong)
        for visible, hidden in [(cells[f"wrong {k}", name], cells[f"wrong {k}", name + HIDDEN])]
    )
    troubles = tuple(each for each in work.unsupported if each.grade_id == name)
    return ExerciseProof(work.section, exercise, cells["reference", name], cells["stub", name], wrong, troubles)
