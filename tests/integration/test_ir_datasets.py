"""Collections of ir_datasets from their definition to scores, on both databases and without a network."""

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import InputError, LoadError, PinakesError
from pinakes.load.load import LoadRequest, LoadSummary, load
from pinakes.loaders import staging
from tests.benching import write_benchmark
from tests.calling import Call

pytest.importorskip("ir_datasets", reason="the package ir_datasets of the extra ir is not installed")

from tests import ir_collections as own

pytestmark = pytest.mark.in_turn


@pytest.fixture(autouse=True)
def _toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    own.register_toy()


def bring(database: Database, name: str = "toy", **options: str) -> LoadSummary:
    return load(database, LoadRequest("ir-datasets", options={"dataset": name, **options}))


def read(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query)]


def counts(summary: LoadSummary) -> dict[str, tuple[int, int, int]]:
    """role -> records, accepted, rejected."""
    return {
        file.role: (file.rows_in, file.rows_in - file.rows_rejected, file.rows_rejected)
        for file in summary.files
    }


def test_documents_are_papers_by_the_fields_of_their_type(database: Database) -> None:
    summary = bring(database)
    assert summary.corpus == "toy"
    assert counts(summary) == {
        "papers": (5, 5, 0),
        "queries": (3, 3, 0),
        "judgments": (3, 3, 0),
        "pool_sources": (2, 2, 0),
    }
    assert read(database, "SELECT source_id, title, abstract FROM papers ORDER BY source_id") == [
        ("d1", "Graphs", "Citation graphs."),
        ("d2", "Models", "Graph models."),
        ("d3", None, "A plain text."),
        ("d4", None, "pinakes def load(): ..."),
        ("d5", None, None),
    ]
    assert read(database, "SELECT section_number, title, text FROM sections ORDER BY section_number") == [
        (1, "One", "First."),
        (2, None, "Second."),
    ]
    assert read(database, "SELECT scheme, identifier FROM paper_identifiers") == [("doi", "10.1/a")]


def test_queries_judgments_and_scored_documents_are_loaded(database: Database) -> None:
    bring(database)
    assert read(
        database,
        "SELECT query_id, text, description, narrative, papers.source_id FROM benchmark_queries "
        "LEFT JOIN papers ON benchmark_queries.paper_id = papers.paper_id ORDER BY query_id",
    ) == [
        ("q1", "graphs", "Which graphs?", "Graphs of citations.", None),
        ("q2", "models", None, None, None),
        ("q3", None, None, None, "d2"),
    ]
    assert read(
        database,
        "SELECT query_id, source_id, assessor, split, grade FROM judged_papers ORDER BY query_id, source_id",
    ) == [
        ("q1", "d1", "published", "test", 2),
        ("q1", "d2", "published", "test", 0),
        ("q2", "d2", "published", "test", 1),
    ]
    assert read(database, "SELECT query_id, source FROM pool_sources") == [("q1", "scoreddocs")] * 2


def test_what_has_no_table_is_counted_and_named(database: Database) -> None:
    summary = bring(database)
    assert {row["kind"]: (row["reason"], row["items"]) for row in summary.left_out} == {
        "field date": ("no_column", 1),
        "field iteration": ("no_column", 1),
        "field score": ("no_column", 2),
        "field stance": ("no_column", 1),
        "field tags": ("no_column", 1),
        "field url": ("no_column", 1),
    }
    (unread,) = summary.unread
    assert (unread["file"], unread["message"]) == ("ir_datasets:toy:docpairs", "docpairs have no table")


def test_loaded_again_nothing_changes_and_a_changed_definition_is_read(database: Database) -> None:
    bring(database)
    again = bring(database)
    assert all(file.was_loaded_before for file in again.files)
    own.register("toy", docs=[*own.DOCS, own.PlainDoc("d6", "New.")], queries=own.TOPICS, qrels=own.QRELS)
    newer = bring(database)
    assert [file.role for file in newer.files if not file.was_loaded_before] == ["papers"]
    assert read(database, "SELECT COUNT(*) FROM papers") == [(6,)]


def test_a_load_that_breaks_off_keeps_what_stands_before_and_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 2)
    own.register("toy", docs=Breaking(own.DOCS, 3))
    with pytest.raises(LoadError, match=r"ir_datasets cannot give the docs of toy: OSError: no network\. It"):
        bring(database)
    assert read(database, "SELECT COUNT(*) FROM papers") == [(3,)]
    own.register("toy", docs=own.DOCS)
    # the same content, as the digest of a definition is that of its records: three of five were in
    assert counts(bring(database))["papers"] == (2, 2, 0)
    assert read(database, "SELECT COUNT(*) FROM papers") == [(5,)]


class Breaking:
    """Documents of which the download stops, but not while their digest is made."""

    def __init__(self, docs: list[Any], given: int) -> None:
        self._docs, self._given, self._whole = docs, given, True

    def __iter__(self) -> Iterator[Any]:
        whole, self._whole = self._whole, False
        yield from self._docs if whole else self._docs[: self._given]
        if not whole:
            raise OSError("no network")


HOSTILE = {
    "an id that is empty": (own.PlainDoc("", "text"), "missing_field"),
    "a NUL in a text": (own.PlainDoc("d9", "a\x00b"), "invalid_value"),
    "half of a surrogate pair": (own.PlainDoc("d9", "\ud800"), "invalid_value"),
    "an id that comes again": (own.PlainDoc("d1", "again"), "duplicate_id"),
    "no named fields": (("d9", "text"), "not_an_object"),
}


@pytest.mark.in_turn
@pytest.mark.parametrize("case", HOSTILE)
def test_a_document_that_no_table_holds_is_rejected_with_its_reason(database: Database, case: str) -> None:
    item, reason = HOSTILE[case]
    own.register("toy", docs=[*own.DOCS, item])
    summary = bring(database)
    assert counts(summary)["papers"] == (6, 5, 1)
    assert dict(summary.reasons) == {reason: 1}


def test_grades_and_ids_of_judgments_are_checked(database: Database) -> None:
    bad = [own.Qrel("q1", "d3", "high", "0"), own.Qrel("q1", "d9", 1, "0"), own.Qrel("q9", "d1", 1, "0")]
    again = [own.Qrel("q1", "d1", 1, "0"), own.Qrel("q1", "d4", None, "0")]
    own.register("toy", docs=own.DOCS, queries=own.TOPICS, qrels=[*own.QRELS, *bad, *again])
    summary = bring(database)
    assert counts(summary)["judgments"] == (8, 3, 5)
    assert dict(summary.reasons) == {
        "duplicate_id": 1,
        "invalid_value": 1,
        "missing_field": 1,
        "unknown_paper": 1,
        "unknown_query": 1,
    }


def test_subtopics_are_assessors_of_their_own(database: Database) -> None:
    qrels = [own.SubtopicQrel("q1", "d1", 1, "1"), own.SubtopicQrel("q1", "d1", 0, "2")]
    own.register("toy", docs=own.DOCS, queries=own.TOPICS, qrels=qrels)
    bring(database)
    assert read(database, "SELECT assessor, grade FROM judged_papers ORDER BY assessor") == [
        ("subtopic 1", 1),
        ("subtopic 2", 0),
    ]


def test_a_part_of_a_collection_is_a_split_of_its_corpus(database: Database) -> None:
    # as in the package, one handler gives the documents of all parts
    import ir_datasets
    from ir_datasets.datasets.base import Dataset

    own.register("whole/set", docs=own.DOCS)
    documents = ir_datasets.load("whole/set").docs_handler()
    for split, qrels in (("train", own.QRELS[:1]), ("test", own.QRELS[1:])):
        own.register("part", queries=own.TOPICS, qrels=qrels)
        ir_datasets.registry._registered.pop(f"whole/set/{split}", None)
        part = ir_datasets.load("part")
        ir_datasets.registry.register(
            f"whole/set/{split}", Dataset(documents, part.queries_handler(), part.qrels_handler())
        )
        summary = bring(database, f"whole/set/{split}")
        assert summary.corpus == "whole-set"
    assert read(database, "SELECT split, COUNT(*) FROM judgments GROUP BY split ORDER BY split") == [
        ("test", 2),
        ("train", 1),
    ]
    assert read(database, "SELECT COUNT(*) FROM papers") == [(5,)]


def test_from_the_name_to_scores_by_commands(
    prepared_url: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_benchmark(tmp_path / "own", corpus="toy")))
    for words in (
        ["load", "ir-datasets:toy"],
        ["index", "own", "--system", "tfidf"],
        ["run", "own", "--system", "tfidf"],
    ):
        done = call(*words, "--db", prepared_url)
        assert done.code == 0, done.err
    done = call("evaluate", "own", "--measure", "recip_rank", "--db", prepared_url)
    assert done.code == 0
    # of three queries nobody judged q3
    assert "1 of 3 queries have no judgment (q3)" in done.err


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ir-datasets:toi"], r"has no dataset 'toi'; near: toy.*`ir_datasets list` names them all"),
        (
            ["ir-datasets"],
            r"reads datasets by their names, and no file: write `pinakes load ir-datasets:NAME`",
        ),
        (["ir-datasets:toy", "folder"], r"reads datasets by their names, and no file"),
        (["beir:toy"], r"unknown option of the loader beir 'dataset'"),
        (["ir-datasets:toy", "--option", "unknown=perhaps"], r"unknown='perhaps': expected reject or create"),
    ],
)
def test_what_cannot_be_read_is_told(call: Call, words: list[str], message: str) -> None:
    done = call("load", *words)
    assert done.code == 2 or done.code == 1
    with pytest.raises(PinakesError, match=message):
        raise InputError(done.err)


def test_a_missing_package_is_told_with_the_command_that_brings_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = builtins.__import__

    def refuse(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "ir_datasets":
            raise ImportError("No module named 'ir_datasets'")
        return whole(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(
        InputError, match=r"the package ir_datasets is not here .*`pip install 'pinakes\[ir\]'`"
    ):
        bring(database)
