"""The analyser that both lexical indexes share: text in, index terms out.

Runs of letters and digits are tokens (a hyphen, a dot and an apostrophe separate), lower-cased, without
stop words, ASCII-folded, stemmed with Snowball. Measured with BM25 on SciFact, Cranfield and CSFCube:
scikit-learn's 318 English stop words gave a little more than Lucene's 33, and no stemming gave less, on each;
tokens that keep their hyphens gave less on the first two. `named_analysis("lucene")` is what others compare
with: Lucene's stop words and no token of one character.
"""

import functools
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pinakes.errors import UnknownNameError

if TYPE_CHECKING:  # scoring reads the types of rankings and needs no index
    import tantivy

LONGEST_TOKEN_BYTES: Final = 255

StopList = Literal["scikit-learn", "lucene", "none"]
Stemmer = Literal["english", "none"]

SCIKIT_LEARN_STOP_WORDS: Final = Path(__file__).with_name("english_stop_words.txt")

LUCENE_STOP_WORDS: Final = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these "
    "they this to was will with"
)
"""Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET"""

WHOLE_RUNS: Final = re.compile(r"[0-9A-Za-z_\x80-\U0010ffff]+")
"""no token of any analyser here reaches beyond a match: all other characters separate"""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text as it stands there, and the term that it is; None, and why, where it is none."""

    text: str
    term: str | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """How text becomes terms; the words are part of it, so that an index outlives a newer stop list.

    `stop_list` is the name that the words came under, `stop_words` the words themselves, lower-cased, as
    they stand before folding and stemming. Tokens of fewer than `shortest_token` characters are left out;
    where that is above 1, an underscore joins.
    """

    stop_list: StopList
    stop_words: tuple[str, ...]
    stemmer: Stemmer
    shortest_token: int = 1

    def build(self) -> "tantivy.TextAnalyzer":
        """The analyser; the same object serves documents and queries."""
        import tantivy

        simple = self.shortest_token == 1
        words = rf"\w{{{self.shortest_token},}}"
        tokenizer = tantivy.Tokenizer.simple() if simple else tantivy.Tokenizer.regex(words)
        builder = tantivy.TextAnalyzerBuilder(tokenizer)
        builder = builder.filter(tantivy.Filter.remove_long(LONGEST_TOKEN_BYTES))
        builder = builder.filter(tantivy.Filter.lowercase())
        if self.stop_words:
            builder = builder.filter(tantivy.Filter.custom_stopword(list(self.stop_words)))
        builder = builder.filter(tantivy.Filter.ascii_fold())
        if self.stemmer != "none":
            builder = builder.filter(tantivy.Filter.stemmer(self.stemmer))
        return builder.build()

    def read_words(self, text: str) -> list["Word"]:
        """The words of a text, in their order, each with its term, or with why it has none.

        >>> read = named_analysis("lucene").read_words("The Genes")
        >>> [(word.text, word.term, word.why_not) for word in read]
        [('The', None, 'a stop word'), ('Genes', 'gene', '')]
        """
        import tantivy

        # What `build` leaves out before a word is a token is to be told too.
        words = tantivy.Tokenizer.simple() if self.shortest_token == 1 else tantivy.Tokenizer.regex(r"\w+")
        analyser = self.build()
        found: dict[str, Word] = {}
        read = []
        for text_of_word in tantivy.TextAnalyzerBuilder(words).build().analyze(well_formed(text)):
            if text_of_word not in found:
                term = next(iter(analyser.analyze(text_of_word)), None)
                found[text_of_word] = Word(text_of_word, term, "" if term else self._why_not(text_of_word))
            read.append(found[text_of_word])
        return read

    def _why_not(self, word: str) -> str:
        if len(word) < self.shortest_token:
            return f"shorter than {self.shortest_token} characters"
        if len(word.encode()) > LONGEST_TOKEN_BYTES:
            return f"longer than {LONGEST_TOKEN_BYTES} bytes"
        return "a stop word"

    def parameters(self) -> dict[str, Any]:
        """What a table records: short names, and a digest in place of the stop words."""
        listed = "\n".join(self.stop_words).encode()
        return {
            "tokenizer": "letters and digits" if self.shortest_token == 1 else r"\w+",
            "longest_token_bytes": LONGEST_TOKEN_BYTES,
            "lowercase": True,
            "ascii_folding": True,
            "stop_list": self.stop_list,
            "stop_word_count": len(self.stop_words),
            "stop_words_md5": hashlib.md5(listed, usedforsecurity=False).hexdigest(),
            "stemmer": self.stemmer,
            **self._shortest(),
        }

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs to build the same analyser again, the stop words included."""
        return {
            "stop_list": self.stop_list,
            "stop_words": list(self.stop_words),
            "stemmer": self.stemmer,
            **self._shortest(),
        }

    def _shortest(self) -> dict[str, int]:
        # Said only where it differs, so that what was recorded before it could be set still holds.
        return {} if self.shortest_token == 1 else {"shortest_token": self.shortest_token}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "Analysis":
        """The analysis that `to_json` described."""
        return cls(
            saved["stop_list"],
            tuple(saved["stop_words"]),
            saved["stemmer"],
            saved.get("shortest_token", 1),
        )


def english_analysis(stop_list: StopList = "scikit-learn", stemmer: Stemmer = "english") -> Analysis:
    """The analysis of English scholarly text; the defaults are what the lexical indexes use.

    >>> english_analysis().build().analyze("The Naïve p53-dependent genes were expressed")
    ['naiv', 'p53', 'depend', 'gene', 'express']
    """
    words = {"scikit-learn": _read_stop_words(), "lucene": LUCENE_STOP_WORDS.split(), "none": []}[stop_list]
    return Analysis(stop_list, tuple(sorted(words)), stemmer)


@functools.cache
def _read_stop_words() -> list[str]:
    lines = SCIKIT_LEARN_STOP_WORDS.read_text(encoding="ascii").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


def named_analysis(name: str) -> Analysis:
    """An analysis by name: `english`, the lexical indexes' own, or `lucene`, which other systems measure by.

    `lucene` gives SciFact's published figures (k1 1.2, b 0.75: nDCG@10 0.679). `words` has no stop words and
    no stemmer, for baselines whose papers name none. UnknownNameError lists them all.

    >>> named_analysis("lucene").build().analyze("The naïve p53-dependent genes of a 3 m_x")
    ['naiv', 'p53', 'depend', 'gene', 'm_x']
    >>> named_analysis("words").build().analyze("The naïve p53-dependent genes")
    ['the', 'naive', 'p53', 'dependent', 'genes']
    """
    if name not in ANALYSES:
        raise UnknownNameError("analysis", name, list(ANALYSES))
    return ANALYSES[name]()


ANALYSES: Final[Mapping[str, Callable[[], Analysis]]] = {
    "english": english_analysis,
    "lucene": lambda: replace(english_analysis("lucene"), shortest_token=2),
    "words": lambda: english_analysis("none", "none"),
}


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced by `?`: what UTF-8 cannot say, no index can hold.

    >>> well_formed("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode("utf-8")
