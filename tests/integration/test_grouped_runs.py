"""Benchmarks with grouped pools: each is ranked as a shared one would be, without the query's own paper."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.errors import BenchmarkError, RunError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.progress import Progress
from pinakes.run import run as run_module
from pinakes.run.export_qrels import export_qrels
from pinakes.run.export_run import export_run
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.run.stored_runs import RunSummary
from pinakes.systems.base import Ranking, SystemDescription, SystemOptions
from pinakes.tune.tune import TuneRequest, tune_bm25
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.workload import Workload, read_workload
from tests.benching import change, count, read_hits, write_benchmark
from tests.long import long

pytestmark = pytest.mark.in_turn

Pair = tuple[Database, Database]

OF_CORPUS = "INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id WHERE corpora.name = 'synthetic'"
TOML = """
title = "Grouped pools"
citation = "none"
licence = "none"
corpus = "synthetic"
pool = "grouped"
depth = 5
query_template = "title_abstract"
paper_template = "title_abstract"
headline_measure = "AP"
measures = ["AP", "R@5"]
[grades]
1 = "cited"
[aggregation]
group_by = ["pool"]
fold_column = "fold"
tuning_folds = ["validation"]
"""
ENDINGS = {"even": "02468", "few": "7", "spare": "1", "held": "05"}
"""pool -> the last digits of the papers in it; no query names the pool spare"""
REQUESTED = {"even": ("14", "15"), "few": ("14", "17", "27"), "held": ("10", "20")}
"""pool -> the last digits of the papers that ask in it; held is asked in the fold validation alone"""


def write_grouped(folder: Path, **files: str) -> Path:
    """A benchmark `own` over the synthetic corpus: queries are papers, some of them in their own pool."""
    members = " UNION ALL ".join(
        f"SELECT '{pool}' AS pool, papers.paper_id FROM papers {OF_CORPUS} "
        f"AND RIGHT(papers.source_id, 1) IN ({', '.join(repr(digit) for digit in digits)})"
        for pool, digits in ENDINGS.items()
    )
    requested = " UNION ALL ".join(
        f"SELECT '{pool}/' || papers.source_id AS query_id, papers.paper_id, CAST(NULL AS TEXT) AS text, "
        f"'{pool}' AS pool, '{'validation' if pool == 'held' else 'test'}' AS fold FROM papers {OF_CORPUS} "
        f"AND RIGHT(papers.source_id, 2) IN ({', '.join(repr(digits) for digits in endings)})"
        for pool, endings in REQUESTED.items()
    )
    graded = (
        f"SELECT asked.query_id, papers.paper_id, 1 AS grade FROM ({requested}) AS asked "
        f"INNER JOIN papers ON papers.paper_id BETWEEN asked.paper_id + 1 AND asked.paper_id + 20 {OF_CORPUS}"
    )
    views = {"queries": requested, "candidates": members, "judgments": graded, "toml": TOML}
    return write_benchmark(folder, **{**views, **files})


@pytest.fixture
def grouped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of benchmarks, where every command finds it."""
    folder = write_grouped(tmp_path / "benchmarks")
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    return folder


def make(database: Database, tmp_path: Path, request: RunRequest) -> RunSummary:
    requested = replace(
        request, options=SystemOptions(tmp_path / database.name, precision="fp32", device="cpu")
    )
    index(database, requested.benchmark, requested.system, options=requested.options)
    return run(database, requested)


def write_alone(folder: Path, pool: str) -> None:
    """A benchmark `alone` that has one of the pools, shared, with room for the query's own paper."""
    toml = TOML.replace('"grouped"', '"shared"').replace("depth = 5", "depth = 6")
    toml = toml.split("[aggregation]")[0]
    write_benchmark(
        folder,
        "alone",
        toml=toml,
        queries=f"SELECT * FROM own.queries WHERE pool = '{pool}'",
        candidates=f"SELECT paper_id FROM own.candidates WHERE pool = '{pool}'",
        judgments=f"SELECT * FROM own.judgments WHERE query_id LIKE '{pool}/%'",
    )


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "system", ["bm25", *map(long, ["tfidf", "word2vec", "sentences"]), "toy", "transport"]
)
def test_a_pool_is_ranked_as_a_shared_one_without_the_querys_own_paper(
    prepared: Database, tmp_path: Path, grouped: Path, toy_folder: str, system: str
) -> None:
    combined = {kind: f"{kind}:{toy_folder}" for kind in ("sentences", "transport")}
    name = {"toy": toy_folder, **combined}.get(system, system)
    made = make(prepared, tmp_path, RunRequest("own", name))
    hits = read_hits(prepared, made.run_id)
    for pool, endings in ENDINGS.items():
        if pool not in ("even", "few"):
            continue
        write_alone(grouped, pool)
        alone = make(prepared, tmp_path, RunRequest("alone", name))
        expected: dict[str, list[tuple[str, float]]] = {}
        for query_id, source_id, _, score in read_hits(prepared, alone.run_id):
            if query_id != f"{pool}/{source_id}":
                expected.setdefault(query_id, []).append((source_id, score))
        found: dict[str, list[tuple[str, float]]] = {}
        for query_id, source_id, rank, score in hits:
            if query_id.startswith(f"{pool}/"):
                found.setdefault(query_id, []).append((source_id, score))
                assert rank == len(found[query_id])
                assert source_id[-1] in endings
        assert found == {query_id: ranked[:5] for query_id, ranked in expected.items()} != {}


def test_runs_are_fused_in_their_pools(prepared: Database, tmp_path: Path, grouped: Path) -> None:
    fused: dict[str, dict[str, float]] = {}
    for system in ("bm25", "tfidf"):
        made = make(prepared, tmp_path, RunRequest("own", system))
        for query_id, source_id, rank, _ in read_hits(prepared, made.run_id):
            scores = fused.setdefault(query_id, {})
            scores[source_id] = scores.get(source_id, 0.0) + 1 / (60 + rank)
    made = make(prepared, tmp_path, RunRequest("own", "rrf:bm25,tfidf"))
    hits = read_hits(prepared, made.run_id)
    assert {query_id for query_id, *_ in hits} == set(fused)
    for query_id, scores in fused.items():
        best = sorted(scores.values(), reverse=True)[:5]
        found = [(source_id, score) for query, source_id, _, score in hits if query == query_id]
        assert [score for _, score in found] == pytest.approx(best)
        assert all(scores[source_id] == pytest.approx(score) for source_id, score in found)


@pytest.mark.parametrize("system", [long("bm25"), "sparse_bm25", "toy"])
def test_both_databases_give_the_same_hits_whatever_ids_papers_have(
    both_prepared: Pair, tmp_path: Path, grouped: Path, toy_folder: str, system: str
) -> None:
    change(both_prepared[1], "UPDATE papers SET paper_id = paper_id + 5000")
    request = RunRequest("own", toy_folder if system == "toy" else system)
    made = [make(database, tmp_path, request) for database in both_prepared]
    duck, post = (read_hits(database, 1) for database in both_prepared)
    assert duck == post != []
    digests = [read_column(database, "dataset_digest") for database in both_prepared]
    assert digests[0] == digests[1]
    assert made[0].queries_answered == made[1].queries_answered == 15
    assert not [hit for hit in duck if hit[0].split("/")[1] == hit[1]]


def read_column(database: Database, name: str) -> object:
    with database.read() as session:
        return session.scalar(f"SELECT {name} FROM runs ORDER BY run_id")


def test_what_is_expected_counts_each_pool_once_and_no_query_that_is_for_tuning(
    prepared: Database, tmp_path: Path, grouped: Path
) -> None:
    change(
        prepared,
        "UPDATE papers SET title = '', abstract = '' WHERE source_id IN ('syn-00000102', 'syn-00000201')",
    )
    made = make(prepared, tmp_path, RunRequest("own", "bm25"))
    assert (made.queries_expected, made.queries_answered) == (15, 15)
    assert read_column(prepared, "candidates_expected") == 150 + 30
    assert read_column(prepared, "candidates_without_text") == 1
    assert made.hit_count == count(prepared, "hits") == 15 * 5
    (scored,) = evaluate(prepared, "own")
    whole = next(score for score in scored.scores if (score.subset, score.query_id) == ("all", None))
    assert (whole.queries_expected, whole.queries_missing) == (15, 0)
    assert {score.subset for score in scored.aggregates()} == {"all", "pool=even", "pool=few"}


def test_a_part_holds_its_pool_as_a_workload_of_its_own(own: Workload) -> None:
    parts = list(own.parts())
    assert [part.pool for part in parts] == ["even", "few"]
    for part in parts:
        cut = part.workload
        assert cut.query_ids == [own.query_ids[position] for position in part.queries]
        assert cut.paper_ids.tolist() == own.paper_ids[part.rows].tolist()
        assert {source_id[-1] for source_id in cut.source_ids} == set(ENDINGS[part.pool])
        descending = sorted(cut.source_ids.tolist(), reverse=True)
        assert [descending[rank] for rank in cut.tie_order] == cut.source_ids.tolist()
        assert (cut.benchmark.pool, cut.groups, cut.pools) == ("shared", None, None)
        assert cut.digest == own.digest


@pytest.fixture
def own(prepared: Database, grouped: Path) -> Workload:
    return read_workload(prepared, open_benchmark(prepared, "own"))


def test_a_querys_own_paper_is_known_by_its_row(own: Workload) -> None:
    assert own.query_rows is not None
    for query_id, row in zip(own.query_ids, own.query_rows.tolist(), strict=True):
        source_id = query_id.split("/")[1]
        if source_id in own.source_ids:
            assert own.source_ids[row] == source_id
        else:
            assert row == -1
    assert -1 in own.query_rows
    assert (own.query_rows >= 0).any()


def digest(database: Database, folder: Path, *, tuning: bool = False, **files: str) -> str:
    write_grouped(folder, **files)
    return read_workload(database, open_benchmark(database, "own"), tuning=tuning).digest


def test_the_digest_sees_pools_and_who_asks_in_them_and_no_pool_that_is_not_requested(
    prepared: Database, grouped: Path
) -> None:
    members = (grouped / "own" / "candidates.sql").read_text().strip()
    requested = (grouped / "own" / "queries.sql").read_text().strip()
    first = digest(prepared, grouped)
    fewer = f"SELECT * FROM ({members}) AS members WHERE NOT (pool = '{{}}' AND paper_id IN (2, 7, 10, 11))"
    assert digest(prepared, grouped, candidates=fewer.format("spare")) == first
    assert digest(prepared, grouped, candidates=fewer.format("held")) == first
    assert digest(prepared, grouped, candidates=fewer.format("few")) != first
    assert digest(prepared, grouped, queries=requested.replace("'few' AS pool", "'even' AS pool")) != first
    tuned = digest(prepared, grouped, tuning=True)
    assert tuned != first
    assert digest(prepared, grouped, tuning=True, candidates=fewer.format("few")) == tuned
    assert digest(prepared, grouped, tuning=True, candidates=fewer.format("held")) != tuned


WRONG = {
    "a pool without candidates": (
        {"queries": ("'few' AS pool", "'none' AS pool")},
        "1 pools of own have no candidate, as none, which 9 queries name",
    ),
    "a query without a pool": (
        {"queries": ("'few' AS pool", "CAST(NULL AS TEXT) AS pool")},
        "the view own.queries gives a query whose pool is null",
    ),
    "a paper twice in a pool": (
        {"candidates": ("'spare' AS pool", "'even' AS pool"), "twice": ("'1'", "'2'")},
        "the view own.candidates gives the pool even a paper twice",
    ),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_a_view_that_gives_pools_as_it_must_not_is_refused(
    prepared: Database, grouped: Path, case: str
) -> None:
    changes, message = WRONG[case]
    for view, (old, new) in changes.items():
        file = grouped / "own" / f"{'candidates' if view == 'twice' else view}.sql"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
    with pytest.raises(BenchmarkError, match=message):
        read_workload(prepared, open_benchmark(prepared, "own"))


def test_a_paper_that_is_no_longer_there_is_no_candidate(prepared: Database, grouped: Path) -> None:
    members = (grouped / "own" / "candidates.sql").read_text().strip()
    gone = f"{members} UNION ALL SELECT 'few' AS pool, CAST(987654321 AS BIGINT) AS paper_id"
    assert digest(prepared, grouped) == digest(prepared, grouped, candidates=gone)


class Broken:
    """A system that ranks one pool and is stopped in the next."""

    name = "broken"
    can = frozenset({"rank"})

    def __init__(self) -> None:
        self._pools = 0

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        return SystemDescription({}, device="cpu")

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        self._pools += 1
        if self._pools == 2:
            raise KeyboardInterrupt
        for query_id in workload.query_ids:
            yield Ranking(query_id, np.arange(3), np.array([3, 2, 1], dtype=np.float32))


def test_a_run_that_is_stopped_between_two_pools_leaves_nothing(
    prepared: Database, grouped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "find_system", lambda _name, _options: Broken())
    with pytest.raises(KeyboardInterrupt):
        run(prepared, RunRequest("own", "broken"))
    assert (count(prepared, "runs"), count(prepared, "hits")) == (0, 0)


def test_tuning_looks_at_the_folds_that_are_kept_for_it_alone(
    prepared: Database, tmp_path: Path, grouped: Path
) -> None:
    workload = read_workload(prepared, open_benchmark(prepared, "own"), tuning=True)
    assert (set(workload.groups or {}), len(workload.query_ids)) == ({"held"}, 6)
    options = SystemOptions(tmp_path / prepared.name)
    make(prepared, tmp_path, RunRequest("own", "sparse_bm25"))
    tuned = tune_bm25(prepared, TuneRequest("own", (0.6, 2.0), (0.2, 0.9), options=options))
    assert (tuned.validation, tuned.query_count, len(tuned.points)) == ("fold=validation", 6, 4)
    values = {(point.k1, point.b): point.value for point in tuned.points}
    assert values[tuned.chosen.k1, tuned.chosen.b] == max(values.values()) > 0
    assert make(prepared, tmp_path, RunRequest("own", "sparse_bm25")).run_id == 2
    parameters = '"tuning":"AP on fold=validation"'
    assert count(prepared, f"runs WHERE run_id = 2 AND parameters LIKE '%{parameters}%'") == 1


def test_a_choice_is_stale_once_the_queries_that_it_was_made_on_are_others(
    prepared: Database, tmp_path: Path, grouped: Path
) -> None:
    options = SystemOptions(tmp_path / prepared.name)
    index(prepared, "own", "sparse_bm25", options=options)
    tune_bm25(prepared, TuneRequest("own", (0.6,), (0.2,), options=options))
    change(prepared, "UPDATE papers SET abstract = 'Weather' WHERE source_id = 'syn-00000110'")
    make(prepared, tmp_path, RunRequest("own", "sparse_bm25"))
    assert count(prepared, "runs WHERE parameters LIKE '%tuned as it no longer is%'") == 1


def test_an_exported_run_is_imported_as_it_was(prepared: Database, tmp_path: Path, grouped: Path) -> None:
    made = make(prepared, tmp_path, RunRequest("own", "bm25"))
    file = tmp_path / "bm25.run"
    assert export_run(prepared, made.run_id, file) == made.hit_count
    imported = import_run(prepared, ImportRequest("own", "theirs", [file]))
    assert read_hits(prepared, imported.run_id) == read_hits(prepared, made.run_id)
    assert (imported.queries_expected, imported.queries_answered) == (15, 15)


IMPORTED = {
    "outside": (
        "even/syn-00000014 Q0 syn-00000017 1 2.0 x",
        "'syn-00000017' is not in the pool of query even/s",
    ),
    "unknown": ("even/syn-00000014 Q0 nowhere 1 2.0 x", "'nowhere' is not in the pool of query even/s"),
    "own": (
        "few/syn-00000017 Q0 syn-00000017 1 2.0 x",
        "syn-00000017 is ranked for query few/syn-00000017, wh",
    ),
    "for tuning": (
        "held/syn-00000010 Q0 syn-00000005 1 2.0 x",
        "1 queries of the files are no queries of own",
    ),
}


@pytest.mark.in_turn
@pytest.mark.parametrize("case", list(IMPORTED))
def test_a_file_that_ranks_what_it_must_not_is_refused(
    prepared: Database, tmp_path: Path, grouped: Path, case: str
) -> None:
    line, message = IMPORTED[case]
    file = tmp_path / "their.run"
    file.write_text(f"few/syn-00000014 Q0 syn-00000017 1 1.0 x\n{line}\n")
    with pytest.raises(RunError, match=message):
        import_run(prepared, ImportRequest("own", "theirs", [file]))
    assert count(prepared, "runs") == 0


def test_judgments_of_queries_that_are_for_tuning_are_not_exported(
    prepared: Database, tmp_path: Path, grouped: Path
) -> None:
    written = export_qrels(prepared, "own", tmp_path / "own.qrels")
    queries = {line.split()[0] for line in (tmp_path / "own.qrels").read_text().splitlines()}
    assert written == count(prepared, "own.judgments WHERE query_id NOT LIKE 'held/%'") > 0
    assert {query_id.split("/")[0] for query_id in queries} == {"even", "few"}


@pytest.mark.parametrize(
    ("benchmark", "command"),
    [
        ("large_scale", "`pinakes sample large_scale --corpus CORPUS`"),
        ("mdcr_constructed", "`pinakes construct mdcr_constructed`"),
    ],
)
def test_a_benchmark_that_was_not_sampled_is_refused_with_the_command(
    untouched: Database, tmp_path: Path, benchmark: str, command: str
) -> None:
    for step in (
        lambda: index(untouched, benchmark, "bm25", options=SystemOptions(tmp_path)),
        lambda: run(untouched, RunRequest(benchmark, "bm25", SystemOptions(tmp_path))),
    ):
        with pytest.raises(BenchmarkError, match=f"sample it first with {command}"):
            step()


@pytest.mark.in_turn
@pytest.mark.parametrize("pool", ["per_query", "shared"])
def test_folds_for_tuning_are_left_out_whatever_the_pools_are(
    prepared: Database, tmp_path: Path, grouped: Path, pool: str
) -> None:
    members = (grouped / "own" / "candidates.sql").read_text().strip()
    of_pool = "SELECT paper_id FROM papers WHERE source_id LIKE 'syn-%'"
    of_query = (
        f"SELECT asked.query_id, members.paper_id FROM own_requested AS asked "
        f"INNER JOIN ({members}) AS members ON asked.pool = members.pool"
    )
    requested = (grouped / "own" / "queries.sql").read_text().strip()
    change(prepared, f"CREATE VIEW own_requested AS {requested}")
    toml = TOML.replace('"grouped"', f'"{pool}"')
    write_grouped(grouped, toml=toml, candidates=of_query if pool == "per_query" else of_pool)
    benchmark = open_benchmark(prepared, "own")
    ranked, tuned = (read_workload(prepared, benchmark, tuning=tuning) for tuning in (False, True))
    assert {query_id.split("/")[0] for query_id in ranked.query_ids} == {"even", "few"}
    assert {query_id.split("/")[0] for query_id in tuned.query_ids} == {"held"}
    if pool == "per_query":
        assert set(ranked.pools or {}) == set(ranked.query_ids)
        assert {source_id[-1] for source_id in tuned.source_ids} == {"0", "5"}
    assert ranked.digest != tuned.digest
    made = make(prepared, tmp_path, RunRequest("own", "sparse_bm25"))
    assert made.queries_expected == 15
    options = SystemOptions(tmp_path / prepared.name)
    assert tune_bm25(prepared, TuneRequest("own", (0.6,), (0.2,), options=options)).query_count == 6
    again = make(prepared, tmp_path, RunRequest("own", "sparse_bm25"))
    assert (
        count(prepared, f"runs WHERE run_id = {again.run_id} AND parameters LIKE '%on fold=validation%'") == 1
    )
