"""Two rankings of the small CSFCube: one without a fault, one with every kind of fault.

Leaves out: the collection (`tests.benching`).
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.run.import_run import ImportRequest, import_run

NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)

RANKINGS: Final = {
    "SPECTER": "1_background 3 6 8 5 4|2_background 9 7 5 4|1_method 5 6 9 4|2_method 5 3|2_result 7 3 9",
    "other": "1_background 4 5 3|2_background 4 5 7 9|1_method 4 9 6 5|2_method 3 5",
}
"""system -> its queries, each with its candidates from the best on; `other` leaves out 6, 8 and a query"""


def write_trec(folder: Path, system: str, rankings: str) -> Path:
    """A file in TREC's form, of `query paper paper|query paper`."""
    lines = []
    for ranking in rankings.split("|"):
        query_id, *papers = ranking.split()
        lines += [f"{query_id} Q0 {paper} {rank} {-rank} x\n" for rank, paper in enumerate(papers, 1)]
    path = folder / f"{system}.run"
    path.write_text("".join(lines))
    return path


def import_rankings(database: Database, folder: Path) -> None:
    """Store both as runs 1 and 2 of csfcube, and evaluate them."""
    for system, rankings in RANKINGS.items():
        request = ImportRequest("csfcube", system, [write_trec(folder, system, rankings)])
        import_run(database, request, clock=lambda: NOON)
    evaluate(database, "csfcube")
