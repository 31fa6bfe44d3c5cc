"""A document as numbered sentences, and what is chosen of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from pinakes.indexers.punkt import split_sentences

Splitter = Literal["punkt", "source"]
SPLITTERS: Final = ("punkt", "source")
"""who says where a sentence ends: our splitter, or the source; of a text file its lines are the source's"""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document.

    Attributes:
        number: its place in the document, from 1.
        section_number, position: its section, 0 for an abstract or what stands above the first heading; its
            place there, from 1.
        section: the section's title.
        text: with its white space collapsed.
    """

    number: int
    section_number: int
    position: int
    section: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences, and what they are of.

    Attributes:
        name: the paper's id in its source, or the file's name.
        note: what a reader must know, as that the full text is missing; empty: nothing.
    """

    name: str
    title: str | None
    sentences: tuple[Sentence, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of a summary, with its score; higher is more relevant."""

    sentence: Sentence
    score: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The best sentences of a document, in its order.

    Attributes:
        query: what was asked with.
        scorer: what scored them.
        notes: what a reader must know: the abstract stands for the full text, fewer sentences than asked for.
    """

    document: Document
    query: str
    scorer: str
    splitter: Splitter
    sentences: tuple[ScoredSentence, ...]
    notes: tuple[str, ...]


Part = tuple[int, str | None, list[str]]
"""section number, title, sentences"""


def split_text(text: str) -> list[str]:
    """The sentences of a text, none of them empty.

    >>> split_text("See Fig. 3 of Li et al. today. It ends. ")
    ['See Fig. 3 of Li et al. today.', 'It ends.']
    """
    return [text[start:end] for start, end in split_sentences(text)]


def number_sentences(parts: Iterable[Part]) -> Iterator[Sentence]:
    """The sentences that are not white space alone, counted over the document and in each section."""
    number, within, last = 0, 0, None
    for section_number, title, texts in parts:
        within, last = (within if section_number == last else 0), section_number
        for text in texts:
            collapsed = " ".join(text.split())
            if collapsed:
                number, within = number + 1, within + 1
                yield Sentence(number, section_number, within, title, collapsed)
