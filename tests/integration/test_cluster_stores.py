"""Systems on a cluster whose machines share an object store: the hits of one machine, to the bit."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.index.index import index
from pinakes.removal.gc import collect_garbage
from pinakes.report.status import check_sides, read_status
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.vectors.fragment_sets import list_sets
from pinakes.vectors.reading import CandidateBlocks
from tests.benching import change, read_hits
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
    (row,) = list_rows(prepared)
    place = store.address(tmp_path.name).partition("?")[0]
    assert row["place"].startswith(f"{place}/fragments/synthetic-")
    listed = {name: size for name, size in sent.items() if name.endswith(".parquet")}
    assert (row["fragment_count"], row["byte_count"]) == (len(listed), sum(listed.values()))
    list_name = next(name for name in sent if name.endswith("fragments.json"))
    content = store.read(f"{tmp_path.name}/{list_name}")
    assert row["list_sha256"] == hashlib.sha256(content).hexdigest()
    assert row["row_count"] == sum(one["rows"] for one in json.loads(content))
    change(prepared, "DELETE FROM fragment_sets")  # as where the command was killed before
    # The fragments are there: no vector is asked of the database.
    monkeypatch.setattr(CandidateBlocks, "read", lambda *_: iter(()))
    third = run(prepared, RunRequest("synthetic", toy_folder, shared, again=True))
    assert read_hits(prepared, third.run_id) == hits
    assert store.list_files(tmp_path.name) == sent
    assert [{**one, "fragment_set_id": 0} for one in list_rows(prepared)] == [{**row, "fragment_set_id": 0}]
    assert read_status(prepared)["fragment_sets"][0]["place"] == row["place"]
    assert not check_sides(prepared, read_status(prepared), folder).damaged
    assert not collect_garbage(prepared, folder).folders
    # Of a set that is gone, `status --check` tells, and the row goes.
    store.remove(f"{tmp_path.name}/{list_name}")
    (told,) = check_sides(prepared, read_status(prepared), folder).damaged
    assert row["place"] in told
    with store.refusing():
        assert "stays" in collect_garbage(prepared, folder).left[0]
    dry = collect_garbage(prepared, folder, dry_run=True)
    assert dry.folders == {row["place"]: sum(listed.values())}
    assert len(list_rows(prepared)) == 1
    assert collect_garbage(prepared, folder).folders == dry.folders
    assert list_rows(prepared) == []
    assert not [name for name in store.list_files(tmp_path.name) if name.startswith("fragments/")]


def list_rows(database: Database) -> list[dict[str, Any]]:
    with database.read() as session:
        return list_sets(session)
