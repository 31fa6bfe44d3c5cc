"""Made-up runs of `self_retrieval`: answers and scores as a task stores them, without any system.

Every value follows from the run, the code and the paper by a formula, so that a test can work it out.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from pinakes.database import Database
from pinakes.schema import (
    neighbour_overlaps,
    runs,
    score_intervals,
    scores,
    self_ranks,
    similarity_statistics,
    vector_maps,
)

PRODUCER: Final = "neighbours 1 textblob-0.20.1+punkt-3.10.4+wordnet-3.0 seed=1"


def make_run(run_id: int, system: str, corpus: str, **changed: Any) -> dict[str, Any]:
    """A row of `runs`."""
    row = {
        "run_id": run_id,
        "benchmark": "self_retrieval",
        "system": system,
        "run_digest": f"{run_id:064d}",
        "parameters": "{}",
        "paper_template": "title_abstract",
        "mode": "corrected",
        "corpus": corpus,
        "variants": PRODUCER,
        "code_version": "0.1.0",
        "dataset_digest": "d" * 64,
        "view_digest": "e" * 64,
        "device": "cpu",
        "started_at": datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
        "elapsed_s": 12.5,
        "queries_expected": 100,
        "queries_answered": 100,
        "candidates_expected": 50,
        "candidates_without_text": 0,
        "hit_count": 100,
    }
    return {**row, **changed}


def make_scores(
    run_id: int, values: dict[tuple[str, str], float], expected: int = 100
) -> list[dict[str, Any]]:
    """Rows of `scores` of subsets: (subset, measure) -> value."""
    counts = {"queries_expected": expected, "queries_answered": expected, "queries_missing": 0}
    return [
        {"run_id": run_id, "measure": measure, "subset": subset, "query_id": None, "value": value, **counts}
        for (subset, measure), value in values.items()
    ]


def make_intervals(run_id: int, ends: dict[tuple[str, str], tuple[float, float]]) -> list[dict[str, Any]]:
    """Rows of `score_intervals`: (subset, measure) -> low and high."""
    return [
        {
            "run_id": run_id,
            "measure": measure,
            "subset": subset,
            "low": low,
            "high": high,
            "resamples": 1000,
            "seed": 0,
        }
        for (subset, measure), (low, high) in ends.items()
    ]


def make_ranks(
    run_id: int, code: str, rows: Sequence[tuple[int | None, float]], scheme: str = "NN"
) -> list[dict[str, Any]]:
    """Rows of `self_ranks`: rank and share changed of each paper."""
    return [
        {
            "run_id": run_id,
            "scheme": scheme,
            "vectors": "raw",
            "code": code,
            "query_id": f"p{place}",
            "rank": rank,
            "ties": None if rank is None else 0,
            "changed": changed,
        }
        for place, (rank, changed) in enumerate(rows)
    ]


def make_overlaps(
    run_id: int, code: str, reading: str, shared: Sequence[int | None], same: int = 0
) -> list[dict[str, Any]]:
    """Rows of `neighbour_overlaps`; the first `same` of them are equal to their original."""
    return [
        {
            "run_id": run_id,
            "code": code,
            "query_id": f"p{place}",
            "reading": reading,
            "shared_10": number,
            "shared_20": None if number is None else 2 * number,
            "same": None if number is None else place < same,
        }
        for place, number in enumerate(shared)
    ]


def make_similarity(run_id: int, code: str, mean: float, papers: int = 50, **changed: Any) -> dict[str, Any]:
    """A row of `similarity_statistics`."""
    pairs = papers * (papers - 1) // 2
    row = {
        "run_id": run_id,
        "code": code,
        "papers": papers,
        "pairs": pairs,
        "lowest": mean - 0.3,
        "highest": mean + 0.2,
        "mean": mean,
        "deviation": 0.1,
        "above_mean": pairs // 2,
    }
    return {**row, **changed}


def make_map(run_id: int, code: str, points: Sequence[tuple[float, float]]) -> list[dict[str, Any]]:
    """Rows of `vector_maps`."""
    return [
        {"run_id": run_id, "code": code, "query_id": f"p{place:05d}", "x": float(x), "y": float(y)}
        for place, (x, y) in enumerate(points)
    ]


TABLES: Final = {
    "runs": runs,
    "scores": scores,
    "intervals": score_intervals,
    "ranks": self_ranks,
    "overlaps": neighbour_overlaps,
    "similarities": similarity_statistics,
    "maps": vector_maps,
}


def store(database: Database, **rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows under the names of `TABLES`."""
    with database.begin() as session:
        for name, listed in rows.items():
            table = TABLES[name]
            names = [
                column.name
                for column in table.columns
                if any(row.get(column.name) is not None for row in listed)
            ]
            session.insert(table, pa.table({name: [row.get(name) for row in listed] for name in names}))
