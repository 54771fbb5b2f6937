"""What surrounds the code: workflows, hooks, citation and changelog say what is so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_what_there_is_with_few_rights(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"]["contents"] == "read"
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(job["timeout-minutes"] <= 60 for job in workflow["jobs"].values())
    used = {target for step in steps for target in re.findall(r"make (?:PYTHON=\S+ )?([a-z-]+)", step.get("run", ""))}
    assert "test" in used and used <= targets()
    assert all(re.search(r"@v\d+$", step["uses"]) for step in steps if "uses" in step)


def test_pull_requests_are_tested_and_drift_is_looked_for_every_week() -> None:
    by_name = {path.stem: read(path) for path in WORKFLOWS}
    # YAML 1.1 reads the key `on` as a truth value.
    assert "pull_request" in by_name["test"][True]
    assert len(by_name["drift"][True]["schedule"]) == 1
    assert "gh issue create" in json.dumps(by_name["drift"])


def test_the_hooks_are_valid_and_call_what_the_environment_has() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    hooks = [hook for repo in read(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert {"ruff-check", "ruff-format", "notebooks", "codespell"} == {hook["id"] for hook in hooks}
    for hook in hooks:
        assert (Path(sys.executable).parent / Path(hook["entry"].split()[0]).name).is_file()


def test_the_container_makes_the_environment_as_everyone_does() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["updateContentCommand"] == "make setup"


def test_citation_and_changelog_are_of_this_version() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0" and citation["version"] == VERSION
    assert {"title", "message", "authors", "license"} <= citation.keys()
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings[0] == VERSION
