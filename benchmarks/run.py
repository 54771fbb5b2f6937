"""Measure numfmt against ml_dtypes, torch, NumPy and gfloat: ratios of medians in one run, on one thread.

    python benchmarks/run.py            print the tables and how they compare with the targets
    python benchmarks/run.py --write    put them into benchmarks/README.md too
    python benchmarks/run.py --quick    small arrays and few turns, to see that everything runs

The competitors of a row take turns, so that a slow moment of the machine meets them all.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

# Before NumPy and torch start their threads.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import gfloat
import gfloat.formats as gf
import ml_dtypes
import numpy as np
import torch

import numfmt as nf
from numfmt.float_format import FLOAT_FORMATS, FloatFormat

README = Path(__file__).with_name("README.md")

NARROW = [fmt for fmt in FLOAT_FORMATS if fmt.bits <= 8]
HALF = [nf.BF16, nf.FP16]
GFLOAT = {
    nf.E5M2: gf.format_info_ocp_e5m2, nf.E4M3: gf.format_info_ocp_e4m3, nf.E8M0: gf.format_info_ocp_e8m0,
    nf.E2M3: gf.format_info_ocp_e2m3, nf.E3M2: gf.format_info_ocp_e3m2, nf.E2M1: gf.format_info_ocp_e2m1,
    nf.FP16: gf.format_info_binary16, nf.BF16: gf.format_info_bfloat16,
}  # fmt: skip

Work = Callable[[], Any]
Row = dict[str, Any]


def medians(works: dict[str, Work | None], turns: int) -> dict[str, float]:
    """Return the median seconds of each piece of work; they take turns, and the first turn doesn't count."""
    times: dict[str, list[float]] = {name: [] for name, work in works.items() if work is not None}
    for turn in range(turns + 1):
        for name, each in times.items():
            started = time.perf_counter()
            works[name]()  # type: ignore[misc]
            if turn:
                each.append(time.perf_counter() - started)
    return {name: statistics.median(each) for name, each in times.items()}


def per_element(works: dict[str, Work | None], size: int, turns: int) -> Row:
    """Return the medians in nanoseconds an element."""
    return {name: seconds / size * 1e9 for name, seconds in medians(works, turns).items()}


def torch_dtype(fmt: FloatFormat) -> Any:
    """Return torch's dtype of the format if torch can cast to it, else None."""
    dtype = getattr(torch, fmt.name, None)
    try:
        torch.ones(1).to(dtype).float()
    except (TypeError, RuntimeError, NotImplementedError):
        return None
    return dtype


def ways(x: np.ndarray, fmt: FloatFormat) -> dict[str, Work | None]:
    """Return each library's way to round float32 numbers; the others' is a cast and one back."""
    tensor, narrow, theirs = torch.from_numpy(x), torch_dtype(fmt), getattr(ml_dtypes, fmt.name, None)
    return {
        "numfmt": lambda: nf.round_to(x, fmt),
        "ml_dtypes": None if theirs is None else lambda: x.astype(theirs).astype(np.float32),
        "torch": None if narrow is None else lambda: tensor.to(narrow).float(),
        "NumPy": (lambda: x.astype(np.float16).astype(np.float32)) if fmt == nf.FP16 else None,
    }


def rounding(x: np.ndarray, fmt: FloatFormat, turns: int) -> Row:
    """Measure rounding float32 numbers to a format."""
    row = per_element(ways(x, fmt), x.size, turns)
    if fmt in GFLOAT:  # on a smaller array, so that the run ends
        few = x[: x.size // 16]
        with np.errstate(all="ignore"):
            row |= per_element({"gfloat": lambda: gfloat.round_ndarray(GFLOAT[fmt], few)}, few.size, min(turns, 3))
    return {"format": str(fmt), **row}


def coding(x: np.ndarray, fmt: FloatFormat, turns: int) -> Row:
    """Measure encoding float32 numbers, and decoding the codes to float32."""
    dtype, codes = getattr(ml_dtypes, fmt.name, None), nf.encode(x, fmt)
    theirs = None if dtype is None else codes.view(dtype)
    works: dict[str, Work | None] = {
        "encode": lambda: nf.encode(x, fmt),
        "ml_dtypes encode": None if dtype is None else lambda: x.astype(dtype),
        "decode": lambda: nf.decode(codes, fmt, dtype=np.float32),
        "ml_dtypes decode": None if theirs is None else lambda: theirs.astype(np.float32),
    }
    return {"format": str(fmt), **per_element(works, x.size, turns)}


def wide_input(x: np.ndarray, fmt: FloatFormat, turns: int) -> Row:
    """Measure rounding float64 numbers beside float32 numbers, and the peak of memory beyond the result.

    A mere copy of the float64 numbers shows what reading them and writing as many costs by itself.
    """
    wide = x.astype(np.float64)
    works: dict[str, Work | None] = {
        "float32": lambda: nf.round_to(x, fmt),
        "float64": lambda: nf.round_to(wide, fmt),
        "a copy of float64": wide.copy,
    }
    extra: list[int] = []
    thread = threading.Thread(target=lambda: extra.append(extra_bytes(x, fmt)))
    thread.start()  # a new thread has no scratch memory yet
    thread.join()
    return {"format": str(fmt), **per_element(works, x.size, turns), "extra KiB": extra[0] / 1024}


def extra_bytes(x: np.ndarray, fmt: FloatFormat) -> int:
    """Return the peak of memory beyond the result while rounding."""
    tracemalloc.start()
    result = nf.round_to(x, fmt)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return int(peak - result.nbytes)


def by_size(fmt: FloatFormat, powers: Iterable[int], turns: int) -> list[Row]:
    """Measure each library's rounding of arrays of 2**power elements, in nanoseconds an element."""
    rows: dict[str, Row] = {}
    for power in powers:
        x = np.random.default_rng(power).standard_normal(2**power, dtype=np.float32)
        calls = max(1, 2 ** (18 - power))
        works: dict[str, Work | None] = {
            name: partial(repeat, way, calls) for name, way in ways(x, fmt).items() if way is not None
        }
        for name, each in per_element(works, x.size * calls, min(turns, 5)).items():
            rows.setdefault(name, {"format": str(fmt), "by": name})[f"2^{power}"] = each
    return list(rows.values())


def repeat(work: Work, calls: int) -> None:
    """Do the work so many times."""
    for _ in range(calls):
        work()


def imports(turns: int) -> Row:
    """Measure `import numfmt` beside `import numpy`, in milliseconds, each in new interpreters, from bytecode."""

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(code: str) -> Work:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment)

    found = medians({"numfmt": run("import numfmt"), "NumPy": run("import numpy")}, turns)
    return {"import": "ms", **{name: seconds * 1e3 for name, seconds in found.items()}}


def add_ratios(rows: list[Row], ratios: dict[str, tuple[str, str]]) -> list[Row]:
    """Add to each row how many times as long one column takes as another, where both are there."""
    for row in rows:
        for title, (theirs, ours) in ratios.items():
            if theirs in row:
                row[title] = row[theirs] / row[ours]
    return rows


def measure(size: int, powers: range, turns: int) -> dict[str, list[Row]]:
    """Measure everything; the tables by title."""
    torch.set_num_threads(1)
    x = np.random.default_rng(0).standard_normal(size, dtype=np.float32)
    tables: dict[str, list[Row]] = {}
    for title, formats, one in (
        ("Rounding float32, ns an element", [*NARROW, *HALF], rounding),
        ("Encoding and decoding, ns an element", [*NARROW, nf.BF16], coding),
        ("float64 beside float32, and memory", [*NARROW, *HALF], wide_input),
    ):
        tables[title] = [_told(one(x, fmt, turns), title) for fmt in formats]
    tables["By size, ns an element"] = [
        _told(row, "size") for fmt in (nf.E4M3, nf.E2M1, nf.BF16) for row in by_size(fmt, powers, turns)
    ]
    tables["Import"] = [imports(max(turns, 11))]
    first, second, third, fourth, fifth = tables.values()
    add_ratios(first, {f"× {name}": (name, "numfmt") for name in ("ml_dtypes", "torch", "NumPy", "gfloat")})
    add_ratios(second, {"× encode": ("ml_dtypes encode", "encode"), "× decode": ("ml_dtypes decode", "decode")})
    add_ratios(third, {"float64 / float32": ("float64", "float32")})
    for row in fourth:
        times = [each for each in row.values() if isinstance(each, float)]
        row["slowest / fastest"] = max(times) / min(times)
    add_ratios(fifth, {"numfmt / NumPy": ("numfmt", "NumPy")})
    return tables


def _told(row: Row, title: str) -> Row:
    print(f"{title}: {row['format']}", file=sys.stderr, flush=True)
    return row


def targets(tables: dict[str, list[Row]]) -> Iterator[tuple[str, float, float]]:
    """Yield what is asked for: the words, the figure found, and the least or (negative) the most that it may be."""
    rounding, coding, wide, _, imported = tables.values()
    narrow, half = rounding[: len(NARROW)], rounding[len(NARROW) :]
    by_torch = [row["× torch"] for row in narrow if "× torch" in row]
    yield "FP8, FP6 and FP4 against ml_dtypes, the least of all", min(row["× ml_dtypes"] for row in narrow), 6
    yield "FP8 against torch, geometric mean", math.prod(by_torch) ** (1 / len(by_torch)), 1
    yield "FP8 against torch, the least of all", min(by_torch), 1 / 1.3
    for row in half:
        fastest = min(row[name] for name in ("× ml_dtypes", "× torch", "× NumPy") if name in row)
        yield f"{row['format']} against the fastest", fastest, 1 / 1.5
    yield "against gfloat, the least of all", min(row["× gfloat"] for row in rounding if "× gfloat" in row), 20
    yield "encode against ml_dtypes, the least of all", min(row["× encode"] for row in coding[: len(NARROW)]), 3
    yield "decode against ml_dtypes, the least of all", min(row["× decode"] for row in coding[: len(NARROW)]), 1
    for some, what in ((wide[: len(NARROW)], "FP8, FP6 and FP4"), (wide[len(NARROW) :], "BF16 and FP16")):
        yield f"float64 over float32, {what}, the most of all", max(row["float64 / float32"] for row in some), -2.5
    yield "memory beyond the result in KiB, the most of all", max(row["extra KiB"] for row in wide), -2048
    yield "import numfmt over import numpy", imported[0]["numfmt / NumPy"], -1.3


def markdown(rows: list[Row]) -> str:
    """Return a Markdown table of all columns that some row has."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)]]
    lines += [[_cell(row.get(name)) for name in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return "" if value is None else str(value)


def report(tables: dict[str, list[Row]], size: int) -> str:
    """Return everything as Markdown."""
    compared = [
        {"target": words, "found": found, "asked": f"{'≤' if bound < 0 else '≥'} {abs(bound):.2f}",
         "": "met" if (found >= bound if bound > 0 else found <= -bound) else "missed"}
        for words, found, bound in targets(tables)
    ]  # fmt: skip
    versions = ", ".join(f"{module.__name__} {module.__version__}" for module in (np, ml_dtypes, torch))
    parts = [
        f"{processor()}, Python {platform.python_version()}, {versions}, gfloat {gfloat_version()}; "
        f"{size:,} standard normals, one thread.\n",
        markdown(compared),
    ]
    parts += [f"### {title}\n\n{markdown(rows)}" for title, rows in tables.items()]
    return "\n".join(parts)


def gfloat_version() -> str:
    """Return the installed version of gfloat, which doesn't say it itself."""
    from importlib.metadata import version

    return version("gfloat")


def processor() -> str:
    """Return the name of the processor, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def write_down(name: str, text: str) -> None:
    """Put the text between the marks of this name in benchmarks/README.md."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, _, rest = README.read_text(encoding="utf-8").partition(begin)
    README.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure numfmt against ml_dtypes, torch, NumPy and gfloat.")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    parser.add_argument("--quick", action="store_true", help="small arrays and few turns; the figures mean little")
    options = parser.parse_args()
    size, powers, turns = (2**16, range(12, 17), 3) if options.quick else (2**22, range(12, 27, 2), 15)
    text = report(measure(size, powers, turns), size)
    print(text)
    if options.write:
        write_down("measured", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
