"""The commands that index, tune, encode and search: what they take, print and refuse."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.calling import Call

pytestmark = pytest.mark.in_turn


def test_a_corpus_is_indexed_and_searched_without_a_benchmark(call: Call) -> None:
    indexed = call("index", "--corpus", "scifact", "-s", "bm25", "--json", "-q")
    assert [(row["system"], row["added"]) for row in indexed.data] == [("bm25", 4)]
    found = call("search", "scifact", "graph models", "-k", 2, "--json")
    assert [(row["rank"], row["source_id"]) for row in found.data] == [(1, "p2"), (2, "p10")]
    filtered = call("search", "scifact", "graph", "--venue", "'; DROP TABLE papers; --")
    assert (filtered.code, filtered.out) == (1, "")
    assert "no paper of scifact passes the filter" in filtered.err


def test_a_search_asks_with_sentences_of_a_paper(call: Call) -> None:
    call("index", "--corpus", "csfcube", "-s", "bm25", "-q")
    found = call("search", "csfcube", "--paper", "1", "--sentences", "2", "-k", 2, "--json")
    assert [(row["rank"], row["source_id"]) for row in found.data] == [(1, "6"), (2, "5")]
    refused = call("search", "csfcube", "--paper", "1", "--sentences", "2,x")
    assert refused.code == 1
    assert "--sentences '2,x': expected numbers from 1 with commas between, as 2,3." in refused.err


def test_a_benchmark_is_what_index_takes_first(call: Call) -> None:
    plain = call("index", "scifact", "-s", "tfidf", "--json", "-q")
    spelled = call("index", "benchmark", "scifact", "-s", "tfidf", "--json", "-q")
    assert (plain.data[0]["added"], spelled.data[0]["existing"]) == (4, 4)
    refused = call("index", "-s", "bm25", "-q")
    assert refused.err == (
        "pinakes: expected a BENCHMARK, or --corpus NAME, or both for a benchmark that reads any corpus.\n"
    )
    assert call("index", "scifact", "-s", "bm25", "--option", "k1=1", "-q").code == 1


def test_vectors_are_searched_through_a_faiss_index(call: Call, toy_folder: str) -> None:
    refused = call("index", "faiss", "--corpus", "synthetic", "-s", toy_folder, "--precision", "fp32", "-q")
    assert (refused.code, "pinakes index --corpus synthetic --system" in refused.err) == (1, True)
    assert call("index", "--corpus", "synthetic", "-s", toy_folder, "--precision", "fp32", "-q").code == 0
    built = call(
        *("index", "faiss", "--corpus", "synthetic", "-s", toy_folder, "--precision", "fp32", "--json", "-q")
    )
    assert (built.data[0]["kind"], built.data[0]["row_count"], built.data[0]["built"]) == (
        "faiss_hnsw",
        300,
        True,
    )
    requested = ("search", "synthetic", "citation graph", "-s", toy_folder, "--precision", "fp32", "--json")
    exact, through = (
        call(*requested),
        call(*requested, "--through", "faiss:hnsw", "--option", "ef_search=300"),
    )
    assert exact.data == through.data != []
    assert "unknown way to search 'faiss:no'" in call(*requested, "--through", "faiss:no").err
    assert "unknown option" in call(*requested, "--through", "faiss:hnsw", "--option", "nprobe=1").err


def test_vectors_are_searched_through_pgvector_where_there_is_postgres(
    call: Call, toy_folder: str, prepared_url: str
) -> None:
    encoder = ("-s", toy_folder, "--precision", "fp32")
    call("index", "--corpus", "synthetic", *encoder, "-q")
    built = call("index", "pgvector", *encoder, "--m", 8, "--ef-construction", 32, "--json", "-q")
    if prepared_url.startswith("duckdb"):
        assert built.code == 1
        assert "pgvector is an extension of Postgres" in built.err
        return
    assert (built.data[0]["kind"], built.data[0]["row_count"]) == ("pgvector_hnsw", 300)
    requested = ("search", "synthetic", "citation graph", *encoder, "--json")
    exact = call(*requested)
    through = call(*requested, "--through", "pgvector", "--option", "ef_search=400")
    assert exact.data == through.data != []
    assert "known: ef_search" in call(*requested, "--through", "pgvector", "--option", "nprobe=1").err


def test_bm25_is_tuned_and_later_runs_take_the_choice(call: Call) -> None:
    call("index", "synthetic", "-s", "sparse_bm25", "-q")
    grid = ("--k1", 0.5, "--k1", 2, "--b", 0, "--b", 1)
    tuned = call("tune", "bm25", "synthetic", *grid, "--json", "-q")
    chosen = tuned.data["chosen"]
    assert [(point["k1"], point["b"]) for point in tuned.data["points"]] == [
        (0.5, 0),
        (0.5, 1),
        (2, 0),
        (2, 1),
    ]
    assert chosen["value"] == max(point["value"] for point in tuned.data["points"])
    ranked = call("run", "synthetic", "-s", "sparse_bm25", "--json", "-q")
    parameters = call(
        "sql", f"SELECT parameters FROM runs WHERE run_id = {ranked.data[0]['run_id']}", "--format", "json"
    )
    stored = json.loads(parameters.data[0]["parameters"])
    assert (stored["k1"], stored["b"]) == (chosen["k1"], chosen["b"])
    assert call("tune", "bm25", "synthetic", "--b", 2, "-q").code == 1


def test_texts_of_a_parquet_file_or_a_query_are_encoded_into_parquet(
    call: Call, toy_folder: str, tmp_path: Path
) -> None:
    pq.write_table(
        pa.table({"key": [1, 2], "text": ["graph models", "the paper"]}), tmp_path / "texts.parquet"
    )
    shared = ("--model", toy_folder, "--precision", "fp32", "--json", "-q")
    made = call("encode", tmp_path / "texts.parquet", tmp_path / "out", "--id-column", "key", *shared)
    assert (made.code, made.data[0]["rows"], made.data[0]["encoded"]) == (0, 2, 2)
    again = call("encode", tmp_path / "texts.parquet", tmp_path / "out", "--id-column", "key", *shared)
    assert again.data[0]["encoded"] == 0
    query = (
        "SELECT source_id AS id, title AS text FROM papers WHERE source_id LIKE 'syn-%' ORDER BY source_id"
    )
    from_query = call("encode", query, tmp_path / "titles", *shared)
    assert (from_query.data[0]["rows"], from_query.data[0]["empty"]) == (300, 0)
    nothing = call("encode", tmp_path / "nothing.parquet", tmp_path / "none", *shared)
    assert (nothing.code, "nothing.parquet" in nothing.err) == (1, True)
    assert list((tmp_path / "none").rglob("*.parquet")) == []
