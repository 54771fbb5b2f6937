"""Stock tools start kernels behind the walls when a kernelspec asks for the provisioner."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import psutil
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.sealed import diagnosis
from autograder.sealed.provisioner import NAME
from tools.system_packages import is_required

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def kernelspec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a kernelspec that names the provisioner; yield where scratch folders go."""
    problem = diagnosis.obstacle()
    if problem is not None:
        (pytest.fail if is_required(os.environ) else pytest.skip)(problem)
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Sealed",
        "language": "python",
        "metadata": {"kernel_provisioner": {"provisioner_name": NAME, "config": {"limits": {"file_bytes": 4096}}}},
    }
    folder = tmp_path / "share" / "kernels" / "sealed"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    monkeypatch.setenv("COURSE_SECRET", "canary")
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:  # short: paths of sockets are
        monkeypatch.setattr(tempfile, "tempdir", scratch)
        yield Path(scratch)


def executed(*sources: str, **options: object) -> NotebookNode:
    notebook = new_notebook(cells=[new_code_cell(dedent(source).strip()) for source in sources])
    NotebookClient(notebook, kernel_name="sealed", **options).execute()
    return notebook


def printed(notebook: NotebookNode, cell: int = 0) -> str:
    return "".join(output.get("text", "") for output in notebook.cells[cell].outputs)


def test_a_plain_notebook_client_runs_behind_the_walls(kernelspec: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    marker = tmp_path / "left"
    listener = socket.create_server(("127.0.0.1", 0))
    notebook = executed(
        f"""
        import atexit, os, pathlib, socket, subprocess
        def tried(name, action):
            try: print(name, 'GOT', action())
            except BaseException as error: print(name, type(error).__name__)
        tried('secret', lambda: open({str(secret)!r}).read())
        tried('environment', lambda: os.environ['COURSE_SECRET'])
        tried('network', lambda: socket.create_connection(('127.0.0.1', {listener.getsockname()[1]}), 2))
        tried('large file', lambda: pathlib.Path('large').write_bytes(b'x' * 5000))
        tried('grader', lambda: [line for line in os.popen('cat /proc/*/cmdline') if 'pytest' in line][0])
        print(os.listdir(), os.getuid() == {os.getuid()} == 0)
        atexit.register(lambda: open({str(marker)!r}, 'w').close())
        child = subprocess.Popen(['sleep', '1234'], start_new_session=True)
        """,
        "1 + 1",
    )
    listener.close()
    assert printed(notebook).splitlines() == [
        "secret FileNotFoundError",
        "environment KeyError",
        "network ConnectionRefusedError",
        "large file OSError",
        "grader IndexError",
        "['large'] False",
    ]
    assert notebook.cells[1].outputs[0]["data"]["text/plain"] == "2"
    assert not list(kernelspec.iterdir()) and not marker.exists()
    assert not [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", "1234"]]


def test_a_cell_that_loops_is_interrupted_by_a_message(kernelspec: Path) -> None:
    notebook = executed(
        "import time\nkept = 7\ntime.sleep(60)",
        "print(kept)",
        timeout=3,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "Slow", "evalue": "", "traceback": []},
        allow_errors=True,
    )
    assert printed(notebook, 1) == "7\n"


def test_a_kernel_that_ends_is_seen_and_cleaning_up_twice_does_no_harm(kernelspec: Path) -> None:
    async def run() -> None:
        manager = AsyncKernelManager(kernel_name="sealed")
        await manager.start_kernel()
        client = manager.client()
        client.start_channels()
        await client.wait_for_ready(timeout=60)
        assert await manager.is_alive() and list(kernelspec.iterdir())
        await manager.restart_kernel(now=True)
        await client.wait_for_ready(timeout=60)
        client.execute("import os; os._exit(3)")
        deadline = time.monotonic() + 30
        while await manager.is_alive():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        client.stop_channels()
        await manager.shutdown_kernel()
        await manager.cleanup_resources()
        await manager.provisioner.cleanup()

    asyncio.run(run())
    assert not list(kernelspec.iterdir())
