"""The quantization bench in a real browser: dragged, chosen from, worked by keyboard, and read."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from numfmt.benching import Bench, facts
from tests.browser.test_student import SHOWN, axe_finds_nothing, cell_with, run, switch_to

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def bench_on(page: Page) -> Locator:
    """Show the bench below the first code cell of the welcome page."""
    cell_with(page, "numfmt-course")
    run(page, f"{SHOWN} .jp-CodeCell", "from numfmt.bench import bench\n\nbench()")
    shown = page.locator("section.nf-bench").first
    expect(shown).to_be_visible()
    return shown


def says(shown: Locator, bench: Bench) -> None:
    """Expect the numbers of these settings."""
    found = facts(bench)
    for term, words in (
        ("zeros", f"{found['zeros']} of 60 ordinary weights"),
        ("their error", found["error"]),
        ("error of all", found["error_of_all"]),
        ("bits", f"{found['bits']} a weight, with the scales"),
    ):
        expect(shown.locator(f"dt:text-is('{term}') + dd")).to_have_text(words)
    expect(shown.locator(".nf-zero")).to_have_count(found["back"].count(0))
    words = f"64 weights in groups of {bench.group_size}, what is left of each, and the levels of each group. "
    expect(shown.locator("svg[role=img]")).to_have_attribute("aria-label", words + found["words"])


def test_it_is_worked_by_mouse_and_by_keyboard_and_says_what_it_shows(page: Page) -> None:
    shown = bench_on(page)
    says(shown, Bench())

    slider = shown.get_by_role("slider", name="Outlier")
    slider.focus()
    page.keyboard.press("ArrowRight")
    says(shown, Bench(outlier=1.05))
    page.keyboard.press("End")
    says(shown, Bench(outlier=4))
    place = slider.bounding_box()
    assert place is not None
    middle = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(place["x"] + place["width"] - 8, middle[1])
    page.mouse.down()
    page.mouse.move(*middle, steps=5)
    page.mouse.up()
    expect(shown.locator("output")).to_have_text("0.00")
    says(shown, Bench(outlier=0))
    page.keyboard.press("PageUp")  # a tenth of the range
    outlier = float(slider.input_value())
    assert outlier > 0
    for name, choice in (("Bits", "8"), ("Scheme", "zero point"), ("Group size", "32"), ("Outliers are", "strided")):
        shown.get_by_role("combobox", name=name).select_option(choice)
    says(shown, Bench(outlier, 8, "zero_point", 32, "strided"))
    shown.get_by_text("Group by group").click()
    expect(shown.locator("tbody tr")).to_have_count(2)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_it_has_no_fault_that_axe_can_find(page: Page, theme: str, tmp_path: Path) -> None:
    shown = bench_on(page)
    switch_to(page, theme)
    shown.get_by_text("Group by group").click()
    axe_finds_nothing(page, "section.nf-bench")
    shown.screenshot(path=tmp_path / "bench.png")
