"""`make bench` runs, and its verdicts follow from its figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_quick_run_prints_every_table(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert run.returncode == 0, run.stderr
    for title in ("Rounding float32", "Encoding and decoding", "float64 beside float32", "By size", "Import"):
        assert f"### {title}" in run.stdout
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in run.stdout.splitlines() if "|" in line]
    rounding = [row for row in rows if row[0] in ("E4M3", "E2M1", "BF16") and row[1][0].isdigit()]
    assert len(rounding) >= 6 and all(float(row[1]) > 0 for row in rounding)
    sizes = [row for row in rows if row[0] == "E4M3" and row[1] in ("numfmt", "ml_dtypes", "torch")]
    assert len(sizes) == 3 and all(float(cell) > 0 for row in sizes for cell in row[2:])
    for words, found, asked, verdict in (row for row in rows if len(row) == 4 and row[3] in ("met", "missed")):
        sign, bound = asked.split()
        value = float(found.replace(",", ""))
        enough = value >= float(bound) if sign == "≥" else value <= float(bound)
        # Figures are printed with two digits.
        assert (verdict == "met") == enough or abs(value - float(bound)) < 0.011, words


def test_the_written_tables_stand_between_their_marks() -> None:
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert text.count("<!-- measured: begin -->") == text.count("<!-- measured: end -->") == 1
    measured = text.split("<!-- measured: begin -->")[1].split("<!-- measured: end -->")[0]
    assert "| E4M3 |" in measured and "one thread" in measured
