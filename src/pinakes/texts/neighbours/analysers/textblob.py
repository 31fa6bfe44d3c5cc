"""TextBlob's own tagger, which needs no data: a lexicon, and the endings of words that are not in it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from pinakes.texts.neighbours.analysers.base import Analyser, Sentence, join_sentences
from pinakes.texts.neighbours.analysers.noun_phrases import find_noun_phrases
from pinakes.texts.neighbours.analysers.penn import write_letters
from pinakes.texts.neighbours.analysers.sentences import split_sentences
from pinakes.texts.neighbours.analysers.words import split_words
from pinakes.texts.neighbours.analysis import AnalysedText


def make_analyser() -> Analyser:
    """The analyser, named with the versions of its parts."""
    return Analyser("textblob", f"textblob-{version('textblob')}+punkt-{version('nltk')}", analyse_text)


def analyse_text(text: str) -> AnalysedText:
    """Sentences by Punkt without data, tokens by NLTK's tokeniser, tags by TextBlob's lexicon.

    NLTK's tokeniser knows the typewriter's apostrophe alone, and would cut "don’t" into don, ’ and t.
    """
    plain = text.replace("’", "'")
    sentences = (_analyse_sentence(plain, start, end) for start, end in split_sentences(plain))
    found = join_sentences(plain, sentences, lambda words: write_letters(_tag(words)))
    return replace(found, text=text)


def _analyse_sentence(text: str, start: int, end: int) -> Sentence:
    starts, ends, altered = split_words(text[start:end], start)
    tags = _tag([text[first:last] for first, last in zip(starts, ends, strict=True)])
    return Sentence(starts, ends, write_letters(tags), find_noun_phrases(tags), altered)


def _tag(words: Sequence[str]) -> list[str]:
    """Penn tags.

    A first word that the lexicon does not have is tagged in lower case: its capital does not make it a name.
    What has neither a letter nor a digit is punctuation, where TextBlob sees a noun.
    """
    from textblob.en import parser

    if not words:
        return []
    lexicon = _read_lexicon()
    first = words[0] if words[0] in lexicon or not words[0].istitle() else words[0].lower()
    tagged = parser.find_tags([first, *words[1:]], lexicon=lexicon)
    return [tag if _has_letter(word) else "." for word, tag in tagged]


@lru_cache(maxsize=1)
def _read_lexicon() -> dict[str, str]:
    """TextBlob's lexicon as a plain dictionary; its own is slow and leaves its file open."""
    from textblob.en import lexicon

    with Path(lexicon.path).open(encoding="utf-8") as file:
        lines = (line.strip() for line in file)
        entries = (line.split(" ") for line in lines if line and not line.startswith(";;;"))
        return {word: tag for word, tag, *_ in entries}


def _has_letter(word: str) -> bool:
    return word.isalnum() or any(character.isalnum() for character in word)
