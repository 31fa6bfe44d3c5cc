"""The notebooks: one for each chapter of the cookbook, each run, each with something to keep."""

import csv
import os
import re
from pathlib import Path
from typing import Any

import pytest

from pinakes.recipes import read_sections
from tests.cookbook import name_page
from tests.documents import README, ROOT, list_anchors
from tests.long import long
from tests.notebooks import OF_QUESTIONS, read_cells, run

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
pytest.importorskip("polars")

KEPT = {
    "citations": {"citations.png"},
    "corpora": {"corpora.csv", "corpora.png"},
    "judgments": {"judged.png", "to_judge.csv"},
    "pools": {"pools.png"},
    "systems": {"differences.png", "errors.csv"},
    "terms": {"ranks.csv", "scores.png"},
}
"""notebook -> the files that it leaves"""
SHORT = "terms"
"""the notebook that `make test` runs: it leaves a file of both kinds, and takes half as long as others"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, and figures that nobody sees."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


@pytest.mark.parametrize(
    "notebook",
    [path if path.stem == SHORT else long(path) for path in OF_QUESTIONS],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs_and_leaves_what_it_says(notebook: Path, elsewhere: Path) -> None:
    from matplotlib import pyplot

    names: dict[str, Any] = {}
    try:
        shown = run(notebook, names)
    finally:
        pyplot.close("all")
    tables = [one for one in shown if hasattr(one, "columns")]
    assert len(tables) > 2
    assert all(len(one) for one in tables)
    assert {path.name for path in elsewhere.iterdir()} == KEPT[notebook.stem]
    said = "\n".join(read_cells(notebook, "markdown"))
    for path in elsewhere.iterdir():
        assert f"`{path.name}`" in said
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
        else:
            with path.open(encoding="utf-8", newline="") as stream:
                assert len(list(csv.reader(stream))) > 1


def test_every_chapter_of_the_cookbook_has_a_notebook_that_asks_its_recipes() -> None:
    asked = {
        path.stem: set(re.findall(r'db\.recipe\(\s*"([a-z0-9-]+)"', "\n".join(read_cells(path, "code"))))
        for path in OF_QUESTIONS
    }
    said = {path.stem: "\n".join(read_cells(path, "markdown")) for path in OF_QUESTIONS}
    for section in read_sections():
        homes = [name for name, text in said.items() if f"(../cookbook/{name_page(section)})" in text]
        assert homes, section.title
        assert len({one.name for one in section.recipes} & set().union(*(asked[name] for name in homes))) >= 3


def test_what_notebooks_link_is_there() -> None:
    for notebook in OF_QUESTIONS:
        for link in re.findall(r"\]\(([^)]+)\)", "\n".join(read_cells(notebook, "markdown"))):
            file, _, anchor = link.partition("#")
            target = (notebook.parent / file).resolve()
            assert target.exists(), link
            assert not anchor or anchor in list_anchors(target), link


def test_the_documentation_names_every_notebook() -> None:
    for page in (README, ROOT / "docs" / "manual" / "sql.md"):
        text = page.read_text(encoding="utf-8")
        for notebook in OF_QUESTIONS:
            link = Path(os.path.relpath(notebook, page.parent)).as_posix()
            assert f"({link})" in text, f"{page.name}: {link}"
