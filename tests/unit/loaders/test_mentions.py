import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.loaders.reading.mentions import MAX_CONTEXT, find_context, split_sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("  \n ", []),
        ("No mark at all", ["No mark at all"]),
        ("One. Two? Three! Four", ["One.", "Two?", "Three!", "Four"]),
        ("As in Lee et al. The rest.", ["As in Lee et al. The rest."]),
        ("J. K. Rowling wrote it. She did.", ["J. K. Rowling wrote it.", "She did."]),
        ("See Fig. 2 and Eqs. 3 and 4. Then go.", ["See Fig. 2 and Eqs. 3 and 4.", "Then go."]),
        ("Models, e.g. BERT, work. They do.", ["Models, e.g. BERT, work.", "They do."]),
        ("It is no. 5 of ten. Is it? No. That is 6.", ["It is no. 5 of ten.", "Is it?", "No.", "That is 6."]),
        ("A value of 3.5 was seen. Good.", ["A value of 3.5 was seen.", "Good."]),
        ("It ends (here.) Next.", ["It ends (here.)", "Next."]),
        ("was shown.12,13 The next.", ["was shown.12,13", "The next."]),
        ("was shown.[4] The next.", ["was shown.[4]", "The next."]),
        ("1. Introduction here. 2. More.", ["1. Introduction here.", "2. More."]),
        ("a first line\n\na second line", ["a first line", "a second line"]),
        ("and so on ... and on. End", ["and so on ... and on.", "End"]),
        ("一句。二句！", ["一句。", "二句！"]),
    ],
)
def test_sentences_end_where_the_rules_say(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


def test_context_is_the_stripped_sentence_and_the_mention_keeps_its_text() -> None:
    text = "  First one.  Here [7] is it. Last. "
    context, start, end = find_context(text, 19, 22)
    assert (context, start, end) == ("Here [7] is it.", 5, 8)
    assert context[start:end] == "[7]"


def test_mention_across_two_sentences_gets_both() -> None:
    assert find_context("Old. As (A. Bell. New) said. Next.", 8, 22) == ("As (A. Bell. New) said.", 3, 17)


def test_mention_outside_the_text_has_no_context() -> None:
    assert find_context("", 3, 9) == ("", 0, 0)
    assert find_context("Short one.", 40, 50) == ("", 0, 0)


def test_sentence_without_end_is_cut_around_the_mention() -> None:
    text = "x" * 10_000 + "[1]" + "y" * 10_000
    context, start, end = find_context(text, 10_000, 10_003)
    assert len(context) == MAX_CONTEXT
    assert context[start:end] == "[1]"


def test_splitting_takes_linear_time_on_runs_of_marks() -> None:
    assert len(split_sentences("." * 300_000)) == 1
    assert len(split_sentences(". " * 100_000)) == 100_000
    assert len(split_sentences("a.)" * 100_000)) == 1
    assert len(split_sentences("\n" * 200_000 + "a")) == 1


@settings(max_examples=200)
@given(st.text(alphabet="aB1.?! \n()[]ſ。", max_size=60), st.integers(-3, 70), st.integers(-3, 70))
def test_sentences_cover_all_but_white_space_and_contexts_hold_the_mention(
    text: str, start: int, end: int
) -> None:
    covered = "".join(split(text))
    assert "".join(covered.split()) == "".join(text.split())
    context, first, last = find_context(text, start, end)
    assert 0 <= first <= last <= len(context)
    if 0 <= start < end <= len(text) and text[start:end] == text[start:end].strip():
        assert context[first:last] == text[start:end]
