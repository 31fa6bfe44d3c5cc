"""Systems on a cluster: the hits of one machine, to the bit."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinakes.cluster.sparse import build_shared, share_index
from pinakes.database import Database
from pinakes.index.index import index
from pinakes.indexers.analysis import named_analysis
from pinakes.indexers.sparse_bm25.analyse import list_blocks
from pinakes.indexers.sparse_bm25.build import build_sparse_bm25
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.removal.gc import collect_garbage
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.vectors.reading import CandidateBlocks
from tests.benching import change, read_hits
from tests.clusters import LocalCluster, killing
from tests.long import long

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
    found = read_vectors(prepared)
    assert [digest for digest, _ in found] == [digest for digest, _ in expected]
    # On some processors the last bit depends on the batch and the threads.
    np.testing.assert_allclose([one for _, one in found], [one for _, one in expected], rtol=0, atol=1e-6)
    again = index(prepared, "synthetic", toy_folder, options=options)
    assert (again.added, again.existing) == (0, alone.added)


@pytest.mark.parametrize("benchmark", ["synthetic", long("csfcube")])
def test_hits_of_vectors_are_those_of_one_machine(
    cluster: LocalCluster,
    prepared: Database,
    toy_folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    benchmark: str,
) -> None:
    folder = tmp_path / "side"
    alone, shared = (SystemOptions(folder, precision="fp32", on=on) for on in (None, cluster.address))
    index(prepared, benchmark, toy_folder, options=alone)
    first, again = (
        run(prepared, RunRequest(benchmark, toy_folder, options, again=True)) for options in (alone, shared)
    )
    hits = read_hits(prepared, first.run_id)
    assert hits
    assert read_hits(prepared, again.run_id) == hits
    assert list(folder.glob("fragments/*"))
    # The fragments are there: no vector is asked of the database.
    monkeypatch.setattr(CandidateBlocks, "read", lambda *_: iter(()))
    third = run(prepared, RunRequest(benchmark, toy_folder, shared, again=True))
    assert read_hits(prepared, third.run_id) == hits
    collect_garbage(prepared, folder)
    (place,) = folder.glob("fragments/*")
    change(prepared, f"UPDATE fragment_sets SET encoders = 'gone' WHERE place = 'fragments/{place.name}'")
    assert f"fragments/{place.name}" in collect_garbage(prepared, folder).folders
    assert not list(folder.glob("fragments/*"))


@pytest.mark.parametrize("benchmark", ["synthetic", "csfcube", long("scifact")])
def test_hits_of_terms_are_those_of_one_machine(
    cluster: LocalCluster,
    prepared: Database,
    tmp_path: Path,
    benchmark: str,
) -> None:
    alone, shared = (SystemOptions(tmp_path / str(on), on=on) for on in (None, cluster.address))
    hits = []
    for options in (alone, shared):
        index(prepared, benchmark, "sparse_bm25", options=options)
        with killing(5, kills=1 if options is shared else 0):
            made = run(prepared, RunRequest(benchmark, "sparse_bm25", options, again=True))
        hits.append(read_hits(prepared, made.run_id))
    assert hits[0]
    assert hits[1] == hits[0]


def test_the_files_of_an_index_are_those_of_one_machine(cluster: LocalCluster, tmp_path: Path) -> None:
    drawn = random.Random(3)
    words = [f"w{number}" for number in range(4_000)]
    texts = [" ".join(drawn.choices(words, k=drawn.randint(0, 40))) for _ in range(30_000)]
    analysis = named_analysis("lucene")
    settings: dict[str, Any] = {"analysis": analysis, "block_rows": 300}
    build_sparse_bm25(tmp_path / "alone", list_blocks(enumerate(texts)), **settings)
    with killing(9, kills=1):
        build_shared(cluster.address, tmp_path / "shared", list_blocks(enumerate(texts)), **settings)
    alone, shared = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("alone", "shared")
    )
    assert shared == alone
    index = SparseBm25Index.open(tmp_path / "alone")
    asked = [" ".join(drawn.choices(words, k=8)) for _ in range(70)]
    pool = np.array(sorted(drawn.sample(range(len(texts)), 9_000)))
    own = [np.array(drawn.sample(range(len(texts)), 50)) for _ in asked]
    with share_index(cluster.address, tmp_path / "shared", index) as searched, killing(2, kills=2):
        for one in (index, searched):
            pairs = [one.search_many(asked, 100, 0.9, 0.4), one.search_many(asked, 20_000, pool=pool)]
            found = [list(zip(*pairs[0], strict=True)), list(zip(*pairs[1], strict=True))]
            scored = one.score_pools(asked, own)
            if one is index:
                expected, exact = found, scored
        for many, few in zip(found, expected, strict=True):
            for columns, others in zip(many, few, strict=True):
                for column, other in zip(columns, others, strict=True):
                    np.testing.assert_array_equal(column, other)
        for column, other in zip(scored, exact, strict=True):
            np.testing.assert_array_equal(column, other)
        assert searched.search_many([], 5) == index.search_many([], 5) == []


def test_a_system_that_cannot_share_its_work_says_so(prepared: Database, tmp_path: Path) -> None:
    told: list[str] = []
    index(prepared, "scifact", "bm25", options=SystemOptions(tmp_path, on="nowhere:1", tell=told.append))
    assert told == ["bm25 works on this machine alone; the cluster nowhere:1 is not used."]
