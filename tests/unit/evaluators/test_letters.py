"""Letters of systems: two share one if and only if they do not differ."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from pinakes.evaluators.letters import assign_letters


def test_letters_of_examples_worked_by_hand() -> None:
    assert assign_letters([], []) == {}
    assert assign_letters("A", []) == {"A": "a"}
    every = list(combinations("ABC", 2))
    assert assign_letters("ABC", every) == {"A": "a", "B": "b", "C": "c"}
    # A and D differ from all but their neighbours: the chain A-B, B-C, C-D
    apart = [("A", "C"), ("D", "A"), ("B", "D")]
    assert assign_letters("ABCD", apart) == {"A": "a", "B": "ab", "C": "bc", "D": "c"}
    # the second differs from the first, though the third, below it, does not
    assert assign_letters("ABC", [("A", "B")]) == {"A": "a", "B": "b", "C": "ab"}


@given(st.sets(st.sampled_from(list(combinations("ABCDEFG", 2)))))
def test_two_share_a_letter_if_and_only_if_they_do_not_differ(different: set[tuple[str, str]]) -> None:
    letters = assign_letters("ABCDEFG", sorted(different))
    for pair in combinations("ABCDEFG", 2):
        assert bool(set(letters[pair[0]]) & set(letters[pair[1]])) is (pair not in different)
    assert letters["A"][0] == "a"
