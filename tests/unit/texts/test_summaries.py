"""Labellers, alignment, splitters and splits of examples, without a database."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import tokenize as rouge_tokenize
from sklearn.model_selection import train_test_split

from pinakes.errors import InputError
from pinakes.indexers.rouge.semantics import split_words
from pinakes.texts.summaries.alignment import SentenceIndex
from pinakes.texts.summaries.labellers import DEFAULT, parse_labeller, parse_labellers
from pinakes.texts.summaries.splits import split_as_published, split_by_paper
from pinakes.texts.summaries.splitters import find_splitter

DOCUMENT = ["The cat sat.", "A cat sat on the mat.", "", "引用する。", "The cat sat.", "Dogs ran, and ran."]


@pytest.mark.parametrize("count", [9, 10, 23, 100, 8965])
def test_examples_are_split_as_scikit_learn_does(count: int) -> None:
    kept, held_out = train_test_split(range(count), test_size=0.2, random_state=1)
    chosen, tested = train_test_split(held_out, test_size=0.5, random_state=1)
    expected = {
        **dict.fromkeys(kept, "train"),
        **dict.fromkeys(chosen, "dev"),
        **dict.fromkeys(tested, "test"),
    }
    assert split_as_published(count, 1, 0.1, 0.1) == [expected[place] for place in range(count)]


def test_the_published_sizes_come_out() -> None:
    assert Counter(split_as_published(8965, 1, 0.1, 0.1)) == {"train": 7172, "dev": 896, "test": 897}


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, {}),
        (1, {"train": 1}),
        (2, {"train": 1, "test": 1}),
        (5, {"train": 4, "test": 1}),
        (6, {"train": 4, "dev": 1, "test": 1}),
    ],
)
def test_few_examples_are_split(count: int, expected: dict[str, int]) -> None:
    assert Counter(split_as_published(count, 1, 0.1, 0.1)) == expected


@given(st.lists(st.sampled_from("abcdefghijkl"), max_size=40), st.integers(0, 2**32 - 1))
def test_a_paper_is_on_one_side_wherever_its_examples_stand(papers: list[str], seed: int) -> None:
    parts = split_by_paper("toy", papers, seed, 0.2, 0.2)
    sides = set(zip(papers, parts, strict=True))
    assert len(sides) == len(set(papers))
    assert set(zip(papers[::-1], split_by_paper("toy", papers[::-1], seed, 0.2, 0.2), strict=True)) == sides


@given(st.text())
def test_tokens_are_those_of_rouge_score(text: str) -> None:
    assert split_words(text) == rouge_tokenize.tokenize(text, None)


def test_equal_sentences_are_all_found() -> None:
    index = SentenceIndex(DOCUMENT)
    assert index.find_same(["The cat sat.", "引用する。", "the cat sat."]) == [0, 3, 4]
    assert SentenceIndex([]).find_same(["The cat sat."]) == []


def test_the_most_alike_sentence_is_found() -> None:
    index = SentenceIndex(DOCUMENT)
    assert index.align(["the cat sat"], 0.6) == {0: 1.0}  # of two equal ones the first
    assert index.align(["Cat on mat!"], 0.6) == {1: 2 * 3 / 9}
    assert index.align(["Cat on mat!"], 0.7) == {}
    assert index.align(["ran ran ran"], 0.5) == {5: 2 * 2 / 7}  # each token as often as both have it
    assert index.align(["Cat on mat!", "a cat sat on mats"], 0.6) == {1: 2 * 4 / 11}
    assert index.align(["引用する。", "没有", "?"], 0.6) == {3: 1.0}
    assert SentenceIndex([]).align(["The cat sat."], 0.6) == {}


@given(st.lists(st.text("ab c", max_size=12), max_size=6), st.text("ab c", max_size=12))
def test_alignment_is_the_best_f1(sentences: list[str], citing: str) -> None:
    def score(sentence: str) -> float:
        if sentence == citing:
            return 1.0
        mine, other = Counter(split_words(sentence)), Counter(split_words(citing))
        return 2 * (mine & other).total() / max(1, mine.total() + other.total())

    scores = [score(sentence) for sentence in sentences]
    best = max(scores, default=0.0)
    expected = {scores.index(best): best} if best >= 0.3 else {}
    if citing in sentences:
        expected = {sentences.index(citing): 1.0}
    assert SentenceIndex(sentences).align([citing], 0.3) == expected


def test_sentences_have_their_white_space_collapsed() -> None:
    splitter = find_splitter("punkt")
    text = "We\tfollow\u2028Lee et al. (2020).\x0b\x1f  It  works. \n\n \x07 "
    assert splitter.split(text) == ["We follow Lee et al. (2020).", "It works.", "\x07"]
    assert splitter.split(" \n\u00a0") == splitter.split("") == []
    assert splitter.split("a" * 1_000_000) == ["a" * 1_000_000]


def test_contexts_are_split_and_of_a_source_whole_too() -> None:
    contexts = ["It works. We follow\nLee.", "It works."]
    assert find_splitter("punkt").split_contexts(contexts) == ["It works.", "We follow Lee."]
    whole = "It works. We follow Lee."
    assert find_splitter("source").split_contexts(contexts) == [whole, "It works.", "We follow Lee."]


def test_labellers_are_named_in_one_way() -> None:
    assert [labeller.name for labeller in parse_labellers([*DEFAULT, "citing exact"])] == list(DEFAULT)
    assert parse_labeller("citing aligned 1.0").name == "citing aligned 1"
    assert parse_labeller("greedy rougeL recall rouge zero").is_published
    for wrong in (
        "",
        "citing aligned 0",
        "citing aligned 1.5",
        "citing aligned x",
        "greedy rouge3 f rouge zero",
    ):
        with pytest.raises(InputError, match="unknown labeller"):
            parse_labeller(wrong)
