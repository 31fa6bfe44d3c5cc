"""What an analyser finds in a paper's title and abstract, and its compact JSON.

The JSON holds offsets and tags, never the text itself: it is read together with the text that it was made of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Any, Final

import orjson

from pinakes.errors import InputError

TAGS: Final = {
    "NOUN": "N",
    "VERB": "V",
    "ADJ": "A",
    "ADV": "R",
    "PRON": "P",
    "DET": "D",
    "NUM": "#",
    "ADP": "I",
    "CONJ": "C",
    "PRT": "T",
    ".": ".",
    "X": "X",
}
"""the universal tagset, and the letter that stands for each tag in `AnalysedText.tags`"""


@dataclass(frozen=True)
class AnalysedText:
    """A text with its tokens.

    Attributes:
        text: as it is in the database; all offsets are of its characters.
        starts, ends: of each token. Tokens hold all characters that are not white space.
        tags: a letter a token, as in `TAGS`, found sentence by sentence.
        sentences: (first token, token after the last) of each.
        phrases: (first token, token after the last) of each noun phrase, in their order.
        list_tags: a letter a token, found in the list of all tokens at once, as the published code does.
        altered: what NLTK's tokeniser makes of a token where this differs: its quotation marks.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    tags: str
    sentences: Sequence[tuple[int, int]]
    phrases: Sequence[tuple[int, int]] = ()
    list_tags: str = ""
    altered: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.list_tags:
            object.__setattr__(self, "list_tags", self.tags)

    @cached_property
    def words(self) -> list[str]:
        """The tokens as they stand in the text."""
        text = self.text
        return [text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]

    @cached_property
    def published_words(self) -> list[str]:
        """The tokens as NLTK's tokeniser gives them."""
        if not self.altered:
            return self.words
        words = list(self.words)
        for position, form in self.altered.items():
            words[position] = form
        return words

    @cached_property
    def lower_words(self) -> list[str]:
        """`published_words` in lower case."""
        return " ".join(self.published_words).lower().split(" ") if self.tags else []

    @cached_property
    def positions(self) -> dict[str, list[int]]:
        """Letter of a tag -> the tokens that have it, ascending."""
        found: dict[str, list[int]] = {}
        for position, letter in enumerate(self.tags):
            found.setdefault(letter, []).append(position)
        return found

    @cached_property
    def phrase_texts(self) -> list[str]:
        """Each noun phrase in lower case, its tokens joined by one space; twice where it occurs twice."""
        words = self.lower_words
        return [" ".join(words[first:last]) for first, last in self.phrases]

    @cached_property
    def sentence_spans(self) -> list[tuple[int, int]]:
        """Where each sentence starts and ends, in characters."""
        return [(self.starts[first], self.ends[last - 1]) for first, last in self.sentences]


@dataclass(frozen=True, slots=True)
class AnalysedPaper:
    """Title and abstract of a paper, analysed; None where the paper has none."""

    title: AnalysedText | None
    abstract: AnalysedText | None


def write_json(paper: AnalysedPaper) -> str:
    """The analysis without its texts, as `read_json` takes it."""
    parts = {"title": paper.title, "abstract": paper.abstract}
    return orjson.dumps({name: part and _pack(part) for name, part in parts.items()}).decode()


def _pack(text: AnalysedText) -> dict[str, Any]:
    edges = list(chain.from_iterable(zip(text.starts, text.ends, strict=True)))
    packed: dict[str, Any] = {
        "tokens": [end - start for start, end in pairwise([0, *edges])],
        "tags": text.tags,
        "sentences": [last - first for first, last in text.sentences],
        "phrases": list(chain.from_iterable(text.phrases)),
    }
    if text.list_tags != text.tags:
        packed["list_tags"] = text.list_tags
    if text.altered:
        packed["altered"] = {str(position): form for position, form in text.altered.items()}
    return packed


def read_json(analysis: str | bytes, title: str | None, abstract: str | None) -> AnalysedPaper:
    """The analysis of these texts, from what `write_json` has made of it.

    Raises:
        InputError: the analysis is of other texts.
    """
    packed = orjson.loads(analysis)
    return AnalysedPaper(_unpack(packed["title"], title), _unpack(packed["abstract"], abstract))


def _unpack(packed: Mapping[str, Any] | None, text: str | None) -> AnalysedText | None:
    if packed is None and text is None:
        return None
    if packed is None or text is None:
        raise _other_text()
    edges = list(accumulate(packed["tokens"]))
    if edges and edges[-1] > len(text):
        raise _other_text()
    return AnalysedText(
        text,
        edges[::2],
        edges[1::2],
        packed["tags"],
        list(pairwise(accumulate(packed["sentences"], initial=0))),
        list(zip(packed["phrases"][::2], packed["phrases"][1::2], strict=True)),
        packed.get("list_tags", ""),
        {int(position): form for position, form in packed.get("altered", {}).items()},
    )


def _other_text() -> InputError:
    return InputError(
        "an analysis is not of this text; delete the paper's row of text_analyses and derive again."
    )
