"""Faiss indexes: the same bytes from the same vectors, exact scores, and never too few hits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.faiss import index as faiss_index
from pinakes.indexers.faiss.build import RECALL_QUERIES, build_faiss
from pinakes.indexers.faiss.index import FaissIndex
from pinakes.indexers.faiss.kinds import KINDS, settle_options
from pinakes.indexers.lexical import Ranked
from pinakes.indexers.recall import mean_recall, measure_recall, sample_rows
from tests.warm import Warm

ROWS, DIMENSIONS = 600, 16
FACTORIES = {
    "flat": "Flat",
    "ivf_flat": "IVF15,Flat",
    "ivf_pq": "IVF15,PQ8x8",
    "hnsw": "HNSW32,Flat",
    "sq8": "SQ8",
    "fp16": "SQfp16",
}


def make_vectors(rows: int = ROWS, seed: int = 3) -> Any:
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((20, DIMENSIONS))
    own = generator.standard_normal((rows, DIMENSIONS)) * 0.4
    return (centres[generator.integers(0, 20, rows)] + own).astype(np.float32)


IDS = np.arange(ROWS, dtype=np.int64) * 3 + 5
VECTORS = make_vectors()


def blocks(ids: Any = IDS, vectors: Any = VECTORS, size: int = 250) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size], vectors[start : start + size]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """kind -> a folder with its index, built when a test first asks for any."""
    home = tmp_path_factory.mktemp("faiss")
    for kind in KINDS:
        build_faiss(home / kind, blocks(), kind)
    return {kind: home / kind for kind in KINDS}


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_kind_finds_most_and_scores_exactly(kind: str, tmp_path: Path) -> None:
    built = build_faiss(tmp_path / "index", blocks(), kind)
    assert (built.row_count, built.parameters["factory"]) == (ROWS, FACTORIES[kind])
    assert built.recall[10] > 0.95
    queries = make_vectors(8, seed=4)
    found = FaissIndex.open(tmp_path / "index").search(queries, 10).rankings
    _, best = search_exact(queries, VECTORS, 10)
    for number, ranked in enumerate(found):
        assert len(ranked.paper_ids) == 10
        rows, scores = search_exact(queries[number : number + 1], VECTORS[(ranked.paper_ids - 5) // 3], 10)
        assert (rows[0].tolist(), scores[0].tobytes()) == (list(range(10)), ranked.scores.tobytes())
    assert np.mean([ranked.scores[-1] >= best[n, -1] for n, ranked in enumerate(found)]) >= 0.75


@pytest.mark.parametrize("distance", ["cosine", "l2", "inner_product"])
def test_a_flat_index_gives_what_exact_search_gives(distance: Any, tmp_path: Path) -> None:
    build_faiss(tmp_path / "index", blocks(), "flat", distance=distance)
    queries = make_vectors(8, seed=4)
    found = FaissIndex.open(tmp_path / "index").search(queries, 20).rankings
    rows, scores = search_exact(queries, VECTORS, 20, distance)
    assert [ranked.paper_ids.tolist() for ranked in found] == IDS[rows].tolist()
    assert [ranked.scores.tobytes() for ranked in found] == [score.tobytes() for score in scores]


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_same_vectors_give_the_same_bytes(kind: str, tmp_path: Path, folders: dict[str, Path]) -> None:
    build_faiss(tmp_path / "index", blocks(size=77), kind, threads=2)
    assert files_of(tmp_path / "index") == files_of(folders[kind])


CHILD = """
import os, signal, sys
from pathlib import Path
from pinakes.indexers.faiss.build import RECALL_QUERIES, build_faiss
from tests.unit.indexers.test_faiss_index import blocks

def tell(phase, done, total):
    if phase == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

build_faiss(Path(sys.argv[1]), blocks(), sys.argv[2], progress=tell)
"""


@pytest.mark.parametrize(("kind", "phase"), [("ivf_pq", "write"), ("ivf_pq", "add"), ("hnsw", "measure")])
def test_killed_in_a_build_there_is_no_index_and_a_rerun_equals_an_undisturbed_one(
    kind: str, phase: str, tmp_path: Path, folders: dict[str, Path], warm: Warm
) -> None:
    folder = tmp_path / "index"
    killed = warm.run(CHILD, folder, kind, phase)
    assert killed.code == -9
    assert not folder.exists()
    with pytest.raises(IndexingError, match="build the index again"):
        FaissIndex.open(folder)
    build_faiss(folder, blocks(), kind)
    assert files_of(folder) == files_of(folders[kind])
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


@pytest.mark.parametrize("name", ["index.faiss", "vectors.f32", "ids.npy", "parameters.json"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "gone"])
def test_a_damaged_file_is_refused(name: str, damage: str, tmp_path: Path) -> None:
    build_faiss(tmp_path / "index", blocks(), "flat")
    path = tmp_path / "index" / name
    content = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(content[:-1])
    else:
        content[len(content) // 2] ^= 16
        path.write_bytes(content)
    with pytest.raises(IndexingError, match="build the index again"):
        FaissIndex.open(tmp_path / "index")


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("size", [1, 7, 60, ROWS])
def test_a_filtered_search_gives_as_many_as_there_are(
    kind: str, size: int, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_index, "EXACT_POOL", 5)
    pool = np.random.default_rng(size).choice(IDS, size, replace=False)
    options = dict.fromkeys(KINDS[kind].search, 1)
    found = FaissIndex.open(folders[kind]).search(make_vectors(5, 9), 20, pool=pool, options=options)
    for ranked in found.rankings:
        assert len(set(ranked.paper_ids.tolist())) == min(20, size)
        assert set(ranked.paper_ids.tolist()) <= set(pool.tolist())


def test_a_query_that_finds_too_few_is_answered_exactly(tmp_path: Path) -> None:
    build_faiss(tmp_path / "index", blocks(), "ivf_flat", options={"nlist": 100})
    index = FaissIndex.open(tmp_path / "index")
    queries = make_vectors(4, 9)
    found = index.search(queries, 300, options={"nprobe": 1})
    rows, scores = search_exact(queries, VECTORS, 300)
    assert found.exact_queries == 4
    assert [ranked.paper_ids.tolist() for ranked in found.rankings] == IDS[rows].tolist()
    assert [ranked.scores.tobytes() for ranked in found.rankings] == [score.tobytes() for score in scores]


def test_equal_scores_are_ordered_by_the_rule(tmp_path: Path) -> None:
    twins = np.repeat(VECTORS[:4], 5, axis=0)
    build_faiss(tmp_path / "index", blocks(IDS[:20], twins), "flat")
    found = FaissIndex.open(tmp_path / "index").search(VECTORS[:1], 5, tie_order=lambda ids: -ids)
    assert found.rankings[0].paper_ids.tolist() == [17, 14, 11, 8, 5]


def test_an_id_outside_the_index_is_refused(folders: dict[str, Path]) -> None:
    with pytest.raises(IndexingError, match="the first: 6"):
        FaissIndex.open(folders["flat"]).search(VECTORS[:1], 3, pool=np.array([5, 6]))


def test_an_empty_pool_has_no_hits(folders: dict[str, Path]) -> None:
    empty = np.empty(0, np.int64)
    found = FaissIndex.open(folders["flat"]).search(VECTORS[:2], 3, pool=empty)
    assert [len(ranked.scores) for ranked in found.rankings] == [0, 0]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="known: flat, fp16, hnsw, ivf_flat, ivf_pq, sq8"):
        build_faiss(tmp_path / "index", blocks(), "tree")
    with pytest.raises(UnknownNameError, match="known: ef_construction, m"):
        build_faiss(tmp_path / "index", blocks(), "hnsw", options={"nlist": 3})
    with pytest.raises(IndexingError, match="nlist is 700 for 600"):
        settle_options("ivf_flat", {"nlist": 700}, ROWS, DIMENSIONS)
    with pytest.raises(IndexingError, match="divisor of the 16"):
        settle_options("ivf_pq", {"pq_bytes": 5}, ROWS, DIMENSIONS)
    with pytest.raises(IndexingError, match="at least 256 vectors"):
        settle_options("ivf_pq", {}, 255, DIMENSIONS)
    with pytest.raises(IndexingError, match="no vector to index"):
        build_faiss(tmp_path / "index", [], "flat")
    with pytest.raises(IndexingError, match="paper id 5 was given 2 times"):
        build_faiss(tmp_path / "index", [*blocks(), (IDS[:1], VECTORS[:1])], "flat")
    with pytest.raises(IndexingError, match="vector 1 is not finite"):
        build_faiss(tmp_path / "index", blocks(IDS[:2], np.array([[1.0], [np.nan]], np.float32)), "flat")
    assert not (tmp_path / "index").exists()


def test_recall_counts_equal_scores_and_none_beyond_its_depth() -> None:
    exact = [np.array([0.9, 0.5, 0.5], np.float32)]
    found = [np.array([0.5, 0.1], np.float32)]
    assert mean_recall(exact, found, 2) == 0.5
    assert mean_recall(exact, found, 3) == pytest.approx(1 / 3)
    assert mean_recall([*exact, np.empty(0, np.float32)], [*found, found[0]], 2) == 0.5


def test_recall_asks_for_each_depth_by_itself_and_leaves_the_query_out() -> None:
    asked = []

    def search(k: int) -> list[Ranked]:
        asked.append(k)
        found = [7, 3, 4][: 1 if k < 50 else 3]
        return [Ranked(np.array(found), np.array([1.0, 0.5, 0.1], np.float32)[: len(found)])]

    exact = [np.array([0.9, 0.5], np.float32)]
    assert measure_recall(np.array([7]), exact, search) == {10: 0.0, 100: 0.5}
    assert asked == [11, 101]


@pytest.mark.parametrize(
    ("kind", "options"), [("hnsw", {"m": 4, "ef_construction": 8}), ("ivf_pq", {"nlist": 64, "pq_bytes": 2})]
)
@pytest.mark.parametrize("depth", [10, 100])
def test_stored_recall_is_that_of_a_search_for_as_many(
    kind: str, options: dict[str, int], depth: int, tmp_path: Path
) -> None:
    """Random vectors, which no index finds with ease, asked with one by one, the vector itself left out."""
    vectors = np.random.default_rng(1).standard_normal((3000, 32)).astype(np.float32)
    ids = np.arange(len(vectors)) * 2 + 1
    built = build_faiss(tmp_path / "index", blocks(ids, vectors), kind, options=options)
    index = FaissIndex.open(tmp_path / "index")
    lengths = np.linalg.norm(vectors, axis=1)
    shares = []
    for own in sample_rows(len(vectors), RECALL_QUERIES, 1):
        cosines = vectors @ vectors[own] / lengths / lengths[own]
        best = set(ids[np.argsort(-cosines)].tolist()[: depth + 1]) - {ids[own]}
        (ranked,) = index.search(vectors[own : own + 1], depth + 1).rankings
        found = [paper_id for paper_id in ranked.paper_ids.tolist() if paper_id != ids[own]][:depth]
        shares.append(len(best.intersection(found)) / depth)
    assert built.recall[depth] == pytest.approx(np.mean(shares), abs=1e-9)
    assert built.recall[depth] < 0.97


def test_faiss_on_a_gpu_is_used_where_there_is_one(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[tuple[Any, ...]] = []

    def copy(*arguments: Any) -> Any:
        copied.append(arguments)
        return arguments[2]

    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "StandardGpuResources", lambda: "resources", raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_gpu", copy, raising=False)
    FaissIndex.open(folders["flat"]).search(VECTORS[:1], 3)
    FaissIndex.open(folders["hnsw"]).search(VECTORS[:1], 3)
    assert [arguments[:2] for arguments in copied] == [("resources", 0)]
