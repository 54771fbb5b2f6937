"""A small stand-in for the checkout that bundles take the library from, and a bundle of the mini course."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.course import Course
from autograder.releasing.assemble import Project, assemble
from autograder.releasing.manifest import MANIFEST, read_manifest, write_manifest
from tests.mini_course import SECTION, mini_course

PYPROJECT = """
[project]
name = "numfmt-course"
version = "7.8.9"
requires-python = ">=3.11"
dependencies = ["numpy>=2.0"]
"""


def mini_project(root: Path) -> Project:
    """Write a checkout with a library of one function."""
    library = root / "src" / "numfmt"
    (library / "deep").mkdir(parents=True)
    (library / "__init__.py").write_text('"""The library."""\n\nfrom numfmt.deep.inner import nine\n')
    (library / "deep" / "__init__.py").write_text("")
    (library / "deep" / "inner.py").write_text("def nine() -> int:\n    return 3 * 3\n")
    (library / "py.typed").write_text("")
    (library / "__pycache__").mkdir()
    (library / "__pycache__" / "inner.cpython-311.pyc").write_bytes(b"\0")
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "LICENSE").write_text("Do what you like, at your own risk.\n")
    (root / "binder").mkdir()
    (root / "binder" / "requirements.txt").write_text("--extra-index-url https://torch.example/cpu\n-r course.lock\n")
    (root / "binder" / "course.lock").write_text("numpy==2.4.6\n")
    (root / "binder" / "runtime.txt").write_text("python-3.11\n")
    (root / "binder" / "start").write_text('#!/bin/bash\nexec "$@"\n')
    (root / "binder" / "labconfig").mkdir()
    for name in ("default_setting_overrides", "page_config"):
        (root / "binder" / "labconfig" / f"{name}.json").write_text("{}\n")
    return Project(root)


def mini_bundle(root: Path) -> tuple[Course, Path]:
    """Make the mini course and its bundle, not yet looked at by the leak gate."""
    course = mini_course(root / "course")
    bundle = root / "bundle"
    bundle.mkdir()
    assemble(course, [SECTION], bundle, mini_project(root / "project"))
    return course, bundle


def list_again(bundle: Path) -> None:
    """Bring the manifest up to date with what is in the bundle now."""
    data = read_manifest(bundle)
    assert data is not None
    (bundle / MANIFEST).unlink()
    about = {key: value for key, value in data.items() if key not in ("kind", "schema", "files")}
    write_manifest(bundle, json.loads(json.dumps(about)))
