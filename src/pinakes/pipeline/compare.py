"""Runs against each other: paired tests over the queries, corrected for the number of pairs.

Leaves out: the tests (`pinakes.evaluators.significance`) and the scores (`pinakes.pipeline.evaluate`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluators.registry import parse_measure
from pinakes.evaluators.significance import Comparison, compare, holm
from pinakes.pipeline.asked_queries import average_pools, read_asked_queries
from pinakes.pipeline.benchmarking import open_benchmark
from pinakes.pipeline.stored_runs import find_runs, select_newest
from pinakes.schema import scores


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two runs compared by one measure over all queries, with the tests' p-values after Holm's correction."""

    measure: str
    run_a: int
    run_b: int
    system_a: str
    system_b: str
    comparison: Comparison
    holm_t_test: float
    holm_wilcoxon: float
    holm_randomisation: float


def read_query_values(database: Database, run_id: int, measure: str) -> dict[str, float]:
    """A run's stored value for each query.

    Raises:
        EvaluationError: the run was not scored by that measure.
    """
    query = sa.select(scores.c.query_id, scores.c.value).where(
        scores.c.run_id == run_id,
        scores.c.measure == measure,
        scores.c.subset == "all",  # a query has scores of single candidate types too
        scores.c.query_id.is_not(None),
    )
    with database.read() as session:
        found = {row["query_id"]: row["value"] for row in session.rows(query)}
    if not found:
        raise EvaluationError(
            f"run {run_id} has no scores by {measure}; compute them with `pinakes evaluate` first."
        )
    return found


def compare_runs(
    database: Database,
    benchmark_name: str,
    *,
    run_ids: Sequence[int] = (),
    measure: str | None = None,
    seed: int = 0,
    all_runs: bool = False,
) -> list[PairComparison]:
    """Every pair of runs compared over all queries by one measure, corrected by Holm over the pairs.

    A query that is asked in several pools counts once, by its mean over them.

    Args:
        database: where the runs are.
        benchmark_name: the benchmark that they rank.
        run_ids: which runs; none: the newest of each system with the same settings.
        measure: by which measure; None: the benchmark's headline.
        seed: of the randomisation test.
        all_runs: the older ones too.

    Raises:
        EvaluationError: fewer than two runs, or one that was not scored.
    """
    benchmark = open_benchmark(database, benchmark_name)
    found = find_runs(database, benchmark_name, run_ids)
    chosen = found if run_ids or all_runs else select_newest(found)
    if len(chosen) < 2:
        raise EvaluationError(f"{benchmark_name} has {len(chosen)} run to compare; expected two or more.")
    name = parse_measure(measure or benchmark.headline_measure).name
    asked = read_asked_queries(database, benchmark_name)
    values = {
        row["run_id"]: average_pools(read_query_values(database, row["run_id"], name), asked)
        for row in chosen
    }
    pairs = list(combinations(chosen, 2))
    compared = [compare(values[a["run_id"]], values[b["run_id"]], seed=seed) for a, b in pairs]
    corrected = [
        holm([getattr(one, p) for one in compared]) for p in ("t_test_p", "wilcoxon_p", "randomisation_p")
    ]
    return [
        PairComparison(
            name,
            a["run_id"],
            b["run_id"],
            a["system"],
            b["system"],
            one,
            *(float(ps[number]) for ps in corrected),
        )
        for number, ((a, b), one) in enumerate(zip(pairs, compared, strict=True))
    ]
