"""What the templates of scholarly encoders say, the same on both databases."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.queries.definition import read_benchmark
from pinakes.queries.relations import prefix_text, read_template, select_corpus_texts, select_queries
from pinakes.workload.benchmark import open_benchmark
from tests.benching import change, write_benchmark


def read_papers(database: Database, template: str) -> list[str]:
    with database.read() as session:
        table = session.fetch_arrow(select_corpus_texts("scifact", template))
    return [str(text) for text in table["text"].to_pylist()]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("specter", ["Graphs[SEP]citation graph retrieval", "[SEP]graph models", "[SEP]graph models", ""]),
        ("scirepeval", ["Graphs [SEP] citation graph retrieval", "graph models", "graph models", ""]),
    ],
)
def test_a_missing_field_is_empty_for_specter_and_vanishes_for_scirepeval(
    untouched: Database, template: str, expected: list[str]
) -> None:
    assert read_papers(untouched, template) == expected


def test_the_search_task_adds_venue_and_year(prepared: Database) -> None:
    change(prepared, "UPDATE papers SET venue = 'Nature', year = 2019 WHERE source_id = 'p1'")
    expected = ["Graphs [SEP] citation graph retrieval [SEP] Nature [SEP] 2019"]
    assert read_papers(prepared, "scirepeval_search")[:1] == expected


def test_the_search_task_leaves_out_what_a_paper_lacks(prepared: Database) -> None:
    change(prepared, "UPDATE papers SET venue = '', year = NULL WHERE source_id = 'p1'")
    change(prepared, "UPDATE papers SET venue = 'Nature', year = 2019 WHERE source_id = 'p2'")
    change(prepared, "UPDATE papers SET venue = NULL, year = 1999 WHERE source_id = 'p3'")
    assert read_papers(prepared, "scirepeval_search") == [
        "Graphs [SEP] citation graph retrieval",
        "graph models [SEP] Nature [SEP] 2019",
        "graph models",
        "1999",
    ]


def test_separators_with_and_without_spaces_are_the_same_tokens_where_no_field_is_missing(
    untouched: Database, toy_folder: str
) -> None:
    encoder = load_encoder(resolve_model(toy_folder), "fp32")
    specter, scirepeval = (
        encoder.tokenize(read_papers(untouched, template)[:2]) for template in ("specter", "scirepeval")
    )
    assert specter[0] == scirepeval[0]
    # Of a paper without a title, SPECTER's text keeps the separator and SciRepEval's does not.
    words = [encoder.tokenizer.convert_ids_to_tokens(found[1])[:3] for found in (specter, scirepeval)]
    assert words == [["[CLS]", "[SEP]", "graph"], ["[CLS]", "graph", "model"]]


def test_a_topic_says_its_title_its_question_and_its_narrative(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(prepared, "UPDATE benchmark_queries SET description = 'Which?' WHERE query_id = 'q1'")
    change(prepared, "UPDATE benchmark_queries SET narrative = 'All of them.' WHERE query_id IN ('q1', 'q2')")
    view = (
        "SELECT query_id, paper_id, text, description, narrative FROM benchmark_queries "
        "INNER JOIN corpora USING (corpus_id) WHERE corpora.name = 'scifact'"
    )
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_benchmark(tmp_path, corpus="scifact", queries=view)))
    benchmark = open_benchmark(prepared, "own")
    with prepared.read() as session:
        rows = session.rows(select_queries(benchmark, "scirepeval_topic"))
    assert {row["query_id"]: row["text"] for row in rows}["q1"] == (
        "graph models [SEP] Which? [SEP] All of them."
    )


@pytest.mark.parametrize("template", ["specter", "scirepeval"])
def test_a_query_that_is_no_paper_says_its_text(untouched: Database, template: str) -> None:
    with untouched.read() as session:
        table = session.fetch_arrow(select_queries(read_benchmark("scifact"), template))
    assert table["text"].to_pylist() == ["graph models"]


def test_a_query_that_is_a_paper_says_its_whole_paper(untouched: Database) -> None:
    with untouched.read() as session:
        rows = session.rows(select_queries(read_benchmark("csfcube"), "specter"))
    assert {row["query_id"]: row["text"] for row in rows}["1_method"] == (
        "Title 1[SEP]Citation graph retrieval. A model of the graph."
    )


def test_a_prefix_is_part_of_what_is_digested_and_no_text_gets_one(untouched: Database) -> None:
    told = prefix_text(read_template("papers", "title"), "passage: ").label("text")
    digest = sa.cast(sa.func.md5(told), sa.Uuid).label("digest")
    papers = sa.table("papers", sa.column("title"), sa.column("source_id"))
    query = sa.select(told, digest).select_from(papers).where(papers.c.source_id.in_(["p1", "p3"]))
    with untouched.read() as session:
        rows = session.rows(query.order_by(papers.c.source_id))
    assert [row["text"] for row in rows] == ["passage: Graphs", ""]
    assert str(rows[0]["digest"]) == "ad6b6a8e-09c6-194b-02fe-9951ffbe0cbe"
