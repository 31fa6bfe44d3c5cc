"""Noun phrases are counted over a corpus, and the more important half of them is chosen."""

import pytest

from pinakes.texts.neighbours.analysis import AnalysedText
from pinakes.texts.neighbours.phrases import PhraseCounts, choose_top_phrases, count_phrases, find_phrases
from tests.tagging import tag_text

FIRST = tag_text(
    "deep trees , deep trees , art maps",
    "deep/A trees/N ,/. deep/A trees/N ,/. art/N maps/N",
    phrases=("deep trees", "art maps"),
)
SECOND = tag_text("Deep trees see code .", "Deep/A trees/N see/V code/N ./.", phrases=("deep trees",))
THIRD = tag_text("old code bases", "old/A code/N bases/N", phrases=("old code bases",))


def test_occurrences_and_papers_are_counted() -> None:
    counts = count_phrases([FIRST, None, SECOND, THIRD])
    assert counts.papers == 4
    assert counts.occurrences == {"deep trees": 3, "art maps": 1, "old code bases": 1}
    assert counts.papers_with == {"deep trees": 2, "art maps": 1, "old code bases": 1}


def test_counts_of_parts_add_up() -> None:
    whole = count_phrases([FIRST, None, SECOND, THIRD])
    added = PhraseCounts()
    for part in ([FIRST], [None, SECOND], [THIRD]):
        added.add(count_phrases(part))
    assert added == whole


@pytest.mark.parametrize(
    ("abstracts", "top"),
    [
        # 3 · log2(1 + 2.5 / 2.5) = 3; 1 · log2(1 + 3.5 / 1.5) = 1.74 of each other
        ([FIRST, None, SECOND, THIRD], ["deep trees"]),
        ([THIRD, None, SECOND, FIRST], ["deep trees"]),
        ([THIRD, FIRST], ["deep trees"]),  # 2 · log2(1 + 1.5 / 1.5) = 2 against 1
        ([THIRD], []),  # half of one
        ([None], []),
        ([], []),
    ],
)
def test_the_more_important_half_is_chosen(abstracts: list[AnalysedText | None], top: list[str]) -> None:
    assert choose_top_phrases(count_phrases(abstracts)) == top


def test_phrases_of_one_weight_are_in_the_order_of_their_characters() -> None:
    counts = count_phrases(
        [tag_text("c c , b b , a a", "c/N c/N ,/. b/N b/N ,/. a/N a/N", phrases=("c c", "b b", "a a"))]
    )
    assert choose_top_phrases(counts) == ["a a"]


@pytest.mark.parametrize(
    ("phrases", "found"),
    [
        ({"deep trees"}, [0, 1, 3, 4]),
        ({"trees ,", "deep trees"}, [0, 1, 3, 4]),  # from the left, behind what is found
        ({"deep trees", "deep trees , deep"}, [0, 1, 2, 3]),  # the longest
        ({"deep"}, [0, 3]),
        ({"ee"}, []),
        (set(), []),
    ],
)
def test_phrases_are_found_at_the_borders_of_tokens(phrases: set[str], found: list[int]) -> None:
    assert find_phrases(FIRST, phrases) == found
