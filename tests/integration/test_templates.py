"""What the templates of scholarly encoders say, the same on both databases."""

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.queries.definition import read_benchmark
from pinakes.queries.relations import prefix_text, read_template, select_corpus_texts, select_queries
from tests.benching import change


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
