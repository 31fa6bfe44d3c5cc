"""Runs against each other: paired tests over all queries or a group, corrected for the number of pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluate.query_groups import average_pools, read_groups, read_requested_queries
from pinakes.evaluate.resample import open_resampling
from pinakes.evaluators.paired import Difference, compare_resampled
from pinakes.evaluators.significance import Comparison, Differences, compare_all, holm, pair_values
from pinakes.queries.definition import Benchmark
from pinakes.run.stored_runs import find_runs, select_newest
from pinakes.schema import scores
from pinakes.tasks.base import find_task
from pinakes.workload.benchmark import open_benchmark


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two runs compared by one measure over a subset, with the tests' p-values after Holm's correction.

    Attributes:
        subset: `all`, or a group of the queries, as `facet=background`.
        holm_t_test, holm_wilcoxon, holm_randomisation: corrected over the pairs of the subset.
    """

    measure: str
    subset: str
    run_a: int
    run_b: int
    system_a: str
    system_b: str
    comparison: Comparison
    holm_t_test: float
    holm_wilcoxon: float
    holm_randomisation: float


@dataclass(frozen=True, slots=True)
class ResampledPair:
    """Two runs compared by one measure of a subset over the same resamples of the test papers.

    Attributes:
        difference: system b minus system a.
    """

    measure: str
    subset: str
    run_a: int
    run_b: int
    system_a: str
    system_b: str
    difference: Difference[int]


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The pairs that were compared, by subset, `all` first; and which subsets could not be.

    Attributes:
        not_compared: subset -> its queries, fewer than the two that a test needs.
        resampled: in place of `pairs` where a value is no mean over single queries: the paired bootstrap.
    """

    pairs: list[PairComparison]
    not_compared: dict[str, int]
    resampled: Sequence[ResampledPair] = ()


def read_query_values(database: Database, run_id: int, measure: str) -> dict[str, float]:
    """A run's stored value for each query; `EvaluationError` where it was not scored by that measure."""
    query = sa.select(scores.c.query_id, scores.c.value).where(
        scores.c.run_id == run_id,
        scores.c.measure == measure,
        scores.c.subset == "all",  # a query has scores of single candidate types too
        scores.c.query_id.is_not(None),
    )
    with database.read() as session:
        found = dict(session.stream_rows(query))
    if not found:
        raise _not_scored(run_id, measure)
    return found


def compare_subsets(
    database: Database,
    benchmark_name: str,
    *,
    run_ids: Sequence[int] = (),
    measure: str | None = None,
    seed: int = 0,
    all_runs: bool = False,
    by: str | None = None,
) -> Comparisons:
    """Every pair of runs compared by one measure over all queries, and over those of each group.

    The p values are corrected by Holm over the pairs of a subset, each subset for itself. The subsets are
    those of the queries, whatever their fold. A query that is asked in several pools counts once in a subset,
    by its mean over those pools of the subset that ask it.

    Compared are the named runs, or the newest of each system with the same settings (`all_runs`: the older
    ones too), by the headline measure unless one is named, and by the groups of the column `by`. The
    randomisation test starts with the seed for each pair.

    Raises:
        EvaluationError: fewer than two runs, one that was not scored, or two that cannot be compared: a
            single query in all, a query that one run alone has a value of, or a value that is not finite.
        UnknownNameError: the benchmark does not group by that column.
    """
    benchmark = open_benchmark(database, benchmark_name)
    groups = read_groups(database, benchmark, by) if by is not None else {}
    chosen = _choose_runs(database, benchmark_name, run_ids, all_runs=all_runs)
    name = find_task(benchmark).name_measure(measure or benchmark.headline_measure)
    if find_task(benchmark).open_resampling is not None:
        return Comparisons([], {}, _compare_resampled(database, benchmark, name, chosen, by))
    values = {row["run_id"]: read_query_values(database, row["run_id"], name) for row in chosen}
    requested = read_requested_queries(database, benchmark_name)
    pairs, not_compared = [], {}
    for subset, members in _list_subsets(values, groups, by).items():
        averaged = {
            run_id: average_pools({query: of_run[query] for query in members & of_run.keys()}, requested)
            for run_id, of_run in values.items()
        }
        queries = len(set().union(*averaged.values()))
        if subset != "all" and queries < 2:
            not_compared[subset] = queries
        else:
            pairs += _compare_pairs(name, subset, chosen, averaged, seed)
    return Comparisons(pairs, not_compared)


def _choose_runs(
    database: Database, benchmark_name: str, run_ids: Sequence[int], *, all_runs: bool
) -> list[dict[str, Any]]:
    found = find_runs(database, benchmark_name, run_ids)
    chosen = found if run_ids or all_runs else select_newest(found)
    if len(chosen) < 2:
        raise EvaluationError(f"{benchmark_name} has {len(chosen)} run to compare; expected two or more.")
    if all(len(group) < 2 for group in group_comparable(chosen)):
        kind = "mode" if len({row["mode"] for row in chosen}) == len(chosen) else "mode or corpus"
        raise EvaluationError(
            f"each run of {benchmark_name} is of another {kind}, and figures of two are not compared."
        )
    return chosen


def _compare_resampled(
    database: Database,
    benchmark: Benchmark,
    measure: str,
    chosen: Sequence[Mapping[str, Any]],
    by: str | None,
) -> list[ResampledPair]:
    """The pairs over all test papers, and over those of each group that every run has a value of."""
    resample_run = open_resampling(database, benchmark, [measure])
    resampled = {row["run_id"]: resample_run(row["run_id"]) for row in chosen}
    values = {run_id: read_subset_values(database, run_id, measure) for run_id in resampled}
    shared = set.intersection(
        *(of_run.keys() & values[run_id].keys() for run_id, of_run in resampled.items())
    )
    groups = sorted(subset for subset, _measure in shared if by and subset.startswith(f"{by}="))
    systems = {row["run_id"]: row["system"] for row in chosen}
    return [
        ResampledPair(measure, subset, one.a, one.b, systems[one.a], systems[one.b], one)
        for subset in ("all", *groups)
        for group in group_comparable(chosen)
        for one in compare_resampled(
            {row["run_id"]: values[row["run_id"]][subset, measure] for row in group},
            {row["run_id"]: resampled[row["run_id"]][subset, measure] for row in group},
        )
    ]


def group_comparable(chosen: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The runs of each mode and corpus: figures of two modes, or two corpora, are not compared."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in chosen:
        groups.setdefault((row["mode"], row["corpus"] or ""), []).append(row)
    return [groups[key] for key in sorted(groups)]


def read_subset_values(database: Database, run_id: int, measure: str) -> dict[tuple[str, str], float]:
    """A run's stored values by subset and measure; `EvaluationError` where it was not scored by that."""
    query = sa.select(scores.c.subset, scores.c.value).where(
        scores.c.run_id == run_id, scores.c.measure == measure, scores.c.query_id.is_(None)
    )
    with database.read() as session:
        found = {(subset, measure): value for subset, value in session.stream_rows(query)}
    if not found:
        raise _not_scored(run_id, measure)
    return found


def _not_scored(run_id: int, measure: str) -> EvaluationError:
    return EvaluationError(
        f"run {run_id} has no scores by {measure}; compute them with `pinakes evaluate` first."
    )


def _list_subsets(
    values: Mapping[int, Mapping[str, float]], groups: Mapping[str, str | None], by: str | None
) -> dict[str, set[str]]:
    """Subset -> its queries, of those that some run has a value of."""
    scored: set[str] = set().union(*values.values())
    named = sorted({group for query, group in groups.items() if group is not None and query in scored})
    subsets = {f"{by}={group}": {query for query in scored if groups.get(query) == group} for group in named}
    return {"all": scored, **subsets}


def _compare_pairs(
    measure: str,
    subset: str,
    chosen: Sequence[Mapping[str, Any]],
    values: Mapping[int, Mapping[str, float]],
    seed: int,
) -> list[PairComparison]:
    pairs = [pair for group in group_comparable(chosen) for pair in combinations(group, 2)]
    compared = compare_all([_pair_values(a, b, values) for a, b in pairs], seed=seed)
    corrected = [
        holm([getattr(one, p) for one in compared]) for p in ("t_test_p", "wilcoxon_p", "randomisation_p")
    ]
    return [
        PairComparison(
            measure,
            subset,
            a["run_id"],
            b["run_id"],
            a["system"],
            b["system"],
            one,
            *(float(ps[number]) for ps in corrected),
        )
        for number, ((a, b), one) in enumerate(zip(pairs, compared, strict=True))
    ]


def _pair_values(
    a: Mapping[str, Any], b: Mapping[str, Any], values: Mapping[int, Mapping[str, float]]
) -> Differences:
    """The differences of two runs; an error names the runs."""
    try:
        return pair_values(values[a["run_id"]], values[b["run_id"]])
    except EvaluationError as error:
        named = " and ".join(f"{run['system']} (run {run['run_id']})" for run in (a, b))
        raise EvaluationError(f"{named}: {error}") from error
