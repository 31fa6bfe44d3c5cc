"""A site in headless Chromium: it sorts and filters, logs nothing, asks nobody, and can be read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.report.site.write import write_site
from tests.browser import CHROMIUM, Browser, open_browser
from tests.site_worlds import QUERIES, fill_world, write_world

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

FIRST_CELLS = """Array.from(document.querySelector("table.sortable").tBodies[0].rows)
    .filter((row) => !row.hidden).map((row) => row.cells[0].textContent)"""
CLICK = """new Promise((done) => {
    document.querySelector("table.sortable").addEventListener("sort-end", () => done(true), {once: true});
    document.querySelectorAll("table.sortable thead th")[%d].click();
})"""
COLOURS = """(() => {
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(%s.map((name) => {
        const probe = document.createElement("i");
        probe.style.color = style.getPropertyValue("--" + name);
        document.body.append(probe);
        const numbers = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
        probe.remove();
        return [name, numbers];
    }));
})()"""
TEXT = [("ink", "paper"), ("ink", "band"), ("quiet", "paper"), ("quiet", "band"), ("accent", "paper")]
TEXT += [
    ("accent", "band"),
    ("warn", "paper"),
    ("warn", "warn-band"),
    ("ink", "warn-band"),
    ("paper", "good"),
]
DRAWN = [(f"series-{number}", "paper") for number in range(1, 9)]


@pytest.fixture
def site(duckdb_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fill_world(duckdb_database, write_world(tmp_path, monkeypatch))
    write_site(duckdb_database, tmp_path / "site")
    return tmp_path / "site"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with open_browser(tmp_path / "profile") as opened:
        yield opened


def test_a_reader_sorts_and_filters_and_can_read_it(site: Path, browser: Browser) -> None:
    browser.open(site / "benchmarks" / "tiny" / "queries.html")
    check_sorting(browser)
    check_filter(browser)
    for path in sorted(site.rglob("*.html")):
        browser.set_look(width=390, height=800)
        browser.open(path)
        assert browser.ask("document.documentElement.scrollWidth <= innerWidth"), path
    check_keyboard(browser, site)
    check_phone(browser, site)
    assert browser.logged == []
    assert [address for address in browser.requested if not address.startswith(("file:", "about:"))] == []
    for dark, media in ((False, ""), (True, ""), (False, "print")):
        browser.set_look(dark=dark, media=media)
        check_contrast(browser)


def check_sorting(browser: Browser) -> None:
    """Values go down and up as numbers, and a heading says which way."""
    assert len(browser.ask(FIRST_CELLS)) == len(QUERIES)
    browser.ask(CLICK % 2)
    values = browser.ask(
        """Array.from(document.querySelector("table.sortable").tBodies[0].rows)
            .map((row) => Number(row.cells[2].dataset.sort))"""
    )
    assert values == sorted(values, reverse=True) != sorted(values)
    browser.ask(CLICK % 2)
    assert browser.ask(FIRST_CELLS)[0] != QUERIES[0]
    heading = 'document.querySelectorAll("table.sortable thead th")[2]'
    assert browser.ask(f"{heading}.getAttribute('aria-sort')") == "ascending"
    assert browser.ask(f"{heading}.tabIndex") == 0


def check_filter(browser: Browser) -> None:
    """A word hides the rows that lack it; text of the data stays text."""
    browser.ask(
        """(() => { const field = document.querySelector(".filter input");
        field.value = "by n1"; field.dispatchEvent(new Event("input")); })()"""
    )
    shown = browser.ask(FIRST_CELLS)
    assert sorted(shown) == sorted(one for one in QUERIES if one.startswith("n1"))
    said = browser.ask('document.querySelector(".filter output").textContent')
    assert said == f"{len(shown)} of {len(QUERIES)} rows"


def check_keyboard(browser: Browser, site: Path) -> None:
    """The first tab leads over the bar, a heading sorts by Enter, its arrow shows while it has the focus."""
    browser.set_look(width=1200)
    browser.open(site / "benchmarks" / "tiny" / "queries.html")
    press(browser, "Tab", 9)
    assert browser.ask("document.activeElement.textContent") == "Skip to the content"
    heading = 'document.querySelector("table.sortable thead th")'
    arrow = f'getComputedStyle({heading}, "::after").content'
    assert browser.ask(arrow) == "none"
    browser.ask(f"{heading}.focus({{focusVisible: true}})")
    assert browser.ask(arrow) == '"↕"'
    before = browser.ask(FIRST_CELLS)
    press(browser, "Enter", 13)
    sorted_now = browser.ask(f"new Promise((done) => setTimeout(() => done({FIRST_CELLS}), 50))")
    assert sorted(sorted_now) == sorted(before)
    assert browser.ask(f"{heading}.getAttribute('aria-sort')") == "descending"
    browser.open(site / "index.html")
    assert browser.ask(
        """Array.from(document.querySelectorAll(".scroll"))
            .every((one) => one.scrollWidth <= one.clientWidth)"""
    )


def press(browser: Browser, key: str, code: int) -> None:
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def check_phone(browser: Browser, site: Path) -> None:
    """What names a row stays where it is while a reader goes to the right; contents are not printed."""
    browser.set_look(width=390, height=800)
    browser.open(site / "benchmarks" / "tiny" / "index.html")
    left, moved = browser.ask(
        """(() => { const box = document.querySelector(".scroll"), row = box.querySelector("tbody tr");
        const place = (cell) => cell.getBoundingClientRect().left;
        const before = [place(row.cells[0]), place(row.cells[1])];
        box.scrollLeft = 60;
        return [place(row.cells[0]) - before[0], place(row.cells[1]) - before[1]]; })()"""
    )
    assert (left, moved) == (0, -60)
    shown = """["nav.contents", ".bar .more"].map((one) => {
        const found = document.querySelector(one); return found && getComputedStyle(found).display; })"""
    assert "none" not in browser.ask(shown)
    browser.set_look(width=390, media="print")
    assert browser.ask(shown) == ["none", "none"]


def check_contrast(browser: Browser) -> None:
    """Texts of 4.5 to 1 and what is drawn of 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11)."""
    names = sorted({name for pair in (*TEXT, *DRAWN) for name in pair})
    colours = browser.ask(COLOURS % names)
    for pairs, least in ((TEXT, 4.5), (DRAWN, 3.0)):
        for one, other in pairs:
            light, dark = sorted((luminance(colours[one]), luminance(colours[other])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= least, (one, other)


def luminance(colour: list[float]) -> float:
    """The relative luminance of red, green and blue from 0 to 255 (WCAG 2.2)."""
    parts = [value / 255 for value in colour[:3]]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
