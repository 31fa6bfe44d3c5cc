"""Real sentences of CSFCube by MiniLM: best pairs and transport, alone and in context, as they were measured.

Three queries, one a facet, and their pools: encoding the sentences of all pools would take minutes. The
figures are those of these queries in a run over all of CSFCube. Encodings differ in their last bits between
processors.
"""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from tests.benching import change
from tests.real_data import REAL_DATA, needs_real_data

QUERIES = ("53082542_method", "3264891_background", "3264891_result")
MEASURE = "CSFCube.nDCG%20"

IN_CONTEXT = {"context": "yes"}

CASES: list[tuple[str, str | None, dict[str, str], tuple[float, float, float]]] = [
    ("sentences:minilm", None, {}, (0.4365, 0.4464, 0.5316)),
    ("sentences:minilm", "l2", {}, (0.4365, 0.4464, 0.5316)),  # of vectors of length 1: the same order
    ("sentences:minilm", None, {"candidates": "facet"}, (0.3910, 0.4190, 0.5008)),
    ("sentences:minilm", None, IN_CONTEXT, (0.4435, 0.5696, 0.4573)),
    ("transport:minilm", None, {}, (0.5126, 0.6072, 0.3434)),
    ("transport:minilm", "l2", {}, (0.4990, 0.6292, 0.3911)),
    ("transport:minilm", "l2", {"regularisation": "0.05"}, (0.5167, 0.6278, 0.3911)),
    ("transport:minilm", None, {"marginals": "uniform"}, (0.5021, 0.6081, 0.3517)),
    ("transport:minilm", None, {"candidates": "facet"}, (0.3609, 0.6055, 0.5255)),
    ("transport:minilm", None, IN_CONTEXT, (0.4473, 0.6023, 0.4153)),
    ("transport:minilm", "l2", IN_CONTEXT, (0.4463, 0.5969, 0.4153)),
]
"""system, distance, options, and the measure for each of the queries"""


def measure(
    database: Database, folder: Path, system: str, distance: str | None, options: dict[str, str]
) -> tuple[float, ...]:
    given = SystemOptions(folder, "fp32", distance, "cpu", parameters=options)
    made = run(database, RunRequest("csfcube", system, given))
    (scored,) = evaluate(database, "csfcube", run_ids=[made.run_id], measures=[MEASURE])
    by_query = {score.query_id: score.value for score in scored.scores if score.query_id}
    return tuple(by_query[query] for query in QUERIES)


def prepare(database: Database, folder: Path) -> None:
    """The corpus with the three queries alone, and the vectors of their sentences and candidates'."""
    load(database, LoadRequest("csfcube", REAL_DATA / "csfcube"))
    kept = ", ".join(f"'{query}'" for query in QUERIES)
    for table in ("judgments", "pool_sources", "benchmark_queries"):
        change(database, f"DELETE FROM {table} WHERE query_id NOT IN ({kept})")
    for context in ("no", "yes"):
        options = SystemOptions(folder, "fp32", device="cpu", parameters={"context": context})
        index(database, "csfcube", "sentences:minilm", options=options)


@needs_real_data
@pytest.mark.model
@pytest.mark.long
def test_minilm_ranks_sentences_of_csfcube_as_measured_on_both_databases(
    both_initialised: tuple[Database, Database], tmp_path: Path
) -> None:
    for database in both_initialised:
        prepare(database, tmp_path)
    for system, distance, parameters, expected in CASES:
        found = [measure(database, tmp_path, system, distance, parameters) for database in both_initialised]
        assert found[0] == found[1]
        assert found[0] == pytest.approx(expected, abs=1e-3), (system, distance, parameters)
