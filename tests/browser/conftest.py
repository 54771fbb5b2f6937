"""The release bundle, served as `make lab` does, and a browser on it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from autograder.course import Course
from autograder.releasing.release import release
from tools.lab import config_path, jupyter_command

# A busy machine takes its time; what never comes is found all the same.
expect.set_options(timeout=60_000)

CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the released bundle as `make lab` does, and yield the address."""
    root = tmp_path_factory.mktemp("lab")
    course = Course(root, Course.at(Path.cwd()).source)
    assert release(course, course.sections, root / "bundle").leaks == ()
    options = [
        "--no-browser",
        "--ServerApp.port=0",
        "--IdentityProvider.token=t",
        "--LabApp.expose_app_in_browser=true",
    ]
    command = jupyter_command(sys.executable, root / "bundle", os.geteuid(), options)
    homes = {f"JUPYTER_{name}_DIR": str(root / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = os.environ | homes | {"JUPYTER_CONFIG_PATH": config_path({})}
    log = root / "lab.log"
    with (
        log.open("wb") as sink,
        subprocess.Popen(command, env=environment, stderr=sink, start_new_session=True) as server,
    ):
        try:
            yield _address(server, log)
        finally:
            os.killpg(server.pid, signal.SIGTERM)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(600):
        found = re.search(r"(http://(?:localhost|127\.0\.0\.1):\d+)/lab", log.read_text(errors="replace"))
        if found:
            return found[1]
        if server.poll() is not None:
            break
        time.sleep(0.1)
    pytest.fail(f"JupyterLab doesn't serve:\n{log.read_text(errors='replace')}")


@pytest.fixture
def page(lab: str, chromium: str) -> Iterator[Page]:
    """Open the address that `make lab` opens."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM)
        page = browser.new_page(viewport={"width": 1280, "height": 1400})
        page.set_default_timeout(60_000)
        # JupyterLab would open again what an earlier test left open, and then put the welcome page in front.
        layout = page.request.delete(f"{lab}/lab/api/workspaces/default", headers={"Authorization": "token t"})
        assert layout.status in (204, 404), layout.text()
        page.goto(f"{lab}/?token=t")
        yield page
        browser.close()
