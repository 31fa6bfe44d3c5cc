"""Analysers find sentences, tokens, tags and noun phrases; a missing one says what to install."""

import builtins
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from pinakes.errors import InputError, UnknownNameError
from pinakes.texts.neighbours.analysers import ANALYSERS, find_analyser, nltk, spacy
from pinakes.texts.neighbours.analysers.base import Analyser
from pinakes.texts.neighbours.analysers.noun_phrases import LONGEST, find_noun_phrases
from pinakes.texts.neighbours.analysers.sentences import split_sentences
from pinakes.texts.neighbours.analysers.textblob import analyse_text
from pinakes.texts.neighbours.analysers.words import split_words
from tests.unit.texts.table_7 import ABSTRACT, PAPER, TITLE

QUOTED = (
    "He said \"so\" and 'no'.",
    '"Is it?" we ask.',
    "''Twice'' quoted, ``both'' ways.",
    'A 5" disk (a "disc").',
    "“Curly” and «angled» ones.",
    "can't won't they'll it's gonna d'ye 'tis",
    "Costs are $3.88, 3,36 euros -- or 100%!",
    "Rock 'n' roll... and more...",
    '"',
    "''",
    "a\"b''c``d",
)


def tokenise(text: str) -> list[str]:
    starts, ends, altered = split_words(text)
    return [
        altered.get(at, text[start:end]) for at, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


@pytest.mark.parametrize("text", QUOTED)
def test_tokens_are_those_of_nltk(text: str) -> None:
    assert tokenise(text) == NLTKWordTokenizer().tokenize(text)


@given(st.text(alphabet=st.sampled_from("ab A.,'\"`-()[]$%!?sStT1\n\t\xa0“”’é中…"), max_size=30))
@settings(max_examples=300)
def test_tokens_are_those_of_nltk_in_any_text(text: str) -> None:
    assert tokenise(text) == NLTKWordTokenizer().tokenize(text)


@given(st.text(max_size=40))
@settings(max_examples=200)
def test_tokens_and_sentences_hold_all_that_is_no_white_space(text: str) -> None:
    found = analyse_text(text)
    assert "".join(found.words) == "".join(text.split())
    assert len(found.tags) == len(found.list_tags) == len(found.starts)
    edges = [edge for span in zip(found.starts, found.ends, strict=True) for edge in span]
    assert edges == sorted(edges)
    assert [first for first, _ in found.sentences] == [0, *(last for _, last in found.sentences)][
        : len(found.sentences)
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See Fig. 3 of Li et al. (cf. BERT). So.", ["See Fig. 3 of Li et al. (cf. BERT).", "So."]),
        ("We parse trees, graphs, etc. We show more.", ["We parse trees, graphs, etc.", "We show more."]),
        ("It gains 0.5 vs. BERT. (It is fast.) So.", ["It gains 0.5 vs. BERT.", "(It is fast.)", "So."]),
        ("We use T. Mikolov's code. It runs.", ["We use T. Mikolov's code.", "It runs."]),
        ("我们提出方法。它很快。", ["我们提出方法。它很快。"]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences_end_where_abbreviations_do_not(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split_sentences(text) if end > start] == sentences


def test_textblob_tags_sentence_by_sentence() -> None:
    found = analyse_text(
        "Contextual models often learn two tasks. They're 5% of the small ones [1] — and “good”."
    )
    assert list(zip(found.words, found.tags, strict=True)) == [
        ("Contextual", "A"),
        ("models", "N"),
        ("often", "R"),
        ("learn", "V"),
        ("two", "#"),
        ("tasks", "N"),
        (".", "."),
        ("They", "P"),
        ("'re", "V"),
        ("5", "#"),
        ("%", "."),
        ("of", "I"),
        ("the", "D"),
        ("small", "A"),
        ("ones", "N"),
        ("[", "."),
        ("1", "#"),
        ("]", "."),
        ("—", "."),
        ("and", "C"),
        ("“", "."),
        ("good", "A"),
        ("”", "."),
        (".", "."),
    ]
    assert found.phrase_texts == ["contextual models", "small ones"]


def test_the_list_of_all_tokens_can_have_other_tags() -> None:
    found = analyse_text("We go. Contextual it is.")
    assert (found.tags, found.list_tags) == ("PV.APV.", "PV.NPV.")


@pytest.mark.parametrize(
    ("tags", "phrases"),
    [
        ("NN", []),
        ("NNP", [(0, 1)]),
        ("NN NNS", [(0, 2)]),
        ("JJ JJ NN IN NNP NNPS", [(0, 3), (4, 6)]),
        ("JJ VB NN", []),
        ("NNP NN", [(0, 1)]),
        ("JJS NN NN", [(0, 3)]),
        ("", []),
    ],
)
def test_noun_phrases_follow_textblobs_rules(tags: str, phrases: list[tuple[int, int]]) -> None:
    assert find_noun_phrases(tags.split()) == phrases


def test_a_long_run_of_nouns_is_cut() -> None:
    assert find_noun_phrases(["NN"] * (2 * LONGEST + 1)) == [(0, 30), (30, 60), (60, 61)]


def test_the_default_names_the_versions_of_its_parts() -> None:
    analyser = find_analyser()
    assert analyser.name == "textblob"
    assert analyser.producer.startswith("textblob-")
    assert "+punkt-" in analyser.producer
    assert " " not in analyser.producer
    given = pickle.loads(pickle.dumps(analyser))
    assert given.analyse("Deep trees", None) == analyser.analyse("Deep trees", None)


def test_an_unknown_analyser_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="textblob") as refused:
        find_analyser("stanza")
    assert all(name in str(refused.value) for name in ANALYSERS)


def test_nltk_without_its_data_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data as data

    monkeypatch.setattr(data, "path", [])
    with pytest.raises(
        InputError, match=r"python -m nltk\.downloader punkt_tab averaged_perceptron_tagger_eng brown"
    ):
        find_analyser("nltk")


def test_spacy_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def refuse(name: str, *given: Any, **more: Any) -> Any:
        if name == "spacy":
            raise ImportError(name)
        return imported(name, *given, **more)

    spacy._load_model.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match="python -m spacy download en_core_web_sm"):
        find_analyser("spacy")


class ToySplitter:
    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        return [(0, text.index(".") + 1), (text.index(".") + 2, len(text))]


class ToyTagger:
    def tag(self, words: list[str]) -> list[tuple[str, str]]:
        known = {"``": "``", "''": "''", ".": ".", "It": "PRP", "runs": "VBZ"}
        return [(word, known.get(word, "NNP" if word[0].isupper() else "NNS")) for word in words]


def test_nltk_tags_the_tokens_as_it_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk, "_make_splitter", ToySplitter)
    monkeypatch.setattr(nltk, "_make_tagger", ToyTagger)
    monkeypatch.setattr(nltk, "_make_phrase_tagger", ToyTagger)
    found = Analyser("nltk", "nltk-0", nltk.analyse_text).analyse(None, '"Deep" trees. It runs')
    assert found.title is None
    assert found.abstract is not None
    assert (found.abstract.tags, found.abstract.phrase_texts) == (".N.N.PV", ["deep"])
    assert found.abstract.altered == {0: "``", 2: "''"}


class ToyToken:
    def __init__(self, idx: int, word: str, pos: str, tag: str) -> None:
        self.idx, self.word, self.pos_, self.tag_ = idx, word, pos, tag
        self.is_space = pos == "SPACE"

    def __len__(self) -> int:
        return len(self.word)


class ToyDocument:
    sents = (
        [
            ToyToken(0, "Deep", "ADJ", "JJ"),
            ToyToken(5, "trees", "PROPN", "NNPS"),
            ToyToken(11, "\n", "SPACE", "_SP"),
            ToyToken(12, "can", "AUX", "MD"),
            ToyToken(15, "n't", "PART", "RB"),
            ToyToken(19, "if", "SCONJ", "IN"),
            ToyToken(21, ".", "PUNCT", "."),
        ],
    )


def test_spacys_tags_become_those_of_the_universal_tagset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy, "_load_model", lambda: lambda text: ToyDocument())
    found = Analyser("spacy", "spacy-0", spacy.analyse_text).analyse("Deep trees \ncan't if.", None).title
    assert found is not None
    assert (found.tags, found.starts, found.ends) == (
        "ANVTI.",
        [0, 5, 12, 15, 19, 21],
        [4, 10, 15, 18, 21, 22],
    )
    assert found.phrase_texts == ["trees"]


def is_nltk_there() -> bool:
    try:
        find_analyser("nltk")
    except InputError:
        return False
    return True


@pytest.mark.skipif(not is_nltk_there(), reason="NLTK's data are not installed")
def test_nltk_and_textblob_find_what_table_7_shows() -> None:
    found = find_analyser("nltk").analyse(TITLE, ABSTRACT)
    assert found.abstract == PAPER.abstract
    assert found.title is not None
    assert found.title.tags == "NNNINN"


def test_a_typographic_apostrophe_cuts_words_as_the_typewriters_does() -> None:
    plain, curly = (
        find_analyser("textblob").analyse(None, f"We don{mark}t read the user{mark}s text.").abstract
        for mark in "'’"
    )
    assert plain is not None
    assert curly is not None
    assert curly.text == "We don’t read the user’s text."
    assert (curly.starts, curly.ends, curly.tags) == (plain.starts, plain.ends, plain.tags)
    words = [curly.text[start:end] for start, end in zip(curly.starts, curly.ends, strict=True)]
    assert words == ["We", "do", "n’t", "read", "the", "user", "’s", "text", "."]
