"""An index cut to a pool: to the bit what an index built over the pool's texts alone gives."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import IndexingError
from pinakes.indexers.lexical import Ranked
from pinakes.indexers.sparse_bm25.analyse import list_blocks
from pinakes.indexers.sparse_bm25.build import build_sparse_bm25
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from tests.long import alternate

Texts = dict[int, str | None]

WORDS = 300
TERMS = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op"]


def build(folder: Path, texts: Texts, block_rows: int = 64) -> SparseBm25Index:
    build_sparse_bm25(folder, list_blocks(texts.items()), block_rows=block_rows)
    return SparseBm25Index.open(folder)


def make_texts(seed: int, count: int = 500) -> Texts:
    """Documents of 0 to 60 Zipfian words, some of them twice under different ids, in no order of ids."""
    generator = np.random.default_rng(seed)
    ids = generator.permutation(count) * 5 - 700
    texts: Texts = {int(ids[0]): None}
    for number in range(1, count):
        drawn = (WORDS ** generator.random(generator.integers(0, 60)) - 1).astype(int)
        # The same words in another order, so that a pool meets its terms in an order of its own.
        again = str(texts[int(ids[number - 1])] or "").split()
        words = again[::-1] if number % 7 == 0 else [f"w{word}q" for word in drawn]
        texts[int(ids[number])] = " ".join(words)
    return texts


def make_queries(seed: int) -> list[str]:
    generator = np.random.default_rng(seed)
    queries = [(WORDS ** generator.random(50) - 1).astype(int) for _ in range(15)]
    return ["", "unheard", *(" ".join(f"w{word}q" for word in query) for query in queries)]


def pairs(found: list[Ranked]) -> list[list[tuple[int, float]]]:
    return [list(zip(one.paper_ids.tolist(), one.scores.tolist(), strict=True)) for one in found]


def require_equal(restricted: SparseBm25Index, alone: SparseBm25Index, queries: list[str]) -> None:
    assert restricted.row_count == alone.row_count
    for k, k1, b in ((1000, 1.2, 0.75), (7, 0.9, 0.4)):
        expected = pairs(alone.search_many(queries, k, k1, b))
        assert pairs(restricted.search_many(queries, k, k1, b, threads=2)) == expected
    ids = np.sort(np.asarray(alone.paper_ids))
    expected_scores = alone.score_pools(queries, [ids] * len(queries))
    found = restricted.score_pools(queries, [ids] * len(queries))
    assert np.array_equal(np.array(found), np.array(expected_scores))


@pytest.mark.parametrize(("seed", "size"), alternate(range(3), [500, 499, 250, 65, 64, 3]))
def test_an_index_cut_to_a_pool_equals_one_built_over_the_pool_alone(
    tmp_path: Path, size: int, seed: int
) -> None:
    texts, queries = make_texts(seed), make_queries(seed)
    ids = np.random.default_rng(seed + 100).permutation(list(texts))[:size]
    # Built in the order of the pool's ids: neither documents nor terms come as they did in the whole.
    alone = build(tmp_path / "alone", {number: texts[number] for number in sorted(ids.tolist())}, 33)
    restricted = build(tmp_path / "whole", texts).restrict(ids, threads=2)
    require_equal(restricted, alone, queries)
    assert sum(map(len, pairs(alone.search_many(queries, 10)))) > 10


def test_a_pool_of_one_paper_has_its_own_statistics(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole", {1: "alpha beta", 2: "alpha alpha gamma", 3: None})
    alone = build(tmp_path / "alone", {2: "alpha alpha gamma"})
    require_equal(whole.restrict(np.array([2])), alone, ["alpha", "gamma alpha", "beta"])
    assert pairs(whole.restrict(np.array([2])).search_many(["beta"], 5)) == [[]]


def test_a_pool_of_papers_without_a_text_finds_nothing(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole", {1: "alpha", 2: "", 3: None})
    restricted = whole.restrict(np.array([2, 3]))
    assert restricted.row_count == 2
    assert pairs(restricted.search_many(["alpha"], 5)) == [[]]
    assert pairs(restricted.search_many(["alpha"], 5, pool=np.array([3, 2]))) == [[(2, 0.0), (3, 0.0)]]


def test_a_pool_of_no_paper_is_an_index(tmp_path: Path) -> None:
    restricted = build(tmp_path / "whole", {1: "alpha"}).restrict(np.empty(0, np.int64))
    assert restricted.row_count == 0
    assert pairs(restricted.search_many(["alpha"], 5)) == [[]]


def test_a_paper_given_twice_counts_once(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole", {1: "alpha", 2: "alpha beta", 3: "beta"})
    assert whole.restrict(np.array([3, 1, 3])).paper_ids.tolist() == [1, 3]


def test_an_index_that_was_cut_can_be_cut_again(tmp_path: Path) -> None:
    texts, queries = make_texts(9), make_queries(9)
    whole = build(tmp_path / "whole", texts)
    ids = np.sort(list(texts))
    twice = whole.restrict(ids[100:]).restrict(ids[200:230])
    assert pairs(twice.search_many(queries, 50)) == pairs(
        whole.restrict(ids[200:230]).search_many(queries, 50)
    )


def test_the_whole_is_left_as_it_was(tmp_path: Path) -> None:
    texts, queries = make_texts(4), make_queries(4)
    whole = build(tmp_path / "whole", texts)
    before = pairs(whole.search_many(queries, 50))
    whole.restrict(np.sort(list(texts))[:100])
    assert pairs(whole.search_many(queries, 50)) == before


def test_a_pool_that_names_a_paper_the_index_lacks_is_refused(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole", {1: "alpha"})
    with pytest.raises(IndexingError, match=r"1 paper ids are not in the sparse BM25 index .*: 2"):
        whole.restrict(np.array([1, 2]))


def test_the_largest_frequency_and_a_full_block_are_kept(tmp_path: Path) -> None:
    texts: Texts = {1: "beta", 2: "alpha " * 65_535 + "beta"}
    whole = build(tmp_path / "whole", texts, 65_536)
    require_equal(whole.restrict(np.array([2])), build(tmp_path / "alone", {2: texts[2]}), ["alpha beta"])


@given(
    st.lists(st.lists(st.sampled_from(TERMS), max_size=6), min_size=1, max_size=20),
    st.data(),
)
@settings(max_examples=60)
def test_any_small_collection_cut_to_any_pool_equals_the_pool_alone(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[str]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    texts: Texts = {number: " ".join(words) for number, words in enumerate(documents)}
    ids = data.draw(st.lists(st.sampled_from(sorted(texts)), min_size=1, unique=True))
    whole = build(folder / "whole", texts, 3)
    alone = build(folder / "alone", {number: texts[number] for number in ids}, 5)
    require_equal(whole.restrict(np.array(ids)), alone, ["mn ab cd ef gh ij kl op", "cd cd", "ab xx"])
