"""The course itself can be released: every section that exists, with the library and the locked versions."""

from __future__ import annotations

import json

import pytest

from autograder.course import REPOSITORY, Course
from autograder.releasing.plan import PLAN
from autograder.releasing.release import Release, release

pytestmark = pytest.mark.slow  # all sections with all their outputs: seconds of scanning

COURSE = Course.at(REPOSITORY)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Release:
    course = Course(tmp_path_factory.mktemp("course"), COURSE.source)
    return release(course, course.sections, course.root / "release")


def test_no_answer_of_the_course_leaks(released: Release) -> None:
    assert [str(leak) for leak in released.leaks] == []


def test_every_section_is_in_the_bundle_with_what_it_needs(released: Release) -> None:
    assert released.sections == COURSE.sections
    for section in released.sections:
        kept = {path.name for path in (released.bundle / section).iterdir()}
        beside = {
            path.name for path in (COURSE.source / section).iterdir() if path.suffix in (".npy", ".png", ".svg")
        }
        assert kept >= {f"{section}.ipynb", "checks.json", *beside}
        assert not any(name.endswith((".md", ".toml", ".py")) for name in kept)


def test_every_section_is_planned(released: Release) -> None:
    assert set(released.sections) <= {planned.name for planned in PLAN}
    manifest = json.loads((released.bundle / "manifest.json").read_text())
    assert all(section["exercises"] >= 10 for section in manifest["sections"])
