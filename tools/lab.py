"""Build the student bundle and open JupyterLab on a working copy of it (`make lab`).

    python -m tools.lab [ARGUMENT...]      arguments go to `jupyter lab`, such as --no-browser --port=8899

The bundle is built in build/bundle; the working copy is build/lab. A file there that you changed is never touched
again. A file that you haven't changed follows the course's newer version, and one that you deleted comes back fresh.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUNDLE = ROOT / "build" / "bundle"
COURSE = ROOT / "build" / "lab_course"
"""A course folder for the release, so that a student's `make lab` leaves the instructor's gradebook alone."""
LAB = ROOT / "build" / "lab"
CONFIG = ROOT / "binder"
"""Where labconfig/ is, JupyterLab's settings for students; binder/start uses them as well."""
RECORD = ".from_bundle.json"
WELCOME = "welcome.ipynb"


@dataclass(frozen=True)
class Plan:
    """Which files to copy from the bundle, and which of the student's to keep though the bundle has newer ones."""

    copy: tuple[str, ...]
    keep: tuple[str, ...]


def plan(bundle: Mapping[str, str], lab: Mapping[str, str], record: Mapping[str, str]) -> Plan:
    """Decide from digests by path: the bundle's files, the working copy's, and those copied before."""
    copy, keep = [], []
    for path, digest in sorted(bundle.items()):
        if lab.get(path) == digest:
            continue
        if path not in lab or lab[path] == record.get(path):
            copy.append(path)
        elif digest != record.get(path):
            keep.append(path)
    return Plan(tuple(copy), tuple(keep))


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file under the folder, by its path in it."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def update(bundle: Path, lab: Path) -> Plan:
    """Bring the working copy up to date with the bundle, overwriting nothing that the student changed."""
    lab.mkdir(parents=True, exist_ok=True)
    store = lab / RECORD
    record = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    there = digests(bundle)
    decided = plan(there, digests(lab), record)
    for path in decided.copy:
        (lab / path).parent.mkdir(parents=True, exist_ok=True)
        scratch = (lab / path).with_name(f".{Path(path).name}.new")
        shutil.copy2(bundle / path, scratch)
        scratch.replace(lab / path)
        record[path] = there[path]
    scratch = store.with_name(f"{RECORD}.new")
    scratch.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    scratch.replace(store)
    return decided


def copy_of(source: Path, lab: Path) -> None:
    """Bring the working copy up to date, and say what was copied and what was kept."""
    decided = update(source, lab)
    print(f"Your work is in {lab}: {len(decided.copy)} files new or renewed, everything you changed is kept.")
    for path in decided.keep:
        print(f"  {path}: yours is kept, the course has a newer one in {source / path}")
    print("Opening JupyterLab; Ctrl-C here ends it.", flush=True)


def jupyter_command(python: str, lab: Path, uid: int, arguments: list[str], page: str = WELCOME) -> list[str]:
    """Return the command that serves the working copy at a page; later arguments win over the first ones."""
    command = [python, "-m", "jupyterlab", f"--ServerApp.root_dir={lab}", f"--LabApp.default_url=/lab/tree/{page}"]
    # A layout of its own: no tabs from, or for, whatever else this person does in JupyterLab.
    command += [f"--LabApp.workspaces_dir={lab.with_name(f'{lab.name}_workspaces')}"]
    command += ["--ServerApp.answer_yes=True"]  # Ctrl-C ends it at once, without a question
    return [*command, *(["--allow-root"] if uid == 0 else []), *arguments]


def config_path(variables: Mapping[str, str]) -> str:
    """Return JUPYTER_CONFIG_PATH with the course's settings in front: no news, no panels for teachers."""
    return os.pathsep.join(filter(None, (str(CONFIG), variables.get("JUPYTER_CONFIG_PATH", ""))))


def main(arguments: list[str]) -> int:
    """Build, copy, and hand over to JupyterLab; an error of the release is its own and ends this."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    release = [sys.executable, "-m", "autograder", "release", "--force", "--to", str(BUNDLE), "--course", str(COURSE)]
    COURSE.mkdir(parents=True, exist_ok=True)
    code = subprocess.run(release, cwd=ROOT).returncode
    if code:
        return code
    copy_of(BUNDLE, LAB)
    command = jupyter_command(sys.executable, LAB, os.geteuid(), arguments)
    os.execve(command[0], command, os.environ | {"JUPYTER_CONFIG_PATH": config_path(os.environ)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
