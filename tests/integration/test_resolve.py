"""Cited works and the papers that they are: by id, identifier and title; several answers are no answer."""

import pytest

from pinakes.database import Database
from pinakes.errors import UnknownNameError
from pinakes.load.deduplicate import Deduplicated, deduplicate
from pinakes.load.resolve import Resolved, resolve
from pinakes.loaders.reading.rows import normalise_title
from pinakes.loaders.staging import Rows
from tests.integration.toy_loading import cite, load_records, toy_paper
from tests.loading import dump_tables

pytestmark = pytest.mark.in_turn

LONG = "A title that is long enough"


def _reference(key: str, title: str | None = None, year: int | None = None, doi: str | None = None) -> Rows:
    ids = [{"reference_key": key, "scheme": "doi", "identifier": doi}] if doi else []
    return {
        "references": [{"reference_key": key, "title": title, "year": year}],
        "reference_identifiers": ids,
        "citations": [{"citing_source_id": "citing", "reference_key": key}],
    }


def _resolved(database: Database) -> dict[str, tuple[str | None, str | None]]:
    with database.read() as session:
        rows = session.rows(
            "SELECT reference_key, source_id, resolved_by FROM cited_references "
            "LEFT JOIN papers ON cited_references.paper_id = papers.paper_id ORDER BY reference_key"
        )
    return {row["reference_key"]: (row["source_id"], row["resolved_by"]) for row in rows}


def test_a_cited_work_is_found_by_id_then_identifier_then_title(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [
        toy_paper("citing"),
        toy_paper("p1", title="Something else entirely"),
        toy_paper("p2", dois="10.1/two", title=LONG),
        toy_paper("p3", title="The  Third: long-title", year=2001),
    ]
    works = [
        _reference("p1", title=LONG),
        _reference("r2", doi="10.1/two", title="the third long title"),
        _reference("r3", title="the third long TITLE!", year=2002),
        _reference("r4", title="nobody wrote this one"),
        _reference("r5"),
    ]
    load_records(database, monkeypatch, "1", {"papers": papers, "citations": works})
    assert _resolved(database) == {
        "p1": ("p1", "source_id"),
        "r2": ("p2", "identifier"),
        "r3": ("p3", "title"),
        "r4": (None, None),
        "r5": (None, None),
    }
    assert resolve(database, "toy") == Resolved(0, 0, 0)


def test_several_answers_and_years_too_far_apart_are_recorded_and_not_guessed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [
        toy_paper("citing"),
        toy_paper("p1", title=LONG),
        toy_paper("p2", title=LONG.upper()),
        toy_paper("p3", title="Another title of length", year=1990),
        toy_paper("p4", dois="10.1/x", title="Four four four"),
        toy_paper("p5", dois="10.1/x", title="Five five five"),
        toy_paper("p6", title="Short"),
    ]
    works = [
        _reference("r1", title=LONG),
        _reference("r2", title="another title of length", year=2000),
        _reference("r3", doi="10.1/x", title="Four four four"),
        _reference("r4", title="Short"),
    ]
    load_records(database, monkeypatch, "1", {"papers": papers, "citations": works})
    assert set(_resolved(database).values()) == {(None, None)}
    assert dump_tables(database)["ambiguous_references"] == [
        (1, 2, "title"),
        (1, 3, "title"),
        (2, 4, "title"),
        (3, 5, "identifier"),
        (3, 6, "identifier"),
    ]


def test_an_answer_by_title_is_taken_back_when_a_second_paper_has_the_title(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {
        "papers": [toy_paper("citing"), toy_paper("p1", title=LONG)],
        "citations": [_reference("r", LONG)],
    }
    load_records(database, monkeypatch, "1", first)
    assert _resolved(database) == {"r": ("p1", "title")}
    load_records(database, monkeypatch, "2", {"papers": [toy_paper("p2", title=LONG)]})
    assert _resolved(database) == {"r": (None, None)}
    assert len(dump_tables(database)["ambiguous_references"]) == 2


def test_a_work_that_was_ambiguous_is_so_no_more_when_the_paper_of_its_id_comes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [toy_paper("citing"), toy_paper("p1", title=LONG), toy_paper("p2", title=LONG)]
    load_records(database, monkeypatch, "1", {"papers": papers, "citations": [_reference("p3", LONG)]})
    assert len(dump_tables(database)["ambiguous_references"]) == 2
    load_records(database, monkeypatch, "2", {"papers": [toy_paper("p3", title=LONG)]})
    assert _resolved(database) == {"p3": ("p3", "source_id")}
    assert "ambiguous_references" not in dump_tables(database)


def test_merged_papers_are_one_answer_and_unmerging_takes_it_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [
        toy_paper("citing"),
        toy_paper("p1", title=LONG),
        toy_paper("p2", title=LONG, abstract="It has one."),
        toy_paper("p3", title="Short"),
        toy_paper("p4", title="Short"),
    ]
    works = [
        _reference("r1", LONG),
        _reference("r2", "a TITLE that is long enough"),
        _reference("r3", "Cited twice under two keys", doi="10.1/y"),
        _reference("r4", "Cited as something else", doi="10.1/y"),
        _reference("r5", "cited as Something else!"),
        _reference("p1"),
    ]
    load_records(database, monkeypatch, "1", {"papers": papers, "citations": [*works, cite("p1", "p2")]})
    before = dump_tables(database, without=("last_batch_id", "row_count"))
    assert deduplicate(database, "toy") == Deduplicated(papers=1, references=5)
    assert _resolved(database)["r1"] == ("p2", "title")
    dumped = dump_tables(database)
    assert dumped["duplicate_papers"] == [(2, 3, "title")]
    with database.read() as session:
        merged = session.rows(
            "SELECT reference_key, mentions FROM distinct_references ORDER BY reference_key"
        )
        links = session.rows("SELECT * FROM citation_links ORDER BY citing_paper_id")
        papers_left = session.rows("SELECT source_id FROM distinct_papers ORDER BY paper_id")
    assert [tuple(row.values()) for row in merged] == [("r1", 4), ("r3", 3)]
    assert [tuple(row.values()) for row in links] == [(1, 3), (3, 3)]
    assert [row["source_id"] for row in papers_left] == ["citing", "p2", "p3", "p4"]
    assert deduplicate(database, "toy", undo=True) == Deduplicated(0, 0)
    assert dump_tables(database, without=("last_batch_id", "row_count")) == before


def test_a_corpus_that_is_not_there_is_named_with_those_that_are(database: Database) -> None:
    with pytest.raises(UnknownNameError, match="nowhere"):
        resolve(database, "nowhere")
    with pytest.raises(UnknownNameError, match="nowhere"):
        deduplicate(database, "nowhere")


def test_titles_are_normalised_in_sql_as_in_python(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = [
        "BERT: Pre-training\tof Deep",
        "Żółć & Co. 2",
        "漢字、and ÉTÉ",
        "a\x7fb_c^d`e{f}g~h",
        "\x01x\u00a0Y",
    ]
    papers = [toy_paper(f"p{number}", title=title) for number, title in enumerate(titles)]
    works = [_reference(f"r{number}", title) for number, title in enumerate(titles)]
    load_records(database, monkeypatch, "1", {"papers": papers, "citations": works})
    with database.read() as session:
        found = session.rows("SELECT title_key FROM paper_title_keys ORDER BY paper_id")
        cited = session.rows("SELECT title_key FROM reference_title_keys ORDER BY reference_id")
    expected = [normalise_title(title) for title in titles]
    assert [row["title_key"] for row in found] == [row["title_key"] for row in cited] == expected
