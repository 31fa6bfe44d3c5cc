"""What each code does to a text, as the paper means it: what the code names changes, and nothing else.

Tokens are found by their offsets, and keep their tags of the one analysis, sentence by sentence.
"""

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

from pinakes.texts.neighbours.analysis import TAGS, AnalysedText
from pinakes.texts.neighbours.material import Material, Transformation
from pinakes.texts.neighbours.phrases import find_phrases
from pinakes.texts.neighbours.spans import delete_spans, replace_spans

NOUN: Final = TAGS["NOUN"]
DELETED_SHARE: Final = 0.3
"""of all tokens, by T_ADelRand"""
_WHITE_SPACE: Final = re.compile(r"\s")


def rotate(text: AnalysedText, material: Material) -> str:
    """The second half of the sentences, then the first; the longer half comes first."""
    order = range(len(text.sentences))
    middle = len(order) // 2
    return _reorder(text, [*order[middle:], *order[:middle]])


def shuffle(text: AnalysedText, material: Material) -> str:
    """The sentences in random order."""
    order = list(range(len(text.sentences)))
    material.random.shuffle(order)
    return _reorder(text, order)


def sort_ascending(text: AnalysedText, material: Material) -> str:
    """The shortest sentence first, in tokens; those of one length stay as they follow each other."""
    return _reorder(text, order_by_length(text))


def sort_descending(text: AnalysedText, material: Material) -> str:
    """The longest sentence first, in tokens; those of one length stay as they follow each other."""
    return _reorder(text, order_by_length(text, reverse=True))


def order_by_length(text: AnalysedText, *, reverse: bool = False) -> list[int]:
    """The numbers of the sentences, sorted stably by their number of tokens."""
    lengths = [last - first for first, last in text.sentences]
    return sorted(range(len(lengths)), key=lengths.__getitem__, reverse=reverse)


def _reorder(text: AnalysedText, order: Sequence[int]) -> str:
    """The sentences in the order; what is between two sentences stays in its place."""
    spans = text.sentence_spans
    moved = (text.text[start:end] for start, end in (spans[number] for number in order))
    return replace_spans(text.text, ((*span, sentence) for span, sentence in zip(spans, moved, strict=True)))


def delete_third(number: int) -> Transformation:
    """A function that deletes the first, second or third third of the sentences, rounded down."""

    def delete(text: AnalysedText, material: Material) -> str | None:
        third = len(text.sentences) // 3
        return (
            delete_spans(text.text, text.sentence_spans[(number - 1) * third : number * third])
            if third
            else None
        )

    return delete


def delete_random(text: AnalysedText, material: Material) -> str:
    """Three in ten tokens, rounded down, are deleted where they stand."""
    count = len(text.starts)
    chosen = sorted(material.random.sample(range(count), int(DELETED_SHARE * count)))
    return _delete_tokens(text, chosen)


def delete_tagged(tag: str) -> Transformation:
    """A function that deletes the tokens of a tag."""
    letter = TAGS[tag]

    def delete(text: AnalysedText, material: Material) -> str | None:
        return _delete_tokens(text, text.positions[letter]) if letter in text.positions else None

    return delete


def keep_nouns(text: AnalysedText, material: Material) -> str | None:
    """Every token that is no noun is deleted."""
    if NOUN not in text.tags:
        return None
    return _delete_tokens(text, _list_others(text))


def _list_others(text: AnalysedText) -> list[int]:
    return [position for position, tag in enumerate(text.tags) if tag != NOUN]


def delete_phrases(text: AnalysedText, material: Material) -> str | None:
    """Each of the text's noun phrases is deleted wherever its tokens stand, whatever their case."""
    return _delete_tokens(text, find_phrases(text, set(text.phrase_texts))) if text.phrases else None


def delete_top_phrases(text: AnalysedText, material: Material) -> str | None:
    """As `delete_phrases`, of the phrases that are among the more important half of the corpus's."""
    phrases = material.top_phrases.intersection(text.phrase_texts)
    return _delete_tokens(text, find_phrases(text, phrases)) if phrases else None


def _delete_tokens(text: AnalysedText, positions: Sequence[int]) -> str:
    starts, ends = text.starts, text.ends
    return delete_spans(text.text, [(starts[position], ends[position]) for position in positions])


def upper_nouns(text: AnalysedText, material: Material) -> str | None:
    """Nouns in upper case."""
    return _upper(text, text.positions.get(NOUN, []))


def upper_others(text: AnalysedText, material: Material) -> str | None:
    """All that is no noun in upper case."""
    return _upper(text, _list_others(text))


def _upper(text: AnalysedText, positions: Sequence[int]) -> str | None:
    changed = ((text.starts[i], text.ends[i], text.words[i].upper()) for i in positions)
    return replace_spans(text.text, changed) if positions else None


def shorten_nouns(text: AnalysedText, material: Material) -> str:
    """Nouns of four or five characters lose one, longer ones two, at random."""
    nouns = text.positions.get(NOUN, [])
    changed = ((text.starts[i], text.ends[i], shorten(text.words[i], material.random)) for i in nouns)
    return replace_spans(text.text, changed)


def shorten(word: str, random: Random) -> str:
    """The word without one character, or two of more than five; of up to three characters, the word."""
    lost = 0 if len(word) <= 3 else 1 if len(word) <= 5 else 2
    for _ in range(lost):
        position = random.randrange(len(word))
        word = word[:position] + word[position + 1 :]
    return word


def repeat_noun(text: AnalysedText, material: Material) -> str | None:
    """One noun, drawn at random, is there twice."""
    nouns = text.positions.get(NOUN, [])
    if not nouns:
        return None
    drawn = material.random.choice(nouns)
    return replace_spans(text.text, [(text.ends[drawn], text.ends[drawn], f" {text.words[drawn]}")])


def list_frequent_nouns(text: AnalysedText, material: Material) -> str | None:
    """The more frequent half, rounded down, of the distinct nouns; of equally frequent ones the first."""
    return join_frequent([text.words[i] for i in text.positions.get(NOUN, [])]) or None


def join_frequent(nouns: Sequence[str]) -> str:
    """As `list_frequent_nouns`, of these nouns."""
    counts = Counter(nouns)
    return " ".join(noun for noun, _ in counts.most_common(len(counts) // 2))


def replace_adjectives(text: AnalysedText, material: Material) -> str | None:
    """Every adjective that has an antonym is replaced by it."""
    adjectives = text.positions.get(TAGS["ADJ"], [])
    found = ((i, material.find_antonym(text.words[i])) for i in adjectives)
    changed = [(text.starts[i], text.ends[i], antonym.replace("_", " ")) for i, antonym in found if antonym]
    return replace_spans(text.text, changed) if changed else None


def widen_white_space(text: AnalysedText, material: Material) -> str:
    """Half of the white-space characters, rounded down, become two to five spaces each."""
    spaces = [found.start() for found in _WHITE_SPACE.finditer(text.text)]
    chosen = sorted(material.random.sample(spaces, len(spaces) // 2))
    return replace_spans(text.text, ((i, i + 1, " " * material.random.randint(2, 5)) for i in chosen))
