"""Inputs of one's own: which ones a code chooses, where it is kept, and what is said about a wrong one."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections import Counter
from pathlib import Path

import pytest

from numfmt.variants import STORE, checked, code_from, index_with, stored_code, use_code, variant

CHOICES = ["first", "second", "third", "fourth"]


@pytest.fixture(autouse=True)
def section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a section's folder of a bundle."""
    (tmp_path / "manifest.json").write_text("{}")
    folder = tmp_path / "01_mini"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def spelled_out(raw: bytes, exercise: str, count: int) -> int:
    """Return what RFC 2104 says, step by step: two hashes around the name."""
    letters = base64.b32encode(raw).decode()
    key = f"{letters[:4]}-{letters[4:]}-{checked(code_from(raw))[-2:]}".encode().ljust(64, b"\0")
    inner = hashlib.sha256(bytes(each ^ 0x36 for each in key) + exercise.encode()).digest()
    outer = hashlib.sha256(bytes(each ^ 0x5C for each in key) + inner).digest()
    return int.from_bytes(outer, "big") % count


def test_without_a_code_everybody_has_the_first() -> None:
    assert stored_code() == "" and variant("seven", CHOICES) == "first"


@pytest.mark.parametrize("raw", [bytes(5), b"\xff" * 5, b"abcde", hmac.digest(b"secret", b"ada", "sha256")[:5]])
def test_a_code_chooses_by_hmac(raw: bytes, section: Path, capsys: pytest.CaptureFixture[str]) -> None:
    use_code(code_from(raw))
    assert f"Your code is {code_from(raw)}." in capsys.readouterr().out
    assert (section.parent / STORE).is_file() and not (section / STORE).exists()
    for exercise in ("seven", "double", "größer"):
        assert variant(exercise, CHOICES) == CHOICES[spelled_out(raw, exercise, 4)]


def test_codes_spread_evenly_and_exercises_choose_apart() -> None:
    codes = [code_from(number.to_bytes(5, "big")) for number in range(4_000)]
    pairs = Counter((index_with(each, "seven", 4), index_with(each, "double", 4)) for each in codes)
    assert len(pairs) == 16
    # 250 expected each, standard deviation 15: six of them.
    assert all(abs(count - 250) < 92 for count in pairs.values())


def test_a_notebook_on_its_own_keeps_its_code_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = tmp_path / "elsewhere" / "01_mini"
    alone.mkdir(parents=True)
    monkeypatch.chdir(alone)
    use_code(code_from(b"abcde"))
    assert (alone / STORE).is_file() and stored_code() == code_from(b"abcde")
    (alone.parent / STORE).write_text("not looked at: that folder is no bundle")
    (alone / STORE).unlink()
    assert stored_code() == ""


def misread(code: str) -> str:
    return code.replace("O", "0").replace("I", "1").replace("B", "8")


@pytest.mark.parametrize(
    "change", [str.lower, lambda code: code.replace("-", ""), lambda code: f"  {code}\n", misread]
)
def test_how_it_is_typed_makes_no_difference(change: object) -> None:
    code = code_from(b"qqiii")
    assert set("OIB") & set(code)
    assert callable(change) and checked(change(code)) == code


def test_every_single_mistyped_character_is_noticed_or_rare() -> None:
    code = code_from(b"abcde")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    wrong = [
        code[:i] + other + code[i + 1 :] for i in range(len(code)) for other in alphabet if code[i] not in "-" + other
    ]
    missed = 0
    for each in wrong:
        try:
            checked(each)
            missed += 1
        except ValueError as error:
            assert "was it mistyped?" in str(error)
    # Ten check bits let one in 1024 pass.
    assert missed <= 2


@pytest.mark.parametrize("text", ["", "ABCD", "ABCD-EFGH-23-45", "\x00" * 10, "ÄÖÜ" * 4, "x" * 10_000])
def test_what_is_no_code_is_refused(text: str, section: Path) -> None:
    with pytest.raises(ValueError, match="is no code"):
        use_code(text)
    assert not (section.parent / STORE).exists()


@pytest.mark.parametrize("data", [b"", b"ABCD-EFGH-23", b"\xff\xfe", b"\x00" * 100_000])
def test_a_damaged_file_is_named_with_the_cure(data: bytes, section: Path) -> None:
    (section.parent / STORE).write_bytes(data)
    with pytest.raises(ValueError, match=r"variant\.txt: .* Delete the file"):
        variant("seven", CHOICES)


def test_no_inputs_are_an_error() -> None:
    with pytest.raises(ValueError, match="seven has no inputs to choose from"):
        variant("seven", [])
