"""Which of several corpora a benchmark reads, and the tenths that papers are split by; on both databases."""

import hashlib
from pathlib import Path

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import BenchmarkError, UnknownNameError
from pinakes.queries.definition import Benchmark, read_benchmark
from pinakes.queries.install import install_benchmark, use_corpus
from pinakes.schema import corpora, papers
from pinakes.workload.benchmark import open_benchmark

pytestmark = pytest.mark.in_turn

TOML = """
title = "Of any corpus"
citation = "none"
licence = "none"
corpus = "first"
other_corpora = ["second", "third"]
pool = "shared"
query_template = "text"
paper_template = "title_abstract"
headline_measure = "AP"
measures = ["AP"]
[grades]
"""
OF_CORPUS = "corpus_id IN (SELECT corpus_id FROM chosen_corpora WHERE benchmark = 'any_corpus')"
SQL = {
    "queries": f"SELECT source_id AS query_id, paper_id, title AS text FROM papers WHERE {OF_CORPUS}",
    "candidates": f"SELECT paper_id FROM papers WHERE {OF_CORPUS}",
    "judgments": f"SELECT source_id AS query_id, paper_id, 1 AS grade FROM papers WHERE {OF_CORPUS}",
}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    folder = tmp_path / "benchmarks" / "any_corpus"
    folder.mkdir(parents=True)
    (folder / "benchmark.toml").write_text(TOML)
    for view, body in SQL.items():
        (folder / f"{view}.sql").write_text(body)
    return read_benchmark("any_corpus", [folder.parent])


def hold(database: Database, *names: str) -> None:
    """Put corpora of one paper each into the database; the paper is called as its corpus."""
    with database.begin() as session:
        for number, name in enumerate(names, start=100):
            described = {"title": name, "version": "1", "licence": "none", "source": "none"}
            session.execute(sa.insert(corpora).values(corpus_id=number, name=name, **described))
            row = {"paper_id": number, "corpus_id": number, "source_id": name, "title": name, "batch_id": 1}
            session.execute(sa.insert(papers).values(**row))


def read_chosen(database: Database) -> list[str]:
    with database.read() as session:
        return [str(row["query_id"]) for row in session.rows("SELECT query_id FROM any_corpus.queries")]


def test_the_first_corpus_that_is_loaded_is_read(database: Database, benchmark: Benchmark) -> None:
    install_benchmark(database, benchmark)
    assert read_chosen(database) == []
    hold(database, "third", "second", "other")
    assert read_chosen(database) == ["second"]


def test_a_user_chooses_and_a_new_installation_keeps_the_choice(
    database: Database, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(tmp_path / "benchmarks"))
    hold(database, "first", "second", "other")
    assert open_benchmark(database, "any_corpus").corpus == "first"
    for corpus in ("second", "other"):
        use_corpus(database, benchmark, corpus)
        assert (read_chosen(database), open_benchmark(database, "any_corpus").corpus) == ([corpus], corpus)
    (tmp_path / "benchmarks" / "any_corpus" / "benchmark.toml").write_text(TOML + '0 = "none"\n')
    assert open_benchmark(database, "any_corpus").corpus == "other"
    use_corpus(database, benchmark, "first")
    assert read_chosen(database) == ["first"]


def test_a_corpus_that_is_not_loaded_and_a_benchmark_of_one_corpus_are_refused(
    database: Database, benchmark: Benchmark
) -> None:
    hold(database, "first")
    with pytest.raises(UnknownNameError, match=r"corpus 'second'.*first"):
        use_corpus(database, benchmark, "second")
    with pytest.raises(BenchmarkError, match="scifact reads the corpus scifact, and no other"):
        use_corpus(database, read_benchmark("scifact"), "first")


def test_a_papers_tenth_is_that_of_the_digest_of_its_corpus_and_id(database: Database) -> None:
    names = [f"paper {number}" for number in range(40)]
    hold(database, *names)
    with database.read() as session:
        found = dict(session.stream_rows("SELECT paper_id, part FROM paper_parts ORDER BY paper_id"))
    digests = [hashlib.md5(f"{name}:{name}".encode()).hexdigest() for name in names]
    assert list(found.values()) == [int(digest[:8], 16) % 10 for digest in digests]
