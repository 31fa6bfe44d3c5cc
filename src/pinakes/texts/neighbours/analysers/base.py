"""What an analyser is, and an analysed text put together of tagged sentences."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pinakes.texts.neighbours.analysis import AnalysedPaper, AnalysedText


@dataclass(frozen=True, slots=True)
class Analyser:
    """What finds sentences, tokens, tags and noun phrases; it can be sent to another process.

    Attributes:
        name: as it is asked for: textblob.
        producer: all that its results depend on, in one word group: textblob-0.20.1+punkt-3.10.4.
        analyse_text: gives an analysed text; a function of a module.
    """

    name: str
    producer: str
    analyse_text: Callable[[str], AnalysedText]

    def analyse(self, title: str | None, abstract: str | None) -> AnalysedPaper:
        """What is found in a paper's texts."""
        texts = (None if text is None else self.analyse_text(text) for text in (title, abstract))
        return AnalysedPaper(*texts)


class Sentence(NamedTuple):
    """A sentence with its tokens.

    Attributes:
        starts, ends: of each token, in characters of the text.
        tags: a letter a token, as in `TAGS`.
        phrases: (first token, token after the last) of each noun phrase, counted from the sentence's start.
        altered: token, counted likewise -> what NLTK's tokeniser makes of it.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    tags: str
    phrases: Sequence[tuple[int, int]]
    altered: dict[int, str]


def join_sentences(
    text: str, sentences: Iterable[Sentence], tag: Callable[[list[str]], str] | None = None
) -> AnalysedText:
    """The analysed text; a sentence without tokens is none.

    `tag` gives the tags of all tokens in one list; without it they are those of the sentences.
    """
    starts: list[int] = []
    ends: list[int] = []
    spans: list[tuple[int, int]] = []
    phrases: list[tuple[int, int]] = []
    altered: dict[int, str] = {}
    tags: list[str] = []
    for sentence in sentences:
        if not sentence.tags:
            continue
        first = len(starts)
        starts += sentence.starts
        ends += sentence.ends
        tags.append(sentence.tags)
        spans.append((first, len(starts)))
        phrases += [(first + start, first + end) for start, end in sentence.phrases]
        altered |= {first + position: form for position, form in sentence.altered.items()}
    words = (
        [text[start:end] for start, end in zip(starts, ends, strict=True)] if tag and len(spans) > 1 else []
    )
    list_tags = tag(words) if tag and words else ""
    return AnalysedText(text, starts, ends, "".join(tags), spans, phrases, list_tags, altered)
