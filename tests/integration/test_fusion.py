"""Fused runs and averaged vectors: the same on both databases, from runs of today, by hand-worked sums."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.errors import InputError, RunError, UnknownNameError
from pinakes.index.index import index
from pinakes.indexers.fusion import Contribution, fuse_scores
from pinakes.queries.definition import read_benchmark
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.systems.registry import find_system
from pinakes.vectors.reading import mean_vectors
from pinakes.workload.workload import read_workload
from tests.benching import change, count, read_hits
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn

Hits = dict[str, dict[str, tuple[int, float]]]


def prepare(database: Database, benchmark: str, options: SystemOptions, *systems: str) -> list[int]:
    for system in systems:
        index(database, benchmark, system, options=options)
    return [run(database, RunRequest(benchmark, system, options)).run_id for system in systems]


def by_query(database: Database, run_id: int) -> Hits:
    found: Hits = defaultdict(dict)
    for query, source_id, rank, score in read_hits(database, run_id):
        found[query][source_id] = (rank, score)
    return found


@pytest.mark.parametrize("benchmark", ["scifact", "csfcube", "synthetic"])
def test_reciprocal_ranks_are_those_of_the_stored_runs_on_both_databases(
    both_prepared: tuple[Database, Database], tmp_path: Path, benchmark: str
) -> None:
    fused = []
    for database in both_prepared:
        options = SystemOptions(tmp_path / database.name)
        parts = prepare(database, benchmark, options, "bm25", "tfidf")
        made = run(database, RunRequest(benchmark, "rrf:bm25,tfidf=2", options))
        left, right = (by_query(database, run_id) for run_id in parts)
        for query, hits in by_query(database, made.run_id).items():
            assert hits.keys() == left[query].keys() | right[query].keys()
            for source_id, (_, score) in hits.items():
                places = [part[query].get(source_id, (float("inf"), 0))[0] for part in (left, right)]
                assert score == np.float32(1 / (60 + places[0]) + 2 / (60 + places[1]))
        fused.append(read_hits(database, made.run_id))
    assert fused[0] == fused[1] != []


def test_weighted_scores_are_scaled_within_each_query(prepared: Database, tmp_path: Path) -> None:
    options = SystemOptions(tmp_path)
    parts = prepare(prepared, "scifact", options, "bm25", "tfidf")
    made = run(prepared, RunRequest("scifact", "sum:bm25=0.25,tfidf=0.5", options))
    left, right = (by_query(prepared, run_id)["q1"] for run_id in parts)
    expected = {
        source_id: sum(
            weight * (part[source_id][1] - low) / (high - low) if high > low else weight
            for part, weight in ((left, 0.25), (right, 0.5))
            for low, high in [(min(s for _, s in part.values()), max(s for _, s in part.values()))]
            if source_id in part
        )
        for source_id in left.keys() | right.keys()
    }
    found = {source_id: score for source_id, (_, score) in by_query(prepared, made.run_id)["q1"].items()}
    assert found == pytest.approx(expected, rel=1e-6)
    assert len(found) >= 2


@pytest.mark.parametrize(
    ("normalisation", "expected"), [("zscore", [0.0, 2.0, 4.0]), ("none", [1.0, 3.0, 9.0])]
)
def test_a_ranking_that_lacks_a_document_adds_what_its_last_one_does(
    normalisation: str, expected: list[float]
) -> None:
    shallow = Contribution(np.array([2]), np.array([1.0]), 1.0)
    deep = Contribution(np.array([3, 2, 1]), np.array([8.0, 2.0, 0.0]), 1.0)
    ids, scores = fuse_scores([shallow, deep], normalisation)  # type: ignore[arg-type]
    assert ids.tolist() == [1, 2, 3]
    if normalisation == "none":
        assert scores.tolist() == expected
    else:
        values = np.array([0.0, 2.0, 8.0])
        assert scores == pytest.approx((values - values.mean()) / values.std())


def test_a_run_over_other_texts_is_not_fused(prepared: Database, tmp_path: Path) -> None:
    options = SystemOptions(tmp_path)
    prepare(prepared, "scifact", options, "bm25", "tfidf")
    change(prepared, "UPDATE papers SET title = 'Another title' WHERE source_id = 'p1'")
    with pytest.raises(RunError, match=r"newest run of bm25 \(run 1\) ranked other .* `pinakes run scifact"):
        run(prepared, RunRequest("scifact", "rrf:bm25,tfidf", options))


def test_a_run_of_other_templates_is_fused_as_long_as_its_texts_are_those_of_today(
    prepared: Database, tmp_path: Path
) -> None:
    options = SystemOptions(tmp_path)
    prepare(prepared, "scifact", options, "bm25")
    index(prepared, "scifact", "tfidf", options=options, paper_template="title")
    run(prepared, RunRequest("scifact", "tfidf", options, paper_template="title"))
    assert run(prepared, RunRequest("scifact", "rrf:bm25,tfidf", options)).hit_count > 0


def test_a_fused_run_is_found_again_until_one_of_its_runs_is_made_anew(
    prepared: Database, tmp_path: Path
) -> None:
    options = SystemOptions(tmp_path)
    prepare(prepared, "scifact", options, "bm25", "tfidf")
    request = RunRequest("scifact", "rrf:bm25,tfidf", options)
    first, again = run(prepared, request), run(prepared, request)
    assert (first.existing, again.existing, again.run_id) == (False, True, first.run_id)
    other = RunRequest("scifact", "rrf:bm25,tfidf", SystemOptions(tmp_path, parameters={"constant": "10"}))
    assert run(prepared, other).run_id != first.run_id


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("system", "parameters", "error", "message"),
    [
        ("rrf:bm25", {}, InputError, "names 1 system; expected at least two"),
        ("rrf:bm25,bm25", {}, InputError, "each once"),
        ("sum:bm25=0,tfidf=1", {}, InputError, "a weight above 0"),
        ("sum:bm25=x,tfidf=1", {}, InputError, "a weight above 0"),
        ("rrf:bm25,tfidf", {"c": "1"}, UnknownNameError, "unknown option of rrf 'c'; known: constant"),
        (
            "rrf:bm25,tfidf",
            {"constant": "-1"},
            InputError,
            "option of rrf: constant is '-1'; expected a number above 0",
        ),
        (
            "sum:bm25,tfidf",
            {"normalisation": "max"},
            InputError,
            "'max'; expected one of minmax, zscore, none",
        ),
        ("rrf:bm25,nothing", {}, RunError, "has no run of nothing to fuse; make it with"),
        ("mean:toy", {}, InputError, "expected at least two encoders"),
    ],
)
def test_a_fusion_that_cannot_be_says_why(
    prepared: Database,
    tmp_path: Path,
    system: str,
    parameters: dict[str, str],
    error: type[Exception],
    message: str,
) -> None:
    prepare(prepared, "scifact", SystemOptions(tmp_path), "bm25", "tfidf")
    with pytest.raises(error, match=message):
        run(prepared, RunRequest("scifact", system, SystemOptions(tmp_path, parameters=parameters)))


def test_an_ensemble_compares_the_means_of_its_members_vectors(
    prepared: Database, tmp_path: Path, toy_folder: str, build_other: Callable[[], str]
) -> None:
    other = build_other()
    options = SystemOptions(tmp_path, precision="fp32", distance="l2")
    name = f"mean:{toy_folder},{other}"
    index(prepared, "scifact", name, options=options)
    made = run(prepared, RunRequest("scifact", name, options))
    assert (made.system, count(prepared, "vectors_toy_fp32")) == ("mean:toy,other", 2)
    with prepared.read() as session:
        vectors = [
            dict(
                zip(
                    table["text"].to_pylist(),
                    np.array(table["embedding"].to_pylist(), np.float32),
                    strict=True,
                )
            )
            for table in (
                session.fetch_arrow(
                    "SELECT t.text, v.embedding FROM (SELECT 'graph models' AS text UNION ALL "
                    "SELECT 'Graphs citation graph retrieval') AS t "
                    f"JOIN vectors_{member}_fp32 AS v ON v.text_digest = CAST(md5(t.text) AS UUID)"
                )
                for member in ("toy", "other")
            )
        ]
    means = {
        text: mean_vectors([vectors[0][text][None], vectors[1][text][None]])[0].astype(np.float64)
        for text in vectors[0]
    }
    distance = -np.linalg.norm(means["graph models"] - means["Graphs citation graph retrieval"])
    rank, score = by_query(prepared, made.run_id)["q1"]["p1"]
    assert rank == 3
    assert score == pytest.approx(float(distance), rel=1e-6)


@pytest.fixture
def build_other(tmp_path: Path) -> Callable[[], str]:
    """A function that saves a second toy encoder, called other, and gives its folder."""
    return lambda: str(build_toy_encoder(tmp_path / "other", seed=11))


def test_a_fused_run_records_its_options_as_runs_that_are_stored_have_them(
    prepared: Database, tmp_path: Path
) -> None:
    prepare(prepared, "scifact", SystemOptions(tmp_path), "bm25", "tfidf")
    workload = read_workload(prepared, read_benchmark("scifact"))
    for name, given, recorded in (
        ("rrf:bm25,tfidf", {}, {"constant": "60.0"}),
        ("rrf:bm25,tfidf", {"constant": "10"}, {"constant": "10"}),
        ("sum:bm25,tfidf", {}, {"normalisation": "minmax"}),
    ):
        system = find_system(name, SystemOptions(tmp_path, parameters=given))
        assert system.describe(prepared, workload).parameters.items() >= recorded.items()
