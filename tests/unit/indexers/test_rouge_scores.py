"""ROUGE of one text: the specification's examples (6.3), and the packages' figures to the last digit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import UnknownNameError
from pinakes.indexers.rouge.formulas import METRICS, STATS
from pinakes.indexers.rouge.scores import score_rouge
from pinakes.indexers.rouge.semantics import SEMANTICS, find_semantics, split_segments
from tests.rouge_packages import score_with_package

PIECES = [
    "a",
    "b",
    "c",
    "B",
    ".",
    ". ",
    ". . ",
    "running",
    "runs",
    " ",
    "\t",
    "é",
    "Ⅷ",
    "K",
    "-",
    "\x00",
    "\ud800",
]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "metric", "stat", "expected"),
    [
        ("the cat sat on the mat. the cat ran.", "the cat sat on a mat.", "rouge1", "recall", 5 / 6),
        ("the cat sat on the mat. the cat ran.", "the cat sat on a mat.", "rouge1", "f", 0.8333333283333335),
        ("the cat sat on the mat. the cat ran.", "the cat sat on a mat.", "rouge2", "recall", 3 / 5),
        ("the cat sat on the mat. the cat ran.", "the cat sat on a mat.", "rouge2", "f", 0.499999995149),
        ("a b. c d", "a b c d", "rouge2", "f", 0.999999995),
        ("end. ", "end.", "rouge1", "recall", 1.0),
        ("end. ", "end.", "rouge1", "f", 0.6666666622222223),
    ],
)
def test_the_specifications_examples(
    hypothesis: str, reference: str, metric: str, stat: str, expected: float
) -> None:
    found = score_rouge(metric, stat, "rouge", hypothesis, reference)  # type: ignore[arg-type]
    assert found == score_with_package(metric, stat, "rouge", hypothesis, reference)
    assert found == pytest.approx(expected, abs=1e-9)


def test_blank_segments_are_empty_tokens_and_empty_ones_are_none() -> None:
    assert split_segments("..a  b. .c.") == [["a", "b"], [""], ["c"]]
    assert split_segments("...") == []


def test_tokens_are_stemmed_above_three_characters_or_not_at_all() -> None:
    text = "The models' rankings, 2-fold"
    assert find_semantics("rouge_score").tokens(text) == ["the", "model", "rank", "2", "fold"]
    assert find_semantics("rouge_score_plain").tokens(text) == ["the", "models", "rankings", "2", "fold"]
    assert find_semantics("rouge").tokens(text) == ["The", "models'", "rankings,", "2-fold"]


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(PIECES), max_size=25),
    st.lists(st.sampled_from(PIECES), max_size=25),
    st.sampled_from(["", " "]),
)
def test_scores_are_those_of_the_packages(left: list[str], right: list[str], joint: str) -> None:
    hypothesis, reference = joint.join(left), joint.join(right)
    for metric in METRICS:
        for semantics in SEMANTICS:
            for stat in STATS:
                found = score_rouge(metric, stat, semantics, hypothesis, reference)
                assert found == score_with_package(metric, stat, semantics, hypothesis, reference)


def test_a_text_without_a_segment_scores_0_where_the_package_raises() -> None:
    for metric in METRICS:
        assert score_rouge(metric, "f", "rouge", "", "a b") == 0.0
        assert score_rouge(metric, "f", "rouge", "a b", "..") == 0.0


def test_a_giant_sentence_is_scored_where_the_package_ends_its_recursion() -> None:
    words = [f"w{number}" for number in range(3000)]
    assert score_rouge("rougeL", "recall", "rouge", " ".join(words[::2]), " ".join(words)) == 0.5


@pytest.mark.parametrize(
    "wrong", [("rouge3", "f", "rouge"), ("rouge1", "p", "rouge"), ("rouge1", "f", "words")]
)
def test_an_unknown_name_lists_the_known_ones(wrong: tuple[str, str, str]) -> None:
    metric, stat, semantics = wrong
    with pytest.raises(UnknownNameError, match="known: "):
        score_rouge(metric, stat, semantics, "a", "b")  # type: ignore[arg-type]
