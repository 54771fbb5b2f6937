"""A student's first quarter of an hour, in a real browser: `make lab`, an exercise done wrong and then right."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, TimeoutError, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden)"
"""The notebook in front; those behind it stay in the page, in no particular order."""

WRONG = 'minus_5 = "11111010"\nminus_100 = "10011011"\nsum_bits = "11111101"\nsum_value = -2'
RIGHT = 'minus_5 = "11111011"\nminus_100 = "10011100"\nsum_bits = "11111110"\nsum_value = -2'


def cell_with(page: Page, text: str, kind: str = "CodeCell") -> str:
    """Scroll the open notebook until the cell with this text is there, and return its selector."""
    selector = f"{SHOWN} .jp-{kind}:has-text({text!r})"
    # JupyterLab draws the cells near the viewport only.
    for _ in range(80):
        if page.locator(selector).count():
            page.locator(selector).first.scroll_into_view_if_needed()
            return selector
        page.locator(f"{SHOWN} .jp-WindowedPanel-outer").evaluate("panel => panel.scrollBy(0, 500)")
        page.wait_for_timeout(150)
    raise AssertionError(f"no cell with {text!r}")


def run(page: Page, selector: str, source: str | None = None) -> None:
    """Run a cell as a person does: when the kernel is ready, and once more if nothing happened."""
    prompt = page.locator(f"{selector} .jp-InputPrompt").first
    before = prompt.inner_text()
    for _ in range(5):
        expect(page.get_by_text("| Idle").first).to_be_visible(timeout=60_000)
        page.locator(f"{selector} .cm-content").first.click()
        if source is not None:
            page.keyboard.press("Control+A")
            page.keyboard.insert_text(source)
        page.keyboard.press("Control+Enter")
        try:
            expect(prompt).not_to_have_text(before, timeout=10_000)
            return
        except AssertionError:
            continue  # the keys came before the notebook was connected to its kernel
    raise AssertionError(f"the cell {selector} doesn't run")


def output_of(page: Page, selector: str, words: str) -> None:
    output = page.locator(f"{selector} .jp-OutputArea-output").filter(has_text=words).first
    expect(output).to_be_visible(timeout=60_000)


def switch_to(page: Page, theme: str) -> None:
    """Change JupyterLab's theme, and wait for it."""
    page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
    expect(page.locator(f"body[data-jp-theme-name='{theme}']")).to_be_attached()


def open_integers(page: Page) -> None:
    """Follow the welcome page's link to section 1."""
    page.locator("a", has_text="Integers").first.click()
    expect(page.locator(SHOWN)).to_contain_text("1 · Integers")


def press_in_toolbar(page: Page, name: str) -> None:
    """Press a button of the open notebook's toolbar; what has no room there is behind its last button."""
    button = page.locator(f"{SHOWN} .jp-Toolbar, .jp-Toolbar-responsive-popup").get_by_text(name, exact=True)
    button = button.locator("visible=true")
    more = page.locator(f"{SHOWN} .jp-Toolbar-responsive-opener")
    for _ in range(10):
        try:
            if more.is_visible() and not button.count():
                more.click(timeout=5_000)
            button.click(timeout=5_000)
            return
        except TimeoutError:
            continue  # JupyterLab moved it meanwhile
    raise AssertionError(f"the toolbar has no button {name!r}")


def axe_finds_nothing(page: Page, part: str) -> None:
    found = Axe().run(page, context=part).response["violations"]
    assert not found, [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]


def test_from_the_welcome_page_to_a_passed_check(page: Page) -> None:
    welcome = page.locator(".jp-Notebook").first
    expect(welcome).to_contain_text("Number formats for machine learning")
    for title in ("Integers", "Floats", "Arithmetic", "Mixed precision", "Quantization", "Choosing a format"):
        expect(welcome).to_contain_text(title)
    set_up = cell_with(page, "numfmt-course")
    run(page, set_up)
    output_of(page, set_up, "Ready")

    open_integers(page)
    run(page, cell_with(page, "from numfmt.predictions import"))

    guess = cell_with(page, 'predict("1.1"')
    run(page, guess, 'predict("1.1", 15)')
    output_of(page, guess, "you say 15")
    shown = cell_with(page, 'reveal("1.1"')
    run(page, shown)
    output_of(page, shown, "You said 15")
    figure = cell_with(page, "plots.number_wheel")
    run(page, figure)
    expect(page.locator(f"{figure} img[alt*='sixteen four-bit codes']")).to_be_visible(timeout=60_000)

    answer = cell_with(page, "minus_100 =")
    tests = ".jp-CodeCell:has-text('\"twos_complement\"')"
    run(page, answer)
    run(page, cell_with(page, '"twos_complement"'))
    output_of(page, tests, "Not answered yet")
    run(page, answer, WRONG)
    run(page, tests)
    output_of(page, tests, "ones' complement")
    assert "Traceback" not in page.locator(f"{tests} .jp-OutputArea").inner_text()
    run(page, answer, RIGHT)
    run(page, tests)
    output_of(page, tests, "all 4 cases right")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_welcome_page_has_no_fault_that_axe_can_find(page: Page, theme: str) -> None:
    run(page, cell_with(page, "numfmt-course"))
    switch_to(page, theme)
    for part in (".jp-RenderedMarkdown", ".jp-OutputArea"):
        axe_finds_nothing(page, f"{SHOWN} {part}")


@pytest.mark.parametrize("width", [1280, 800])
def test_the_validate_button_names_what_is_open(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 1000})
    open_integers(page)
    press_in_toolbar(page, "Validate")
    dialog = page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("Validation Results", timeout=120_000)
    expect(dialog).to_contain_text("failed")
    expect(dialog).to_contain_text("Not answered yet")


def test_the_toolbar_has_what_the_course_needs(page: Page) -> None:
    open_integers(page)
    for name in ("run", "restart-and-run", "kernelName"):
        expect(page.locator(f"{SHOWN} [data-jp-item-name={name}]")).to_be_attached()
    expect(page.locator(f"{SHOWN} [data-jp-item-name=interfaceSwitcher]")).to_have_count(0)
