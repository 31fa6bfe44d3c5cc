"""Systems on a cluster: the hits of one machine, to the bit."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.index.index import index
from pinakes.systems.base import SystemOptions
from tests.benching import change
from tests.clusters import LocalCluster, killing

TABLE = "vectors_toy_fp32"


def read_vectors(database: Database) -> list[tuple[str, list[float]]]:
    with database.read() as session:
        rows = session.fetch_arrow(f"SELECT text_digest, embedding FROM {TABLE} ORDER BY text_digest")
    return list(zip(map(str, rows["text_digest"].to_pylist()), rows["embedding"].to_pylist(), strict=True))


def test_vectors_are_those_of_one_machine(
    cluster: LocalCluster,
    prepared: Database,
    toy_folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pinakes.cluster.encoding.WINDOW", 16)
    alone = index(prepared, "synthetic", toy_folder, options=SystemOptions(tmp_path, precision="fp32"))
    expected = read_vectors(prepared)
    change(prepared, f"DELETE FROM {TABLE}")
    # On a cluster `auto` is fp32, whatever its machines are fast at.
    options = SystemOptions(tmp_path, on=cluster.address)
    with killing(3, kills=2) as killed:
        shared = index(prepared, "synthetic", toy_folder, options=options)
    assert killed
    assert (shared.added, shared.existing) == (alone.added, 0)
    assert read_vectors(prepared) == expected
    again = index(prepared, "synthetic", toy_folder, options=options)
    assert (again.added, again.existing) == (0, alone.added)


def test_a_system_that_cannot_share_its_work_says_so(prepared: Database, tmp_path: Path) -> None:
    told: list[str] = []
    index(prepared, "scifact", "bm25", options=SystemOptions(tmp_path, on="nowhere:1", tell=told.append))
    assert told == ["bm25 works on this machine alone; the cluster nowhere:1 is not used."]
