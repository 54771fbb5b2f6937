"""The bit explorer in a real browser: clicked, typed into, worked by keyboard, and read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_student import SHOWN, axe_finds_nothing, cell_with, run, switch_to

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def explorer_on(page: Page, fmt: str) -> Locator:
    """Show the explorer at 0.1 in a format, below the first code cell of the welcome page."""
    cell_with(page, "numfmt-course")
    run(page, f"{SHOWN} .jp-CodeCell", f'from numfmt.explorer import explore\n\nexplore("0.1", "{fmt}")')
    explorer = page.locator("section.nf-explorer").first
    expect(explorer).to_be_visible()
    return explorer


def fact(explorer: Locator, term: str) -> Locator:
    return explorer.locator(f"dt:text-is('{term}') + dd")


def test_it_is_worked_by_mouse_and_by_keyboard_and_says_what_it_shows(page: Page) -> None:
    explorer = explorer_on(page, "E4M3")
    bits = explorer.locator(".nf-bit")
    assert "".join(each[0] for each in bits.all_inner_texts()) == "00011101"
    expect(fact(explorer, "value")).to_have_text("0.1015625 (normal)")
    expect(fact(explorer, "error")).to_have_text("+0.0015625 (+0.2 ulp)")

    bits.nth(0).click()
    expect(fact(explorer, "value")).to_have_text("-0.1015625 (normal)")
    expect(bits.nth(0)).to_have_attribute("aria-pressed", "true")
    expect(bits.nth(0)).to_have_attribute("aria-label", "bit 7, sign: 1")

    # By keyboard alone: the focus stays on the bit, arrows go to the next.
    page.keyboard.press("Space")
    expect(fact(explorer, "value")).to_have_text("0.1015625 (normal)")
    page.keyboard.press("ArrowRight")
    expect(bits.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(fact(explorer, "value")).to_have_text("26 (normal)")

    explorer.get_by_role("button", name="to the next larger value").click()
    expect(fact(explorer, "value")).to_have_text("28 (normal)")

    number = explorer.get_by_role("textbox", name="Number")
    number.fill("1/3")
    number.press("Enter")
    expect(fact(explorer, "value")).to_have_text("0.34375 (normal)")
    number.fill("a third")
    number.press("Enter")
    expect(explorer.get_by_role("alert")).to_contain_text("'a third' is no number such as 0.1")
    expect(fact(explorer, "value")).to_have_text("0.34375 (normal)")
    number.fill("0.3")
    number.press("Enter")
    expect(explorer.get_by_role("alert")).to_have_count(0)

    explorer.get_by_role("combobox", name="Format").select_option("INT8")
    expect(fact(explorer, "value")).to_have_text("0 (integer)")
    explorer.get_by_role("combobox", name="Format").select_option("BF16")
    expect(fact(explorer, "value")).to_have_text("0.30078125 (normal)")
    assert len(bits.all_inner_texts()) == 16
    expect(explorer.locator("svg[role=img]")).to_have_attribute("aria-label", re.compile("0.30078125 lies between"))
    explorer.get_by_text("The same number in all formats").click()
    row = explorer.locator("tr", has_text="E2M1").first
    expect(row).to_contain_text("0.5")
    row.get_by_role("button").click()
    expect(fact(explorer, "value")).to_have_text("0.5 (subnormal)")
    expect(explorer.locator("tr[aria-current]")).to_contain_text("E2M1")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_it_has_no_fault_that_axe_can_find(page: Page, theme: str, tmp_path: Path) -> None:
    explorer = explorer_on(page, "BF16")
    switch_to(page, theme)
    explorer.get_by_text("The same number in all formats").click()
    axe_finds_nothing(page, "section.nf-explorer")
    explorer.screenshot(path=tmp_path / "explorer.png")
