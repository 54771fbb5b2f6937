from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import numfmt as nf
from numfmt.__main__ import main

pytestmark = pytest.mark.filterwarnings("error")

LIGHT = """
import sys
from pathlib import Path
import numfmt as nf
assert nf.wrap([200], "int8").tolist() == [-56]
assert nf.dot([1], [2]) == 2
try:
    nf.get_format("float99")
except ValueError:
    pass
print(sorted({"torch", "matplotlib", "ml_dtypes", "IPython"} & set(sys.modules)))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60)


def test_import_and_use_load_no_heavy_package() -> None:
    done = run("-W", "error", "-c", LIGHT)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_public_names_exist_and_are_documented() -> None:
    assert len(set(nf.__all__)) == len(nf.__all__)
    for name in nf.__all__:
        assert getattr(nf, name).__doc__, name


def test_table_on_the_command_line() -> None:
    done = run("-m", "numfmt", "table")
    assert (done.returncode, done.stderr) == (0, "")
    integers = done.stdout.split("\n\n")[0]
    head, *rows = [line.split() for line in integers.splitlines()]
    assert head[:5] == ["format", "bits", "min", "max", "values"]
    assert ["INT8", "8", "-128", "127", "256", "int8"] in rows
    assert [row[0] for row in rows] == [f"{s}INT{n}" for s in ("", "U") for n in (2, 4, 8, 16, 32, 64)]
    assert len({len(line) for line in integers.splitlines()}) == 1


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert "print the formats" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["chart"], "invalid choice: 'chart' (choose from"),
        (["table", "--wide"], "unrecognized arguments: --wide"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "usage: python -m numfmt" in captured.err
    assert captured.out == ""


def test_no_public_name_is_also_a_module() -> None:
    # Importing the module would put it in the name's place.
    modules = {path.stem for path in Path(nf.__file__).parent.iterdir()}
    assert modules.isdisjoint(nf.__all__)


def test_every_public_name_is_there_and_listed() -> None:
    assert all(getattr(nf, name) is not None for name in nf.__all__)
    assert set(nf.__all__) <= set(dir(nf))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nf.nothing
