"""The analyser that both lexical indexes share: text in, index terms out.

Runs of letters and digits are tokens (a hyphen, a dot and an apostrophe separate), lower-cased, without
stop words, ASCII-folded, stemmed with Snowball. Measured with BM25 on SciFact, Cranfield and CSFCube:
scikit-learn's 318 English stop words gave a little more than Lucene's 33, and no stemming gave less, on each;
tokens that keep their hyphens gave less on the first two. Leaves out: languages other than English, phrases,
and any query syntax.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import tantivy
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

LONGEST_TOKEN_BYTES: Final = 255

StopList = Literal["scikit-learn", "none"]
Stemmer = Literal["english", "none"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """How text becomes terms; the words are part of it, so that an index outlives a newer stop list.

    `stop_list` is the name that the words came under, `stop_words` the words themselves, lower-cased, as
    they stand before folding and stemming.
    """

    stop_list: StopList
    stop_words: tuple[str, ...]
    stemmer: Stemmer

    def build(self) -> tantivy.TextAnalyzer:
        """The analyser; the same object serves documents and queries."""
        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        builder = builder.filter(tantivy.Filter.remove_long(LONGEST_TOKEN_BYTES))
        builder = builder.filter(tantivy.Filter.lowercase())
        if self.stop_words:
            builder = builder.filter(tantivy.Filter.custom_stopword(list(self.stop_words)))
        builder = builder.filter(tantivy.Filter.ascii_fold())
        if self.stemmer != "none":
            builder = builder.filter(tantivy.Filter.stemmer(self.stemmer))
        return builder.build()

    def parameters(self) -> dict[str, Any]:
        """What a table records: short names, and a digest in place of the stop words."""
        listed = "\n".join(self.stop_words).encode()
        return {
            "tokenizer": "letters and digits",
            "longest_token_bytes": LONGEST_TOKEN_BYTES,
            "lowercase": True,
            "ascii_folding": True,
            "stop_list": self.stop_list,
            "stop_word_count": len(self.stop_words),
            "stop_words_md5": hashlib.md5(listed, usedforsecurity=False).hexdigest(),
            "stemmer": self.stemmer,
        }

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs to build the same analyser again, the stop words included."""
        return {
            "stop_list": self.stop_list,
            "stop_words": list(self.stop_words),
            "stemmer": self.stemmer,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "Analysis":
        """The analysis that `to_json` described."""
        return cls(saved["stop_list"], tuple(saved["stop_words"]), saved["stemmer"])


def english_analysis(stop_list: StopList = "scikit-learn", stemmer: Stemmer = "english") -> Analysis:
    """The analysis of English scholarly text; the defaults are what the lexical indexes use.

    >>> english_analysis().build().analyze("The Naïve p53-dependent genes were expressed")
    ['naiv', 'p53', 'depend', 'gene', 'express']
    """
    words = sorted(ENGLISH_STOP_WORDS) if stop_list == "scikit-learn" else []
    return Analysis(stop_list, tuple(words), stemmer)


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced by `?`: what UTF-8 cannot say, no index can hold.

    >>> well_formed("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode("utf-8")
