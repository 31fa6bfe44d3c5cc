"""A small corpus of papers with full text, what they cite, and how: for the tests of summaries."""

from typing import Any

import pytest

from pinakes.database import Database
from pinakes.loaders.staging import Rows
from tests.integration.toy_loading import load_records, toy_paper

GRAPHS = "We rank papers by citation graphs. The graphs are large."
"""the abstract of r1, as the reference has it"""


def mention(citing: str, cited: str, context: str | None = None, **places: int) -> Rows:
    """One mention."""
    said = {"citing_source_id": citing, "reference_key": cited, "context": context}
    return {"citations": [{**said, **places}]}


def work(key: str, dois: str = "", **columns: Any) -> Rows:
    """One cited work."""
    return {
        "references": [{"reference_key": key, **columns}],
        "reference_identifiers": [
            {"reference_key": key, "scheme": "doi", "identifier": doi} for doi in dois.split()
        ],
    }


def full_text(source_id: str, *sections: str, title: str | None = None, **columns: Any) -> Rows:
    """A paper with sections."""
    paper = toy_paper(source_id, title=title or f"Title of {source_id}", **columns)
    paper["sections"] = [
        {"source_id": source_id, "section_number": number, "title": None, "text": text}
        for number, text in enumerate(sections, start=1)
    ]
    return paper


def make_papers() -> dict[str, Rows]:
    """Papers a to e by name; d has no full text."""
    return {
        "a": full_text(
            "a",
            "Deep models are common. Lee ranks papers by citation graphs (2020).  It works.",
            "The graphs are large,\nas we show. Weather is fine. They are large.",
        ),
        "b": full_text(
            "b", "We follow Lee [1]. Others rank papers, too.", abstract="Ranking of deep models."
        ),
        "c": full_text("c", " \n ", "One sentence alone."),
        "d": toy_paper("d", title="Title of d"),
        "e": full_text("e", "Lee ranks papers. We thank everyone."),
    }


def make_works() -> list[Rows]:
    """r1 has its own abstract, b is a paper, r3 has none, r4 shares its DOI and r5 its title with others."""
    return [
        work("r1", title="Citation graphs of scholarly papers", abstract=GRAPHS),
        work("b"),
        work("r3", title="A work that nobody has"),
        work("r4", "10.1/x"),
        work("r5", title="The Title: of a work that others hold"),
        work("r6", title="A title that stands with two works"),
    ]


def make_mentions() -> list[Rows]:
    """The mentions of the works."""
    return [
        mention("a", "r1", "Lee ranks papers by citation graphs (2020). It works.", context_start=900),
        mention("a", "r1", "Lee ranks papers by citation graphs\n(2020).  It works."),
        mention("a", "r1", "As we show, the graphs are very large."),
        mention("a", "r1"),
        mention("a", "b", "Deep models are common."),
        mention("a", "r3", "It works."),
        mention("b", "r1", "We follow Lee [1]."),
        mention("b", "r4", "Others rank papers, too."),
        mention("b", "r5", "Nothing like the text."),
        mention("b", "r6", "Nothing like the text."),
        mention("c", "r1", "One sentence alone."),
        mention("d", "r1", "Lee ranks."),
        mention("e", "r1"),
        mention("e", "b", " \n"),
    ]


def load_toy(database: Database, monkeypatch: pytest.MonkeyPatch, digest: str = "1", **papers: Rows) -> None:
    """The corpus `toy`, with these papers in the place of its own."""
    records = [*{**make_papers(), **papers}.values(), *make_works(), *make_mentions()]
    load_records(database, monkeypatch, digest, {"papers": records})
