"""What each code does to a text in the code that its authors published, where this differs from the paper.

Tokens are joined by one space, what is deleted are the first equal characters wherever they are, noun phrases
are found in lower case alone, and the white-space code uses its positions in random order.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from pinakes.texts.neighbours.analysis import TAGS, AnalysedText
from pinakes.texts.neighbours.material import Material, Transformation
from pinakes.texts.neighbours.transformations import (
    DELETED_SHARE,
    NOUN,
    join_frequent,
    order_by_length,
    shorten,
)

LONGEST: Final = 10_000_000
"""characters of a text that the white-space code repeats again and again"""
_ADJECTIVE: Final = TAGS["ADJ"]


def rotate(text: AnalysedText, material: Material) -> str:
    """The second half of the sentences, then the first; two spaces become one, once."""
    sentences = _list_sentences(text)
    middle = len(sentences) // 2
    return (" ".join(sentences[middle:]) + " " + " ".join(sentences[:middle])).replace("  ", " ")


def shuffle(text: AnalysedText, material: Material) -> str:
    """The sentences in random order."""
    sentences = _list_sentences(text)
    material.random.shuffle(sentences)
    return " ".join(sentences)


def sort_ascending(text: AnalysedText, material: Material) -> str:
    """The shortest sentence first, in tokens."""
    sentences = _list_sentences(text)
    return " ".join(sentences[number] for number in order_by_length(text))


def sort_descending(text: AnalysedText, material: Material) -> str:
    """The longest sentence first, in tokens."""
    sentences = _list_sentences(text)
    return " ".join(sentences[number] for number in order_by_length(text, reverse=True))


def delete_third(number: int) -> Transformation:
    """A function that deletes the first, second or third third of the sentences, rounded down."""

    def delete(text: AnalysedText, material: Material) -> str | None:
        sentences = _list_sentences(text)
        third = len(sentences) // 3
        left = sentences[: (number - 1) * third] + sentences[number * third :]
        return " ".join(left) if third else None

    return delete


def _list_sentences(text: AnalysedText) -> list[str]:
    return [text.text[start:end] for start, end in text.sentence_spans]


def delete_random(text: AnalysedText, material: Material) -> str:
    """For each of three in ten tokens, drawn at random, the first equal characters are deleted."""
    words = text.published_words
    left = text.text
    for word in material.random.sample(words, int(DELETED_SHARE * len(words))):
        left = left.replace(word, "", 1)
    return left


def delete_tagged(tag: str) -> Transformation:
    """A function that deletes the tokens that have a tag in the list of all tokens.

    Whether there is such a token is asked of the tags that were found sentence by sentence.
    """
    letter = TAGS[tag]

    def delete(text: AnalysedText, material: Material) -> str | None:
        return _join_others(text, letter) if letter in text.tags else None

    return delete


def delete_title_tagged(tag: str) -> Transformation:
    """As `delete_tagged`, where both tags are those of the list of all tokens."""
    letter = TAGS[tag]

    def delete(text: AnalysedText, material: Material) -> str | None:
        return _join_others(text, letter) if letter in text.list_tags else None

    return delete


def _join_others(text: AnalysedText, letter: str) -> str:
    return " ".join(word for word, tag in _pair(text) if tag != letter)


def _pair(text: AnalysedText) -> Iterator[tuple[str, str]]:
    return zip(text.published_words, text.list_tags, strict=True)


def keep_nouns(text: AnalysedText, material: Material) -> str | None:
    """The nouns, joined."""
    return " ".join(list_nouns(text)) or None


def list_nouns(text: AnalysedText) -> list[str]:
    """The tokens that are nouns in the list of all tokens."""
    return [word for word, tag in _pair(text) if tag == NOUN]


def delete_phrases(text: AnalysedText, material: Material) -> str | None:
    """Each noun phrase, in lower case, is deleted wherever its characters are."""
    return _delete_all(text.text, text.phrase_texts)


def delete_top_phrases(text: AnalysedText, material: Material) -> str | None:
    """As `delete_phrases`, of the phrases that are among the more important half of the corpus's."""
    return _delete_all(text.text, [phrase for phrase in text.phrase_texts if phrase in material.top_phrases])


def _delete_all(text: str, phrases: Sequence[str]) -> str | None:
    left = text
    for phrase in phrases:
        left = left.replace(phrase, "")
    return left if left != text else None


def upper_nouns(text: AnalysedText, material: Material) -> str | None:
    """The tokens joined, nouns in upper case."""
    if NOUN not in text.list_tags:
        return None
    return " ".join(word.upper() if tag == NOUN else word for word, tag in _pair(text))


def upper_others(text: AnalysedText, material: Material) -> str | None:
    """The tokens joined, all that is no noun in upper case."""
    if not text.list_tags.strip(NOUN):
        return None
    return " ".join(word if tag == NOUN else word.upper() for word, tag in _pair(text))


def shorten_nouns(text: AnalysedText, material: Material) -> str:
    """The tokens joined; nouns of four or five characters lose one, longer ones two, at random."""
    return " ".join(shorten(word, material.random) if tag == NOUN else word for word, tag in _pair(text))


def repeat_noun(text: AnalysedText, material: Material) -> str | None:
    """The tokens joined; one noun is drawn at random, and every token that equals it is there twice."""
    nouns = list_nouns(text)
    if not nouns:
        return None
    drawn = material.random.choice(nouns)
    return " ".join(f"{word} {word}" if word == drawn else word for word in text.published_words)


def list_frequent_nouns(text: AnalysedText, material: Material) -> str | None:
    """The more frequent half, rounded down, of the distinct nouns; nothing of a single one."""
    nouns = list_nouns(text)
    return join_frequent(nouns) if nouns else None


def replace_adjectives(text: AnalysedText, material: Material) -> str | None:
    """The tokens joined, every adjective that has an antonym replaced by it."""
    antonyms = [material.find_antonym(word) if tag == _ADJECTIVE else None for word, tag in _pair(text)]
    if not any(antonyms):
        return None
    return " ".join(antonym or word for antonym, word in zip(antonyms, text.published_words, strict=True))


def widen_white_space(text: AnalysedText, material: Material) -> str | None:
    """Half of the spaces, rounded down, become two to five each, in random order.

    The text goes on behind each space that was used: parts are there many times, parts are lost, and the
    result grows with the square of the text. None where it has more than `LONGEST` characters.
    """
    spaces = [found.start() for found in re.finditer(" ", text.text)]
    chosen = material.random.sample(spaces, len(spaces) // 2)
    parts = list(pairwise([-1, *chosen, len(text.text)]))
    if sum(max(0, end - start - 1) for start, end in parts) > LONGEST:
        return None
    pieces: list[str] = []
    for start, end in parts[:-1]:
        pieces += (text.text[start + 1 : end], " " * material.random.randint(2, 5))
    return "".join((*pieces, text.text[parts[-1][0] + 1 :]))
