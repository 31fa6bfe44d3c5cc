"""Scores explained term by term: those of rankings, with their ranks, and what cannot be explained."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pinakes
from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError, RunError, UnknownNameError
from pinakes.index.index import index, index_corpus
from pinakes.load.load import LoadRequest, load
from pinakes.run.run import RunRequest, run
from pinakes.sample.sample import sample
from pinakes.search.explain import ExplainRequest, Explanation, explain
from pinakes.search.search import SearchRequest, search
from pinakes.systems.base import SystemOptions
from tests.benching import change, read_hits
from tests.calling import Call
from tests.loading import paper, write_beir

pytestmark = pytest.mark.in_turn

SYSTEM = "sparse_bm25"
ROUNDING = 2.0**-24


def ask(database: Database, folder: Path, query: str, paper_id: str, **given: str) -> Explanation:
    names: list[str] = [name for name in ("k1", "b", "formula", "trained_on") if name in given]
    parameters: dict[str, str] = {name: given.pop(name) for name in names}
    options = SystemOptions(folder, parameters=parameters)
    if not {"corpus", "benchmark"} & set(given):
        given["corpus"] = "scifact"
    return explain(database, ExplainRequest(query, paper_id, options=options, **given))


def check_parts(found: Explanation) -> None:
    """Each part follows from what stands beside it, and the parts are the score."""
    for term in found.terms:
        norm = found.k1 * (1 - found.b + found.b * found.length / found.average_length)
        assert term.length_norm == pytest.approx(norm, rel=1e-15)
        weight = term.idf * term.frequency * (found.k1 + 1) / (term.frequency + norm) if term.frequency else 0
        assert term.weight == pytest.approx(weight, rel=1e-14)
        assert term.score == term.times * term.weight
    assert found.total == math.fsum(term.score for term in found.terms)
    assert abs(found.score - found.total) <= (len(found.terms) + 1) * ROUNDING * found.total
    assert np.float32(found.score) == found.score
    assert sum(term.share for term in found.terms) == pytest.approx(1 if found.total else 0)


def test_a_score_is_that_of_the_search_and_says_what_it_is_made_of(
    prepared: Database, tmp_path: Path
) -> None:
    index_corpus(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    text = "The Graphs of Graph-models, weather and a retrieval"
    found = ask(prepared, tmp_path, text, "p1")
    check_parts(found)
    ranked = search(prepared, SearchRequest("scifact", text, SYSTEM, options=SystemOptions(tmp_path)))
    assert [(one.rank, one.score) for one in ranked if one.source_id == "p1"] == [(found.rank, found.score)]
    assert found.ranked == len(ranked) == 3
    rows = {one.term: one for one in found.terms}
    assert {term: (one.times, one.frequency, one.document_frequency) for term, one in rows.items()} == {
        "graph": (2, 2, 3),
        "retriev": (1, 1, 1),
        "model": (1, 0, 2),
        "weather": (1, 0, 0),
    }
    assert rows["graph"].words == ("Graphs", "Graph")
    assert [(one.word, one.reason) for one in found.dropped] == [
        ("The", "a stop word"),
        ("of", "a stop word"),
        ("and", "a stop word"),
        ("a", "shorter than 2 characters"),
    ]
    assert (found.papers, found.length, found.average_length) == (4, 4, 2.0)


def test_every_hit_of_a_run_is_explained_with_its_score_and_rank(prepared: Database, tmp_path: Path) -> None:
    index(prepared, "csfcube", SYSTEM, options=SystemOptions(tmp_path))
    index(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    for benchmark in ("csfcube", "scifact"):
        made = run(prepared, RunRequest(benchmark, SYSTEM, SystemOptions(tmp_path)))
        hits = read_hits(prepared, made.run_id)
        assert hits
        for query_id, source_id, rank, score in hits:
            found = ask(prepared, tmp_path, query_id, source_id, benchmark=benchmark)
            check_parts(found)
            assert (found.rank, found.score) == (rank, score)


def test_a_paper_that_is_not_ranked_has_no_rank(prepared: Database, tmp_path: Path) -> None:
    index(prepared, "csfcube", SYSTEM, options=SystemOptions(tmp_path))
    index(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    # 8 has no text: in its own pool it has 0, as 4 has, whose id is less; 7 is in no pool of this query.
    last = ask(prepared, tmp_path, "1_background", "8", benchmark="csfcube")
    assert (last.score, last.total, last.length, last.rank, last.ranked) == (0, 0, 0, 4, 5)
    outside = ask(prepared, tmp_path, "1_background", "7", benchmark="csfcube")
    assert (outside.rank, outside.ranked) == (None, 5)
    assert outside.score > 0
    none = ask(prepared, tmp_path, "weather", "p1")
    assert (none.score, none.rank, none.ranked, none.terms[0].share) == (0, None, 0, 0)


def test_statistics_of_a_pool_are_those_of_the_run(initialised: Database, tmp_path: Path) -> None:
    load(initialised, LoadRequest("synthetic", options={"papers": "300", "seed": "1"}))
    sizes: dict[str, Any] = {"pool_sizes": (40,), "validation_pool_size": 20, "assigned_by": "synthetic"}
    sample(
        initialised,
        "field_level",
        "synthetic",
        {"queries": 1, "validation_queries": 1, "repeats": 2, **sizes},
    )
    index(initialised, "field_level", SYSTEM, options=SystemOptions(tmp_path))
    made = run(initialised, RunRequest("field_level", SYSTEM, SystemOptions(tmp_path)))
    hits = read_hits(initialised, made.run_id)
    for query_id, source_id, rank, score in hits[::40]:
        found = ask(initialised, tmp_path, query_id, source_id, benchmark="field_level")
        check_parts(found)
        assert (found.rank, found.score) == (rank, score)
        assert 20 <= found.papers <= 60
    query_id = hits[0][0]
    with initialised.read() as session:
        outside = session.scalar(
            "SELECT source_id FROM papers WHERE paper_id NOT IN "
            "(SELECT paper_id FROM field_level.candidates) ORDER BY source_id LIMIT 1"
        )
    with pytest.raises(InputError, match=r"is no candidate of the query .*, whose pool has its own"):
        ask(initialised, tmp_path, query_id, outside, benchmark="field_level")


@pytest.mark.parametrize(
    "options",
    [{"k1": "0", "b": "0"}, {"k1": "2", "b": "1"}, {"formula": "okapi"}, {"trained_on": "synthetic"}],
)
def test_options_are_those_of_the_search(prepared: Database, tmp_path: Path, options: dict[str, str]) -> None:
    chosen = SystemOptions(tmp_path, parameters=options)
    index_corpus(prepared, "scifact", SYSTEM, options=chosen)
    (best, *_) = search(prepared, SearchRequest("scifact", "graph paper models", SYSTEM, options=chosen))
    found = ask(prepared, tmp_path, "graph paper models", best.source_id, **options)
    check_parts(found)
    assert (found.rank, found.score) == (1, best.score)
    assert found.papers == (300 if "trained_on" in options else 4)


def test_a_named_baseline_is_explained(prepared: Database, tmp_path: Path) -> None:
    index_corpus(prepared, "scifact", "fabs_bm25", options=SystemOptions(tmp_path))
    found = ask(prepared, tmp_path, "the graph", "p1", system="fabs_bm25")
    check_parts(found)
    assert (found.k1, found.formula, found.system) == (1.5, "okapi", "fabs_bm25")
    assert {term.term for term in found.terms} == {"the", "graph"}


def test_what_cannot_be_explained_is_told(prepared: Database, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="build it with `pinakes index --corpus scifact --system sparse_bm25`"):
        ask(prepared, tmp_path, "graph", "p1")
    index_corpus(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    for system in ("bm25", "tfidf"):
        with pytest.raises(InputError, match=r"cannot explain a score.* Systems that can: sparse_bm25\."):
            ask(prepared, tmp_path, "graph", "p1", system=system)
    for query, source_id, given, error, told in (
        ("graph", "p9", {}, InputError, "scifact holds no paper 'p9'"),
        ("graph", "p\0", {}, InputError, "scifact holds no paper"),
        ("  ", "p1", {}, InputError, "the text to explain a score for is empty"),
        ("graph", "p1", {"corpus": "none"}, UnknownNameError, "unknown corpus 'none'"),
        ("q9", "p1", {"benchmark": "scifact"}, UnknownNameError, "unknown query of scifact: 'q9'"),
        ("2_method", "3", {"benchmark": "csfcube"}, InputError, "the query 2_method of csfcube has no text"),
        ("q1", "p1", {"benchmark": "self_retrieval"}, BenchmarkError, "rank"),
        ("q1", "p1", {"benchmark": "scifact", "corpus": "scifact"}, InputError, "Leave --corpus out"),
        ("graph", "p1", {"query_template": "text"}, InputError, "--query-template is of a benchmark"),
    ):
        with pytest.raises(error, match=told):
            ask(prepared, tmp_path, query, source_id, **given)
    with pytest.raises(InputError, match="expected --corpus NAME, or --benchmark NAME"):
        explain(prepared, ExplainRequest("graph", "p1", options=SystemOptions(tmp_path)))
    change(prepared, "UPDATE papers SET title = 'Weather' WHERE source_id = 'p2'")
    with pytest.raises(RunError, match="was built from other texts or settings than those of today"):
        ask(prepared, tmp_path, "graph", "p1")


def test_a_very_long_paper_and_hostile_words_are_explained(initialised: Database, tmp_path: Path) -> None:
    text = " ".join(["echo"] * 60_000 + [f"w{number}" for number in range(5_000)])
    hostile = 'o\'hara "x" back\\slash \u202eright 日本語 naïve a\u200db %s :name'
    folder = write_beir(tmp_path / "own", [paper(1, title="", text=text), paper(2, title="", text=hostile)])
    load(initialised, LoadRequest("beir", folder, corpus="own"))
    index_corpus(initialised, "own", SYSTEM, options=SystemOptions(tmp_path))
    found = ask(initialised, tmp_path, "echo w4999 echo", "p1", corpus="own")
    check_parts(found)
    assert [(one.term, one.times, one.frequency) for one in found.terms] == [
        ("echo", 2, 60_000),
        ("w4999", 1, 1),
    ]
    assert found.length == 65_000
    other = ask(initialised, tmp_path, hostile + "\0\ud800", "p2", corpus="own")
    check_parts(other)
    assert other.rank == 1
    assert {"hara", "slash", "right", "naiv", "name"} <= {one.term for one in other.terms if one.frequency}
    assert not {one.term for one in other.terms if one.document_frequency == 0}


def test_the_command_and_python_say_the_same(call: Call) -> None:
    assert call("index", "--corpus", "scifact", "-s", SYSTEM, "-q").code == 0
    words = ("explain", "graphs of weather, retrieval models", "p1", "--corpus", "scifact")
    shown = call(*words)
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0] == "p1 (Graphs) for graphs of weather, retrieval models"
    assert lines[1].split() == [
        "term",
        "times",
        "tf",
        "df",
        "idf",
        "norm",
        "weight",
        "score",
        "share",
        "words",
    ]
    assert "The paper lacks: model. No paper has: weather. No terms are: of (a stop word)." in shown.out
    found = call(*words, "--json").data
    answered = pinakes.connect().explain("graphs of weather, retrieval models", "p1", corpus="scifact")
    assert found["score"] == answered.score
    assert [term["term"] for term in found["terms"]] == [term.term for term in answered.terms]
    assert answered.rank == found["rank"] == 1
    assert call("explain", "graph", "p1").code == 1
    assert call("explain", "", "p1", "--corpus", "scifact").code == 1
