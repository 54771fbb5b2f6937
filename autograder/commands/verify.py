"""`autograder verify`: prove every exercise: solution, stub and named wrong answers."""

from __future__ import annotations

import argparse
import os
from contextlib import closing

from autograder.console import print_json, print_table, progress, say, warn
from autograder.course import Course
from autograder.errors import CourseError, ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections to prove (default: all)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="notebooks run at once (default: cores)"
    )


def run(course: Course, options: argparse.Namespace) -> int:
    """Prove the sections and print a table of exercises and wrong answers."""
    from autograder.proof.verify import plans, together
    from autograder.proof.verify import run as prove
    from autograder.sealed.forking import ForkServer

    sections = course.select(options.sections)
    if not sections:
        raise CourseError(f"There is no section in {course.source}.", "Write one, or name a course with --course.")
    server = ForkServer()
    planned = [plan for section in sections for plan in plans(course, section, server)]
    with closing(server), progress(sum(len(each.jobs) for each in planned), "verify") as done:
        proofs = together(
            (each.runner.code, proof) for each in planned for proof in prove(each, max(1, options.workers), done)
        )
    runner = planned[0].runner.name
    if runner == "plain":
        warn("Nothing is isolated here, so the proof is by the plain runner; `autograder doctor` says why.")
    for proof in proofs:
        for fault in proof.faults:
            warn(f"{proof.section}, {proof.exercise.grade_id}: {fault}")
    if options.json:
        print_json({"runner": runner, "exercises": [proof.to_json() for proof in proofs]})
    else:
        columns = ("section", "exercise", "#points", "#solution", "#stub", "wrong answers (✓ no points, own hint)")
        rows = [
            (
                proof.section,
                proof.exercise.grade_id,
                f"{proof.exercise.points:g}",
                f"{proof.reference.points:g}",
                f"{proof.stub.points:g}",
                "  ".join(f"{'✗' if any(each.faults) else '✓'} {each.wrong.name}" for each in proof.wrong),
            )
            for proof in proofs
        ]
        print_table("Proof of the exercises", columns, rows)
        mistakes = sum(len(proof.wrong) for proof in proofs)
        faulty = sum(bool(proof.faults) for proof in proofs)
        verdict = f"{faulty} of them have faults" if faulty else "all proven"
        say(f"{len(proofs)} exercises, {mistakes} named wrong answers: {verdict}.")
    return ExitCode.PROBLEMS if any(proof.faults for proof in proofs) else ExitCode.OK
