"""What all tests share: where notebooks are collected, and the browser."""

from __future__ import annotations

import os

import pytest

from tools.system_packages import CHROMIUM_MISSING, find_chromium, is_required

# Notebooks under tests/ are data of tests; nbval is for the course's own.
collect_ignore_glob = ["*.ipynb"]

LONGEST = {
    "test_verify.py", "test_attacks.py", "test_lectures.py", "test_sources.py", "test_binder.py", "test_forking.py",
    "test_walls.py",
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files that take minutes, so that none of them is left for one worker at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST and item.path.suffix != ".ipynb")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of a Chromium that starts; without one skip, or fail in continuous integration."""
    path = find_chromium()
    if path:
        return path
    if is_required(os.environ):
        pytest.fail(f"{CHROMIUM_MISSING} (CI=true: nothing may be skipped).")
    pytest.skip(f"{CHROMIUM_MISSING}.")
