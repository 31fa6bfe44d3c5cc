"""Systems on a cluster: the hits of one machine, to the bit."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.index.index import index
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.vectors.reading import CandidateBlocks
from tests.benching import change, read_hits
from tests.clusters import LocalCluster, killing

pytestmark = pytest.mark.in_turn

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


@pytest.mark.parametrize("benchmark", ["synthetic", "csfcube"])
def test_hits_of_vectors_are_those_of_one_machine(
    cluster: LocalCluster,
    prepared: Database,
    toy_folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    benchmark: str,
) -> None:
    alone, shared = (SystemOptions(tmp_path, precision="fp32", on=on) for on in (None, cluster.address))
    index(prepared, benchmark, toy_folder, options=alone)
    first, again = (
        run(prepared, RunRequest(benchmark, toy_folder, options, again=True)) for options in (alone, shared)
    )
    hits = read_hits(prepared, first.run_id)
    assert hits
    assert read_hits(prepared, again.run_id) == hits
    assert [path.name for path in tmp_path.glob("fragments-*")] != []
    # The fragments are there: no vector is asked of the database.
    monkeypatch.setattr(CandidateBlocks, "read", lambda *_: iter(()))
    third = run(prepared, RunRequest(benchmark, toy_folder, shared, again=True))
    assert read_hits(prepared, third.run_id) == hits


def test_a_system_that_cannot_share_its_work_says_so(prepared: Database, tmp_path: Path) -> None:
    told: list[str] = []
    index(prepared, "scifact", "bm25", options=SystemOptions(tmp_path, on="nowhere:1", tell=told.append))
    assert told == ["bm25 works on this machine alone; the cluster nowhere:1 is not used."]
