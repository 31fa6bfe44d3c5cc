"""A paper's textual neighbours, made of its analysis."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Final, NamedTuple, TypeGuard

from pinakes.errors import InputError
from pinakes.texts.neighbours.analysis import AnalysedPaper, AnalysedText
from pinakes.texts.neighbours.antonyms import Antonyms
from pinakes.texts.neighbours.codes import Changes, Code, find_code
from pinakes.texts.neighbours.material import Material

NO_TITLE: Final = "no title"
NO_ABSTRACT: Final = "no abstract"
NO_TEXT: Final = "no title and no abstract"


@dataclass(frozen=True, slots=True)
class Variant:
    """A paper's title and abstract as a code has them; None where there is none, or the code deletes it."""

    code: str
    title: str | None
    abstract: str | None


@dataclass(frozen=True, slots=True)
class Absent:
    """Why a paper has no neighbour of a code."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What all variants of a derivation share; it can be sent to another process.

    Attributes:
        seed: of what is drawn.
        corpus: the corpus's name, which decides what is drawn too.
        published: as the published code has it, not as the paper means it.
        antonyms: for T_ARepADJ.
        top_phrases: for T_ADelTopNNPH: what `choose_top_phrases` gives for the corpus.
    """

    seed: int
    corpus: str
    published: bool = False
    antonyms: Antonyms | None = None
    top_phrases: frozenset[str] | None = None


def make_variants(
    paper: AnalysedPaper, source_id: str, codes: Iterable[str], settings: Settings
) -> list[Variant | Absent]:
    """One variant for each code, or why there is none, in the order of the codes.

    What is drawn depends on seed, corpus, code and source id alone. A variant is equal to the paper where a
    code leaves all as it is: one sentence that is rotated, or sentences that are sorted already; fewer than
    four tokens to delete at random; nouns of up to three characters; fewer than two white-space characters;
    letters that have no upper case or are in it.

    Raises:
        UnknownNameError: there is no such code.
        InputError: the settings lack what a code needs.
    """
    return [_make(paper, source_id, find_code(name), settings) for name in codes]


def is_unchanged(paper: AnalysedPaper, variant: Variant) -> bool:
    """The variant has the paper's title and abstract."""
    texts = (paper.title and paper.title.text, paper.abstract and paper.abstract.text)
    return (variant.title, variant.abstract) == texts


def _make(paper: AnalysedPaper, source_id: str, code: Code, settings: Settings) -> Variant | Absent:
    make = code.make_published if settings.published else code.make
    material = _give_material(code, source_id, settings)
    made = _CHANGES[code.changes](_Texts(paper.title, paper.abstract), lambda text: make(text, material))
    if isinstance(made, str):
        return Absent(code.name, made or code.lacks)
    return Variant(code.name, *made)


def _give_material(code: Code, source_id: str, settings: Settings) -> Material:
    if code.needs == "antonyms" and settings.antonyms is None:
        raise InputError(f"{code.name} needs antonyms: give the settings what `find_antonyms` gives.")
    if code.needs == "top phrases" and settings.top_phrases is None:
        raise InputError(f"{code.name} needs the corpus's noun phrases: count them, and choose the top ones.")
    random = _seed(code, source_id, settings) if code.draws else _UNUSED
    return Material(
        random, settings.antonyms.find if settings.antonyms else _find_none, settings.top_phrases or _NONE
    )


def _seed(code: Code, source_id: str, settings: Settings) -> Random:
    parts = (str(settings.seed), settings.corpus, code.name, source_id)
    key = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return Random(int.from_bytes(sha256(key).digest()))  # noqa: S311 (no secret: to be repeated)


_UNUSED: Final = Random(0)  # noqa: S311 (nothing is drawn from it)
"""given to what draws nothing"""
_NONE: Final[frozenset[str]] = frozenset()


def _find_none(adjective: str) -> None:
    return None


class _Texts(NamedTuple):
    title: AnalysedText | None
    abstract: AnalysedText | None

    @property
    def title_text(self) -> str | None:
        return None if self.title is None else self.title.text

    @property
    def abstract_text(self) -> str | None:
        return None if self.abstract is None else self.abstract.text


_Make = Callable[[AnalysedText], str | None]
_Made = tuple[str | None, str | None] | str
"""title and abstract, or why there are none, where an empty string stands for what the code says"""


def _change_abstract(texts: _Texts, make: _Make) -> _Made:
    if not _has_words(texts.abstract):
        return NO_ABSTRACT
    made = make(texts.abstract)
    return "" if made is None else (texts.title_text, made)


def _change_title(texts: _Texts, make: _Make) -> _Made:
    if not _has_words(texts.title):
        return NO_TITLE
    made = make(texts.title)
    return "" if made is None else (made, texts.abstract_text)


def _change_title_alone(texts: _Texts, make: _Make) -> _Made:
    made = _change_title(texts, make)
    return made if isinstance(made, str) else (made[0], None)


def _change_both(texts: _Texts, make: _Make) -> _Made:
    if not _has_words(texts.title) and not _has_words(texts.abstract):
        return NO_TEXT
    title, abstract = (text if text is None else make(text) for text in texts)
    is_made = [made is not None for made in (title, abstract)] == [text is not None for text in texts]
    return (title, abstract) if is_made else ""


def _add_to_title(texts: _Texts, make: _Make) -> _Made:
    if not _has_words(texts.title):
        return NO_TITLE
    if not _has_words(texts.abstract):
        return NO_ABSTRACT
    added = make(texts.abstract)
    return "" if added is None else (f"{texts.title_text} {added}", texts.abstract_text)


def _has_words(text: AnalysedText | None) -> TypeGuard[AnalysedText]:
    return text is not None and bool(text.tags)


_CHANGES: Final[Mapping[Changes, Callable[[_Texts, _Make], _Made]]] = {
    "abstract": _change_abstract,
    "title": _change_title,
    "title alone": _change_title_alone,
    "both": _change_both,
    "title from abstract": _add_to_title,
}
