"""Binder: what repo2docker makes of this repository and of the bundle, without Docker."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from repo2docker.app import Repo2Docker

from autograder.course import Course
from autograder.releasing.release import release
from tests.autograder.bundle_parts import mini_bundle
from tools.pip_steps import TORCH_CPU_INDEX

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BUDGET = 1.6 * 2**30
"""Bytes that the student's packages may take in the image."""


def dockerfile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the Dockerfile that repo2docker generates for a repository."""
    monkeypatch.chdir(folder)
    app = Repo2Docker()
    for kind in app.buildpacks:
        pack = kind(app.base_image)
        pack.platform = "linux/amd64"
        if pack.detect():
            assert kind.__name__ == "PythonBuildPack" and pack.python_version == "3.11"
            return str(pack.render())
    raise AssertionError("repo2docker finds nothing that it knows")


@pytest.mark.parametrize("which", ["repository", "bundle"])
def test_repo2docker_finds_all_that_it_should_run(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = dockerfile(ROOT if which == "repository" else mini_bundle(tmp_path)[1], monkeypatch)
    copied = text.index("COPY --chown=1000:1000 src/ ${REPO_DIR}/")
    # requirements.txt refers to the lock beside it, so it can't be installed before everything is there.
    assert (
        copied
        < text.index('install --no-cache-dir -r "binder/requirements.txt"')
        < text.index("RUN ./binder/postBuild")
    )
    assert 'R2D_ENTRYPOINT="${REPO_DIR}/binder/start"' in text


def test_students_get_the_cpu_build_of_torch_as_everyone_does() -> None:
    lines = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert lines[-2:] == [f"--extra-index-url {TORCH_CPU_INDEX}", "-r course.lock"]


def test_the_students_packages_stay_within_their_budget() -> None:
    size = 0
    for line in (ROOT / "binder" / "course.lock").read_text(encoding="utf-8").splitlines():
        try:
            files = distribution(Requirement(line).name).files or []
        except PackageNotFoundError:
            continue  # one for another system
        size += sum(path.stat().st_size for path in (file.locate() for file in files) if Path(path).is_file())
    print(f"the student's packages take {size / 2**30:.2f} GiB")
    assert 2**29 < size < BUDGET


@contextmanager
def serving(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run a server on a free port as long as it is needed, and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=", "--allow-root"]
    server = subprocess.Popen([*command, *options], cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(30)


def final_address(address: str, seconds: float = 90) -> str:
    """Return where an address leads, as soon as somebody answers."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=20) as answer:
                return str(answer.url)
        except OSError as error:
            if isinstance(error, urllib.error.HTTPError) or time.monotonic() > deadline:
                raise
            time.sleep(0.5)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Do what the Dockerfile does after the installation: postBuild, in a copy of the repository; return its place.

    The packages are those of this environment, seen from a new one, so that nothing is installed into this one.
    """
    root = tmp_path_factory.mktemp("binder")
    home = root / "home"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes((ROOT / name).read_bytes())
    (home / ".git").mkdir()
    for name in ("postBuild", "start"):
        (home / "binder" / name).chmod(0o755)
    subprocess.run([sys.executable, "-m", "venv", root / "env"], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment |= {
        "PATH": os.pathsep.join([str(root / "env" / "bin"), environment["PATH"]]),
        "PYTHONPATH": sysconfig.get_paths()["purelib"],
        "JUPYTER_CONFIG_PATH": str(Path(sys.prefix) / "etc" / "jupyter"),
        "JUPYTER_PATH": str(Path(sys.prefix) / "share" / "jupyter"),
        "HOME": str(root),
    }
    made = subprocess.run(["./binder/postBuild"], cwd=home, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
    return home, environment


@pytest.mark.slow
def test_after_the_build_there_is_the_bundle_and_no_source(
    image: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    home, _ = image
    course = Course(tmp_path, ROOT / "notebooks")
    bundle = release(course, course.sections, tmp_path / "release").bundle
    there = {path.relative_to(home).as_posix(): path for path in home.rglob("*") if path.is_file()}
    wanted = {path.relative_to(bundle).as_posix(): path for path in bundle.rglob("*") if path.is_file()}
    assert there.keys() == wanted.keys()
    assert all(there[name].read_bytes() == wanted[name].read_bytes() for name in wanted)


@pytest.mark.slow
def test_whoever_opens_it_lands_on_the_welcome_page(image: tuple[Path, dict[str, str]]) -> None:
    home, environment = image
    for program in ("jupyterlab", "notebook"):  # the image's command, and what it was for years
        with serving(["./binder/start", "python", "-m", program], home, environment) as address:
            assert final_address(address).endswith("/lab/tree/welcome.ipynb")


@pytest.mark.slow
def test_binder_has_the_courses_settings_and_no_panels_for_teachers(image: tuple[Path, dict[str, str]]) -> None:
    home, environment = image
    with serving(["./binder/start", "python", "-m", "jupyterlab"], home, environment) as address:
        with urllib.request.urlopen(final_address(address)) as answer:
            (page,) = re.findall(
                r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', answer.read().decode(), re.S
            )
        with urllib.request.urlopen(f"{address}lab/api/settings/@jupyterlab/notebook-extension:tracker") as answer:
            settings = json.load(answer)["schema"]["properties"]
    disabled = json.loads(page)["disabledExtensions"]
    assert {"@jupyter/nbgrader:formgrader", "@jupyterlab/apputils-extension:announcements"} <= set(disabled)
    assert settings["kernelShutdown"]["default"] is True
