"""What finds sentences: by name, with the producer of the rows that it makes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Final

from pinakes.errors import InputError, UnknownNameError
from pinakes.texts.neighbours.analysers.sentences import split_sentences

VERSION: Final = 1
"""of what becomes of the splitters' sentences: a change of it makes other rows"""
_PUNKT_DATA: Final = "tokenizers/punkt_tab/english/"


@dataclass(frozen=True, slots=True)
class Splitter:
    """What finds sentences.

    Attributes:
        version: its name and its version.
        producer: of its rows of `sentences`; None: those that a source gave are taken.
    """

    name: str
    version: str
    producer: str | None

    def split(self, text: str) -> list[str]:
        """The sentences of a text, white space collapsed; none is empty.

        Of sentences that a source gave there is no rule: other texts are split by punkt.
        """
        spans = _split_by_nltk(text) if self.name == "nltk" else split_sentences(text)
        return list(_clean(text[start:end] for start, end in spans))

    def split_contexts(self, contexts: Iterable[str]) -> list[str]:
        """The sentences of citing contexts, each once; where a source gave them, whole contexts first."""
        whole = list(_clean(contexts)) if self.producer is None else []
        split = (sentence for context in contexts for sentence in self.split(context))
        return list(dict.fromkeys([*whole, *split]))


def _clean(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        collapsed = " ".join(text.split())
        if collapsed:
            yield collapsed


def find_splitter(name: str) -> Splitter:
    """The splitter of that name; `InputError` where its data are missing.

    >>> find_splitter("source")
    Splitter(name='source', version='source', producer=None)
    """
    if name not in _MAKERS:
        raise UnknownNameError("splitter", name, list(_MAKERS))
    return _MAKERS[name]()


def _make_punkt() -> Splitter:
    named = f"punkt-{version('nltk')}"
    return Splitter("punkt", named, f"split {VERSION} {named}")


def _make_nltk() -> Splitter:
    import nltk.data

    try:
        nltk.data.find(_PUNKT_DATA)
    except LookupError as error:
        raise InputError(
            "the splitter nltk needs NLTK's data punkt_tab, which is not installed: "
            "python -m nltk.downloader punkt_tab; or take punkt, which needs none."
        ) from error
    named = f"nltk-{version('nltk')}"
    return Splitter("nltk", named, f"split {VERSION} {named}")


def _split_by_nltk(text: str) -> list[tuple[int, int]]:
    return list(_make_tokenizer().span_tokenize(text))


@lru_cache(maxsize=1)
def _make_tokenizer() -> Any:
    from nltk.tokenize import PunktTokenizer

    return PunktTokenizer("english")


_MAKERS: Final[dict[str, Callable[[], Splitter]]] = {
    "punkt": _make_punkt,
    "nltk": _make_nltk,
    "source": lambda: Splitter("source", "source", None),
}
