"""The lock files: complete on every system, without hosts or paths, and in step with each other."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lock import LOCKS, PROJECT, names, tidy, wanted_anywhere


def pins(extra: str) -> list[str]:
    return LOCKS[extra].read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("extra", LOCKS)
def test_every_line_is_one_exact_pin_and_names_no_host_or_path(extra: str) -> None:
    for line in pins(extra):
        assert re.fullmatch(r'[\w.-]+==[\w.]+( ; sys_platform == "\w+")?', line), line


@pytest.mark.parametrize("extra", LOCKS)
def test_torch_is_pinned_without_a_build_tag(extra: str) -> None:
    assert "torch==2.13.0" in pins(extra)
    assert not [line for line in pins(extra) if line.startswith(("nvidia", "triton"))]


def test_the_students_lock_is_a_part_of_the_other() -> None:
    assert set(pins("course")) < set(pins("dev"))
    assert {"torch", "matplotlib", "jupyterlab", "nbgrader", "numpy"} <= names(pins("course"))
    assert not {"pytest", "mypy", "playwright", "hypothesis"} & names(pins("course"))


@pytest.mark.parametrize("extra", LOCKS)
def test_the_lock_holds_what_is_needed_on_linux_macos_and_windows(extra: str) -> None:
    assert wanted_anywhere(extra) - names(pins(extra)) == set()


def test_the_set_up_builds_the_project_with_a_locked_setuptools() -> None:
    assert "setuptools" in names(pins("dev"))


def test_the_tests_run_on_the_locked_versions() -> None:
    here = {canonicalize_name(each.name): each for each in map(Requirement, pins("dev")) if each.marker is None}
    differing = {name: version(name) for name, pin in here.items() if not pin.specifier.contains(version(name))}
    assert differing == {}


def test_tidy_keeps_only_pins() -> None:
    compiled = (
        f"# by a tool\n--extra-index-url x\n{PROJECT} @ file:///somewhere\ntorch==2.13.0+cpu\n\nnumpy==2.4.6\n# pip\n"
    )
    assert tidy(compiled) == ["torch==2.13.0", "numpy==2.4.6"]


def test_no_file_of_the_set_up_names_a_host_but_pytorchs_own() -> None:
    root = Path(__file__).resolve().parents[2]
    files = [root / "Makefile", root / ".ci" / "run", root / "pyproject.toml", *LOCKS.values()]
    files += (root / "tools").rglob("*.*")
    texts = [file.read_text(encoding="utf-8") for file in files if file.suffix != ".pyc"]
    found = [address for text in texts for address in re.findall(r"https?://[^\s\"')]+", text)]
    assert found == ["https://download.pytorch.org/whl/cpu"]
