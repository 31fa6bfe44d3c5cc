"""NLTK's sentences and tags and TextBlob's noun phrases, as the paper used them, where their data are."""

from functools import lru_cache
from importlib.metadata import version
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.texts.neighbours.analysers.base import Analyser, Sentence, join_sentences
from pinakes.texts.neighbours.analysers.noun_phrases import find_noun_phrases, normalise_brown
from pinakes.texts.neighbours.analysers.penn import write_letters
from pinakes.texts.neighbours.analysers.words import split_words
from pinakes.texts.neighbours.analysis import AnalysedText

DATA: Final = {
    "punkt_tab": "tokenizers/punkt_tab/english/",
    "averaged_perceptron_tagger_eng": "taggers/averaged_perceptron_tagger_eng/",
    "brown": "corpora/brown/",
}
"""what NLTK's downloader calls it -> where it lies in NLTK's data"""


def make_analyser() -> Analyser:
    """The analyser, named with its parts' versions; `InputError` where their data are missing."""
    import nltk.data

    for name, path in DATA.items():
        try:
            nltk.data.find(path)
        except LookupError as error:
            raise InputError(
                f"the analyser nltk needs NLTK's data {name}, which is not installed: "
                f"python -m nltk.downloader {' '.join(DATA)}; or take textblob, which needs none."
            ) from error
    return Analyser("nltk", f"nltk-{version('nltk')}+textblob-{version('textblob')}", analyse_text)


def analyse_text(text: str) -> AnalysedText:
    """Sentences by Punkt's English model, tags by the perceptron, noun phrases by TextBlob and Brown."""
    sentences = (_analyse_sentence(text, start, end) for start, end in _make_splitter().span_tokenize(text))
    return join_sentences(text, sentences, lambda words: write_letters(_tag(words)))


def _analyse_sentence(text: str, start: int, end: int) -> Sentence:
    starts, ends, altered = split_words(text[start:end], start)
    words = [text[first:last] for first, last in zip(starts, ends, strict=True)]
    written = [altered.get(position, word) for position, word in enumerate(words)]
    phrases = find_noun_phrases([normalise_brown(tag) for _, tag in _make_phrase_tagger().tag(written)])
    return Sentence(starts, ends, write_letters(_tag(written)), phrases, altered)


def _tag(words: list[str]) -> list[str]:
    return [tag for _, tag in _make_tagger().tag(words)]


@lru_cache(maxsize=1)
def _make_splitter() -> Any:
    from nltk.tokenize import PunktTokenizer

    return PunktTokenizer("english")


@lru_cache(maxsize=1)
def _make_tagger() -> Any:
    from nltk.tag import PerceptronTagger

    return PerceptronTagger()


@lru_cache(maxsize=1)
def _make_phrase_tagger() -> Any:
    """What TextBlob's noun-phrase extractor tags with, trained on the Brown corpus."""
    from textblob.np_extractors import FastNPExtractor

    extractor = FastNPExtractor()
    extractor.train()
    return extractor.tagger
