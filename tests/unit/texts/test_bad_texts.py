"""Texts that are none of a paper's still give, for every code, a variant or a reason."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from pinakes.texts.neighbours.analysers import find_analyser
from pinakes.texts.neighbours.antonyms import find_antonyms
from pinakes.texts.neighbours.codes import CODES
from pinakes.texts.neighbours.generate import Absent, Settings, Variant, make_variants
from tests.wordnets import build_wordnet

TEXTS = {
    "one sentence": "We parse trees.",
    "no noun": "It is and was.",
    "numbers": "12 3.5 1,000 7% 2021",
    "control characters": "Deep\x00 trees\x1f and\x07 maps\x0b run\x7f.",
    "Chinese": "我们提出一种新方法。它很快。",
    "Arabic": "نقترح طريقة جديدة. إنها سريعة.",
    "emoji": "👩‍👩‍👧 likes 🍎🍎 trees!",
    "lone surrogates": "A \ud800 deep \udfff\ud83d tree.",
    "other white space": "\xa0Deep\xa0trees\tand\n\nmaps\u3000run.\u2028So. ",
    "punctuation": "... !!! ?? -- \" '' `` ()[]",
    "combining": "e\u0301tude \u0301 of trees",
    "one character": "x",
    "white space": " \t\xa0\n",
    "empty": "",
}


def list_codes(text: str, *, published: bool, folder: Path) -> list[Variant | Absent]:
    paper = find_analyser().analyse(text, text)
    phrases = frozenset(paper.abstract.phrase_texts if paper.abstract else ())
    settings = Settings(1, "bad", published, find_antonyms(folder), phrases)
    return make_variants(paper, "1", CODES, settings)


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wordnet(tmp_path_factory.mktemp("wordnet"))


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_code_gives_a_variant_or_a_reason(text: str, published: bool, wordnet: Path) -> None:
    made = list_codes(text, published=published, folder=wordnet)
    assert [one.code for one in made] == list(CODES)
    assert all(one.reason for one in made if isinstance(one, Absent))


@given(text=st.text(max_size=60))
@given_settings(max_examples=150)
def test_deletions_leave_what_they_do_not_name(wordnet: Path, text: str) -> None:
    paper = find_analyser().analyse(None, text)
    settings = Settings(1, "any", antonyms=find_antonyms(wordnet), top_phrases=frozenset())
    made = make_variants(paper, "1", ["T_ADelNN", "T_ADelNonNNs"], settings)
    left = [one.abstract for one in made if isinstance(one, Variant) and one.abstract is not None]
    characters = sorted("".join(text.split()))
    if len(left) == 2:  # what the one deletes the other keeps
        assert sorted("".join("".join(left).split())) == characters


@given(text=st.text(max_size=60))
@given_settings(max_examples=150)
def test_orders_of_sentences_and_white_space_lose_nothing(wordnet: Path, text: str) -> None:
    paper = find_analyser().analyse(None, text)
    codes = ["T_ARot", "T_AShuff", "T_ASortAsc", "T_ASortDesc", "T_A_WS"]
    for one in make_variants(paper, "1", codes, Settings(1, "any")):
        if isinstance(one, Variant):
            assert sorted("".join((one.abstract or "").split())) == sorted("".join(text.split()))


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("Chinese", "T_ARot", "我们提出一种新方法。它很快。"),  # one sentence: no space follows its full stop
        ("Chinese", "T_ADelNN", ""),  # and one noun: there are no spaces
        ("Arabic", "T_ARot", "إنها سريعة. نقترح طريقة جديدة."),
        ("numbers", "T_ADelNum", "%"),
        ("control characters", "T_ANNU", "DEEP\x00 TREES\x1f AND\x07 MAPS\x0b RUN\x7f."),
        ("other white space", "T_ARot", "\xa0So.\u2028Deep\xa0trees\tand\n\nmaps\u3000run. "),
        ("other white space", "T_ADelVB", "\xa0Deep\xa0trees\tand\n\nmaps\u3000.\u2028So. "),
        ("lone surrogates", "T_ADelADJ", "A \ud800 \udfff\ud83d tree."),
        ("emoji", "T_ANNU", "👩‍👩‍👧 likes 🍎🍎 TREES!"),
    ],
)
def test_what_becomes_of_a_strange_text(name: str, code: str, expected: str, wordnet: Path) -> None:
    made = {one.code: one for one in list_codes(TEXTS[name], published=False, folder=wordnet)}
    assert made[code] == Variant(code, TEXTS[name], expected)


def test_a_text_of_punctuation_has_no_word_of_any_kind(wordnet: Path) -> None:
    made = list_codes(TEXTS["punctuation"], published=False, folder=wordnet)
    reasons = {one.reason for one in made if isinstance(one, Absent)}
    kinds = ("adjective", "noun", "verb", "adverb", "pronoun", "determiner", "number")
    assert {f"no {kind} in the abstract" for kind in kinds} <= reasons


def test_a_text_of_100_000_words_is_changed_like_a_short_one(wordnet: Path) -> None:
    sentence = "We parse deep trees of art maps."
    paper = find_analyser().analyse("Trees", " ".join([sentence] * 14_286))
    assert paper.abstract is not None
    assert len(paper.abstract.tags) == 8 * 14_286
    settings = Settings(1, "long", antonyms=find_antonyms(wordnet), top_phrases=frozenset({"art maps"}))
    made = {one.code: one for one in make_variants(paper, "1", CODES, settings)}
    assert made["T_ARepADJ"] == Variant("T_ARepADJ", "Trees", paper.abstract.text.replace("deep", "shallow"))
    assert made["T_ADelTopNNPH"] == Variant(
        "T_ADelTopNNPH", "Trees", paper.abstract.text.replace(" art maps.", " .")
    )


def test_the_published_white_space_is_left_out_where_it_would_grow_beyond_measure(wordnet: Path) -> None:
    paper = find_analyser().analyse("Trees", "deep " * 20_000)
    settings = Settings(1, "long", antonyms=find_antonyms(wordnet), top_phrases=frozenset())
    (made,) = make_variants(paper, "1", ["T_A_WS"], replace(settings, published=True))
    assert made == Absent("T_A_WS", "too long as published")
    (made,) = make_variants(paper, "1", ["T_A_WS"], settings)
    assert isinstance(made, Variant)
