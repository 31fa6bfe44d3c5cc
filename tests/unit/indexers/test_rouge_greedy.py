"""Augmentation picks what the loop over whole summaries picks, at its scores, in every variant."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.rouge.document import read_document
from pinakes.indexers.rouge.formulas import METRICS, STATS
from pinakes.indexers.rouge.greedy import STARTS, Augmentation, GreedySettings, augment
from pinakes.indexers.rouge.postings import sort_stably
from pinakes.indexers.rouge.scores import score_rouge
from pinakes.indexers.rouge.semantics import SEMANTICS
from tests.rouge_packages import augment_naively

VARIANTS = [
    GreedySettings(metric, stat, semantics, start)  # type: ignore[arg-type]
    for metric, stat, semantics, start in itertools.product(METRICS, STATS, SEMANTICS, STARTS)
]
WORDS = ["a", "b", "c", "d", "B"]
ODD = [*WORDS, ".", ". ", ". . ", " ", "\t", "running", "runs", "é", "\x00"]
FIGURES = GreedySettings("rouge2", "f", "rouge", "zero")


def test_the_specifications_example() -> None:
    sentences = [
        "we propose a neural model.",
        "the weather is fine.",
        "it is used for ranking scientific papers.",
        "we thank everyone.",
    ]
    found = augment("we propose a neural model for ranking scientific papers", sentences, None, FIGURES)
    assert found == Augmentation(
        picks=[0, 2],
        scores=[0.6666666622222223, 0.7368421003878117],
        start_score=0.0,
        score=0.7368421003878117,
        published_score=0.6363636317355372,
    )


@pytest.mark.parametrize("pieces", [WORDS, ODD], ids=["words", "odd"])
def test_picks_and_scores_are_those_of_the_loop_over_small_texts(pieces: list[str]) -> None:
    texts = st.builds(
        lambda parts, joint: joint.join(parts),
        st.lists(st.sampled_from(pieces), max_size=9),
        st.sampled_from(["", " "]),
    )

    @settings(max_examples=25)
    @given(texts, texts, st.lists(texts, max_size=6), st.none() | texts)
    def check(query: str, more: str, sentences: list[str], cited: str | None) -> None:
        for variant in VARIANTS:
            found = augment(f"{query} {more}", sentences, cited, variant)
            assert found == augment_naively(f"{query} {more}", sentences, cited, variant)

    check()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_picks_and_scores_are_those_of_the_loop_over_realistic_texts(variant: GreedySettings) -> None:
    randomness = random.Random(str(variant))
    words = [f"w{number}" for number in range(40)]

    def write(length: int) -> str:
        weights = [1 / rank for rank in range(1, 41)]
        return " ".join(randomness.choices(words, weights, k=length)).capitalize() + randomness.choice("...?")

    query = " ".join(write(8) for _ in range(4))
    sentences = [write(randomness.randrange(1, 12)) for _ in range(12)]
    cited = "".join(randomness.sample(sentences, 2))
    found = augment(query, sentences, cited, variant)
    assert found == augment_naively(query, sentences, cited, variant)
    assert found.picks or variant.start == "citing"
    summary = " ".join([cited, *(sentences[number] for number in found.picks)])
    assert found.score == score_rouge(variant.metric, variant.stat, variant.semantics, summary, query)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize(
    ("query", "sentences", "cited"),
    [
        ("a b c", [], "a b"),
        ("a b c", [], None),
        ("", ["a b.", "c"], "a"),
        ("... !", ["a b.", "c", ""], ""),
        ("a b. c d.", ["", " ", ".", "...", "\x00", "a b"], None),
        ("a b. c d.", ["", " ", " . ", "c d", "c d"], "a b. "),
        ("論文 を 検索。 引用 論文", ["論文 を 検索。", "引用 文献", "検索"], "論文"),
        ("a b c d", ["a b", "a b", "c d", "c d"], "a b"),
    ],
)
def test_bad_and_odd_input_is_treated_as_the_loop_treats_it(
    query: str, sentences: list[str], cited: str | None, variant: GreedySettings
) -> None:
    assert augment(query, sentences, cited, variant) == augment_naively(query, sentences, cited, variant)


@pytest.mark.parametrize("variant", VARIANTS[::2], ids=str)
def test_one_giant_sentence_needs_no_recursion(variant: GreedySettings) -> None:
    words = " ".join(f"w{number % 700}" for number in range(4000))
    found = augment(words[:6000], [words], None, variant)
    assert found.picks == [0]
    assert found.score == score_rouge(variant.metric, variant.stat, variant.semantics, words, words[:6000])


def test_a_first_pick_may_lower_the_score_as_published_alone() -> None:
    query, cited, sentences = "a b", "a b", ["x y"]
    published = augment(query, sentences, cited, FIGURES)
    assert published.picks == [0]
    assert published.start_score == 0.0
    assert published.score < score_rouge("rouge2", "f", "rouge", cited, query)
    corrected = augment(query, sentences, cited, GreedySettings("rouge2", "f", "rouge", "citing"))
    assert corrected.picks == []
    assert corrected.score == corrected.start_score == score_rouge("rouge2", "f", "rouge", cited, query)
    assert corrected.published_score == published.score


def test_a_document_read_once_serves_many_queries() -> None:
    sentences = ["we rank papers.", "models rank citations", " . odd", "papers cite papers."]
    for semantics in SEMANTICS:
        document = read_document(sentences, semantics)
        for query in ("rank papers", "new words rank models. ", "papers cite"):
            for variant in VARIANTS:
                if variant.semantics == semantics:
                    fresh = augment(query, sentences, "papers. new seed", variant)
                    assert augment(query, document, "papers. new seed", variant) == fresh


def test_a_document_of_another_semantics_is_refused() -> None:
    with pytest.raises(InputError, match="read it again"):
        augment("a", read_document(["a"], "rouge"), None, GreedySettings(semantics="rouge_score"))


def test_an_unknown_start_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="citing, zero"):
        GreedySettings(start="seed")  # type: ignore[arg-type]


def test_large_keys_are_sorted_stably_too() -> None:
    keys = np.array([2**61, 5, 2**61, 5])
    ordered, places = sort_stably(keys)
    assert ordered.tolist() == [5, 5, 2**61, 2**61]
    assert places.tolist() == [1, 3, 0, 2]
