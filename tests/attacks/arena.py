"""Where the attacks take place: a course with secrets, graded by the command line, and a look at what is left of it.

An attack is a notebook (MyST text, `<class>/<name>.md`) with the score that it has to get and, if it stops something
of its own, words that its student has to read. It is handed in as it is: as a submission that has lost all cells but
the student's.
"""

from __future__ import annotations

import hashlib
import json
import os
import socketserver
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import psutil
from bs4 import BeautifulSoup, Tag
from nbformat import NotebookNode

from autograder.course import REPOSITORY, Course
from autograder.limits import LIMITS
from tests.jobs import abandoned_groups
from tests.mini_course import SECTION, answered, mini_course

HERE = Path(__file__).parent
SECRET = "canary-of-the-course"
"""Is in the environment, in files and in another student's answer; no output or page may hold it."""

HIDDEN = "canary-of-the-hidden-tests"
VICTIM = "victim"
CELL_SECONDS = "3"


@dataclass(frozen=True)
class Attack:
    """An attack: its name, its notebook, the score it must get, and words to be found in the notes or messages."""

    name: str
    notebook: NotebookNode
    score: float
    says: str

    @property
    def student(self) -> str:
        """Who hands it in."""
        return self.name.replace("/", ".")


def read_attacks(pattern: str = "*/*") -> tuple[Attack, ...]:
    """Return the attacks whose name matches, sorted."""
    found = []
    for path in sorted(HERE.glob(f"{pattern}.md")):
        notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst")
        expected = notebook.metadata
        name = path.relative_to(HERE).with_suffix("").as_posix()
        found.append(Attack(name, notebook, float(expected["score"]), str(expected.get("says", ""))))
    return tuple(found)


@dataclass(frozen=True)
class Field:
    """A course that is attacked: its folder, the folder for temporary files, and who attacks."""

    course: Course
    temporary: Path
    students: tuple[str, ...] = ()

    @classmethod
    def prepared(cls, root: Path, attacks: Sequence[Attack]) -> Field:
        """Make a course with secrets, and hand in the attacks and one honest student's answers."""
        course = mini_course(root / "course")
        master_path = course.master_path(SECTION)
        master = nbformat.read(master_path, 4)
        for cell in master.cells:
            cell.source = cell.source.replace("### END HIDDEN", f"# {HIDDEN}\n### END HIDDEN")
        nbformat.write(master, master_path)
        course.master_path(SECTION).with_name(LIMITS).write_text('memory_bytes = "512 MiB"')
        (course.root / "secret.txt").write_text(SECRET)
        (root / "t").mkdir()
        field = cls(course, root / "t", tuple(attack.student for attack in attacks))
        secretive = answered(f"seven_squared_minus_42 = 7  # {SECRET}", "def double(number):\n    return 2 * number")
        field.hand_in(VICTIM, nbformat.writes(secretive).encode())
        for attack in attacks:
            field.hand_in(attack.student, nbformat.writes(attack.notebook).encode("utf-8", "surrogatepass"))
        return field

    def hand_in(self, student: str, data: bytes) -> None:
        """Put a submission where collected ones are."""
        path = self.course.submitted(student, SECTION)
        path.parent.mkdir(parents=True)
        path.write_bytes(data)

    def grade(self, *options: str, repository: Path = REPOSITORY, pages: bool = True) -> Report:
        """Grade everything as an instructor would, give feedback if there shall be pages, and look at what is left.

        Meanwhile two servers of this machine tell the secret to whoever reaches them.
        """
        environment = {
            **os.environ, "TMPDIR": str(self.temporary), "CANVAS_TOKEN": SECRET, "PYTHONPATH": str(repository)
        }  # fmt: skip
        before = self._digests()
        command = [sys.executable, "-m", "autograder", "grade", "--json", "--timeout-cell", CELL_SECONDS, *options]
        with (
            _telling(socketserver.TCPServer, ("127.0.0.1", 0)),
            _telling(socketserver.UnixStreamServer, f"\0{SECRET}-{uuid.uuid4().hex}"),
        ):
            done = self._run(command, environment)
        if pages:
            self._run([sys.executable, "-m", "autograder", "feedback"], environment)
        try:
            told = json.loads(done.stdout)
        except ValueError:
            told = {"submissions": [], "problems": [{"problem": done.stderr}]}
        changed = sorted(name for name, digest in self._digests().items() if before.get(name) != digest)
        results = {each["student"]: each for each in told["submissions"]}
        return Report(self, results, told["problems"], changed, pages)

    def _run(self, command: Sequence[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.course.root, env=environment, capture_output=True, text=True, timeout=900, check=False
        )

    def _digests(self) -> dict[str, str]:
        """Return a digest of every file that grading has no business with."""
        root = self.course.root
        files = chain(self.course.source.rglob("*"), (root / "submitted").rglob("*"), root.glob("*.txt"))
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()}


@contextmanager
def _telling(kind: type[socketserver.BaseServer], address: Any) -> Iterator[None]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(SECRET.encode())

    with kind(address, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@dataclass(frozen=True)
class Report:
    """What came of grading: results by student, problems, and files that changed though they mustn't."""

    field: Field
    results: dict[str, dict[str, Any]]
    problems: list[dict[str, str]]
    changed: list[str]
    has_pages: bool

    def faults(self, attack: Attack) -> list[str]:
        """Return all that grading did wrong about an attack."""
        result = self.results.get(attack.student)
        if result is None:
            return [f"no result: {self.problems}"]
        words = "\n".join([*result["notes"], *(cell["message"] for cell in result["cells"])])
        told = words + self._outputs(attack.student)
        checks = {
            f"a score of {result['score']}": result["score"] == attack.score,
            f"run by {result['runner']}": result["runner"] == "sealed",
            "unsound": all(cell["state"] != "infra_error" for cell in result["cells"]),
            f"doesn't say {attack.says!r}": attack.says in words,
            "gives something away": not any(each in told for each in ("GOT", SECRET, HIDDEN)),
            "control characters": all(each.isprintable() or each == "\n" for each in words),
        }
        wrong = [name for name, holds in checks.items() if not holds]
        on_page = self._page_faults(attack.student) if self.has_pages else []
        return [*wrong, *on_page, *([f"told: {told[:3_000]}"] if wrong else [])]

    def _outputs(self, student: str) -> str:
        notebook = nbformat.read(self.field.course.autograded(student, SECTION), 4)
        return json.dumps([cell.get("outputs") for cell in notebook.cells], ensure_ascii=False)

    def _page_faults(self, student: str) -> list[str]:
        """Return what may run or lead elsewhere on a feedback page, and secrets that it shows."""
        try:
            text = self.field.course.feedback(student, SECTION).read_text(encoding="utf-8")
        except OSError as error:
            return [f"no page: {error}"]
        page = BeautifulSoup(text, "html.parser")
        policy = page.select_one('head > meta[http-equiv="Content-Security-Policy"]')
        active = [tag for tag in page.find_all(True) if _is_active(tag)]
        checks = {
            "a secret on the page": SECRET not in text and HIDDEN not in text,
            "no policy on the page": policy is not None and "default-src 'none'" in str(policy["content"]),
            f"active on the page: {active[:3]}": not active,
        }
        return [name for name, holds in checks.items() if not holds]

    def left(self) -> list[str]:
        """Return what is still there of grading: folders, sockets, control groups, processes."""
        found = [str(path) for path in (*self.field.temporary.iterdir(), *abandoned_groups())]
        return found + [str(process) for process in self._processes()]

    def end(self) -> None:
        """Kill what should have ended."""
        for process in self._processes():
            process.kill()

    def _processes(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter(["cmdline", "environ", "cwd"]):
            environment = process.info["environ"] or {}
            known = f"{process.info['cmdline']} {process.info['cwd']} {environment.get('TMPDIR', '')}"
            if str(self.field.temporary) in known:
                yield process


def _is_active(tag: Tag) -> bool:
    """Say whether an element of a page can run something, or frame something."""
    if tag.name in ("script", "iframe", "object", "embed", "form", "svg"):
        return True
    values = {name: str(value).strip().lower() for name, value in tag.attrs.items()}
    return any(name.startswith("on") for name in values) or values.get("href", "").startswith("javascript:")
