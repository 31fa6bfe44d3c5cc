"""Systems on a cluster whose machines share an object store: the hits of one machine, to the bit."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.index.index import index
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.vectors.reading import CandidateBlocks
from tests.benching import read_hits
from tests.clusters import LocalCluster
from tests.stores import ObjectStore

pytestmark = pytest.mark.in_turn


def test_hits_through_a_store_are_those_of_one_machine(
    store: ObjectStore,
    cluster: LocalCluster,
    prepared: Database,
    toy_folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "side"
    monkeypatch.setenv("PINAKES_SHARED_FOLDER", store.address(tmp_path.name))
    alone, shared = (SystemOptions(folder, precision="fp32", on=on) for on in (None, cluster.address))
    for system in ("sparse_bm25", toy_folder):
        index(prepared, "synthetic", system, options=alone)
        first, second = (
            run(prepared, RunRequest("synthetic", system, options, again=True)) for options in (alone, shared)
        )
        hits = read_hits(prepared, first.run_id)  # of the vectors, the last
        assert hits
        assert read_hits(prepared, second.run_id) == hits
    sent = store.list_files(tmp_path.name)
    assert {name.partition("/")[0] for name in sent} == {"fragments", "sparse_bm25"}
    assert not list(folder.glob("fragments/*"))
    # The fragments are there: no vector is asked of the database.
    monkeypatch.setattr(CandidateBlocks, "read", lambda *_: iter(()))
    third = run(prepared, RunRequest("synthetic", toy_folder, shared, again=True))
    assert read_hits(prepared, third.run_id) == hits
    assert store.list_files(tmp_path.name) == sent
