"""The selects over a benchmark's views, as each database is told them."""

import os
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from pinakes.errors import UnknownNameError
from pinakes.queries.definition import read_benchmark
from pinakes.queries.relations import (
    list_templates,
    read_template,
    relation,
    select_candidate_texts,
    select_candidates,
    select_corpus_texts,
    select_judgments,
    select_queries,
)

SNAPSHOT = Path(__file__).parents[2] / "snapshots" / "benchmark_selects.sql"


def compile_selects() -> dict[str, sa.Select[Any]]:
    csfcube, scifact = read_benchmark("csfcube"), read_benchmark("scifact")
    return {
        "queries of csfcube": select_queries(csfcube),
        "queries of scifact": select_queries(scifact),
        "candidates of csfcube": select_candidates(csfcube),
        "candidates of scifact": select_candidates(scifact),
        "judgments of csfcube": select_judgments(csfcube),
        "candidate texts of csfcube": select_candidate_texts(csfcube),
        "candidate texts of scifact, titles": select_candidate_texts(scifact, "title"),
        "corpus texts of scifact": select_corpus_texts("scifact", "title_abstract"),
    }


def test_the_selects_are_those_of_the_snapshot() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    shown = "".join(
        f"-- {name}\n{select.compile(dialect=dialect, compile_kwargs={'literal_binds': True})}\n\n"
        for name, select in compile_selects().items()
    )
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(shown, encoding="utf-8")
    assert shown == SNAPSHOT.read_text(encoding="utf-8")


def test_both_databases_are_told_the_same_text() -> None:
    duck = sa.create_engine("duckdb:///:memory:").dialect
    for select in compile_selects().values():
        texts = {
            str(select.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
            for dialect in (duck, postgresql.dialect())  # type: ignore[no-untyped-call]
        }
        assert len(texts) == 1


def test_a_view_owes_its_columns_and_those_that_reports_group_by() -> None:
    csfcube, scifact = read_benchmark("csfcube"), read_benchmark("scifact")
    assert relation(csfcube, "queries").columns.keys() == ["query_id", "paper_id", "text", "facet", "fold"]
    assert relation(scifact, "queries").columns.keys() == ["query_id", "paper_id", "text"]
    assert relation(csfcube, "candidates").columns.keys() == ["query_id", "paper_id"]
    assert relation(scifact, "candidates").columns.keys() == ["paper_id"]
    assert relation(csfcube, "judgments").columns.keys() == ["query_id", "paper_id", "grade"]


def test_an_unknown_template_lists_the_known_ones() -> None:
    papers = ["abstract", "scirepeval", "scirepeval_search", "specter", "title", "title_abstract"]
    assert list_templates("papers") == papers
    queries = ["abstract", "facet_sentences", "scirepeval", "scirepeval_topic", "specter", "text", "title"]
    queries += ["title_abstract", "title_facet_sentences", "title_text"]
    assert list_templates("queries") == queries
    with pytest.raises(
        UnknownNameError, match="text template for papers 'text'; known: abstract, scirepeval, "
    ):
        read_template("papers", "text")
    with pytest.raises(UnknownNameError, match=r"queries '\.\./papers/title'; known: "):
        read_template("queries", "../papers/title")
