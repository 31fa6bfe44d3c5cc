"""The manual as a site: built strictly, it opens from files, finds words, and asks the net for nothing."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.browser import CHROMIUM, Browser, open_browser
from tests.documents import DOCUMENTS, ROOT

pytestmark = pytest.mark.skipif(
    find_spec("mkdocs") is None or find_spec("material") is None,
    reason="the extra `docs` is not installed; `make docs` installs it",
)
LOADED = re.compile(r"""<(?:script|img|iframe)\b[^>]*?\bsrc=["']?([^"'\s>]+)|<link\b([^>]*)>""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr  # with --quiet it would be 0 whatever is wrong
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium here (Debian: apt-get install chromium)")
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def test_every_document_is_a_page(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.glob("**/*.html")} - {"404.html"}
    docs = ROOT / "docs"
    written = {
        path.relative_to(docs).with_suffix(".html").as_posix() for path in DOCUMENTS if docs in path.parents
    }
    assert pages == written | {f"project/{name}.html" for name in ("changelog", "contributing", "security")}


def test_no_page_and_no_style_names_an_address_of_the_net_to_load(site: Path) -> None:
    for page in site.glob("**/*.html"):
        for source, link in LOADED.findall(page.read_text(encoding="utf-8")):
            told = source or ("" if "canonical" in link else link)
            assert "//" not in told.replace("data:", ""), f"{page.name}: {told}"
        assert 'class="mermaid"' not in page.read_text(encoding="utf-8")
    for style in site.glob("**/*.css"):
        assert re.findall(r"url\(['\"]?(?:https?:)?//", style.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", ["index.html", "manual/systems.html", "data_dictionary/papers.html"])
def test_a_page_opens_from_a_file_without_an_error_and_asks_files_alone(
    site: Path, browser: Browser, name: str
) -> None:
    browser.logged.clear()
    browser.requested.clear()
    browser.open(site / name)
    assert browser.ask("document.querySelector('h1') !== null")
    assert browser.logged == []
    assert [url for url in browser.requested if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_search_finds_words_from_files(site: Path, browser: Browser) -> None:
    browser.logged.clear()
    browser.requested.clear()
    browser.set_look(width=1200)
    browser.open(site / "index.html")
    browser.ask("document.querySelector('[data-md-component=search-query]').focus()")
    browser.call("Input.insertText", text="reciprocal ranks")
    found: list[str] = []
    end_s = time.monotonic() + 60
    while not found and time.monotonic() < end_s:
        found = browser.ask(
            "[...document.querySelectorAll('.md-search-result__item a')].map(one => one.getAttribute('href'))"
        )
        time.sleep(0.2)
    assert any("manual/bm25.html" in link or "manual/systems.html" in link for link in found), found
    assert [
        url for url in browser.requested if not url.startswith(("file:", "data:", "blob:", "about:"))
    ] == []
    assert browser.logged == []


@pytest.mark.parametrize("width", [1200, 390])
def test_no_page_is_wider_than_the_screen(site: Path, browser: Browser, width: int) -> None:
    browser.set_look(width=width)
    for name in ("index.html", "manual/encoders.html", "tutorials/own_corpus.html", "reference/systems.html"):
        browser.open(site / name)
        assert browser.ask("document.documentElement.scrollWidth") <= width, name
