"""The 32 textual neighbours of Table 1: their categories, what they change and how."""

from dataclasses import dataclass
from typing import Final, Literal

from pinakes.errors import UnknownNameError
from pinakes.texts.neighbours import published
from pinakes.texts.neighbours import transformations as ours
from pinakes.texts.neighbours.material import Transformation

Changes = Literal["title", "abstract", "both", "title alone", "title from abstract"]
"""what a code changes; `title alone` deletes the abstract, `title from abstract` adds words of it"""
Needs = Literal["", "antonyms", "top phrases"]


@dataclass(frozen=True, slots=True)
class Code:
    """A textual neighbour.

    Attributes:
        name: the paper's, as T_ARot.
        category: LL lossless or LO lossy; HS highly similar, PS partially similar, DS dissimilar.
        changes: which texts.
        make: the transformation as the paper means it.
        make_published: the transformation as the published code has it.
        lacks: why a paper has no such neighbour, where `make` gives none.
        draws: it draws at random.
        needs: what it needs beside the paper's analysis.
    """

    name: str
    category: str
    changes: Changes
    make: Transformation
    make_published: Transformation
    lacks: str = ""
    draws: bool = False
    needs: Needs = ""


def _delete(name: str, category: str, tag: str, word: str) -> Code:
    lacks = f"no {word} in the abstract"
    return Code(name, category, "abstract", ours.delete_tagged(tag), published.delete_tagged(tag), lacks)


def _delete_in_title(name: str, category: str, tag: str, word: str, changes: Changes = "title") -> Code:
    lacks = f"no {word} in the title"
    return Code(name, category, changes, ours.delete_tagged(tag), published.delete_title_tagged(tag), lacks)


def _delete_third(name: str, number: int) -> Code:
    functions = ours.delete_third(number), published.delete_third(number)
    return Code(name, "LO-PS", "abstract", *functions, "fewer than 3 sentences")


_ALL: Final = (
    Code("T_ARot", "LL-PS", "abstract", ours.rotate, published.rotate),
    Code("T_AShuff", "LL-PS", "abstract", ours.shuffle, published.shuffle, draws=True),
    Code("T_ASortAsc", "LL-PS", "abstract", ours.sort_ascending, published.sort_ascending),
    Code("T_ASortDesc", "LL-PS", "abstract", ours.sort_descending, published.sort_descending),
    Code("T_ADelRand", "LO-PS", "abstract", ours.delete_random, published.delete_random, draws=True),
    _delete("T_ADelADJ", "LO-PS", "ADJ", "adjective"),
    _delete("T_ADelNN", "LO-DS", "NOUN", "noun"),
    _delete("T_ADelVB", "LO-PS", "VERB", "verb"),
    _delete("T_ADelADV", "LO-PS", "ADV", "adverb"),
    _delete("T_ADelPR", "LO-PS", "PRON", "pronoun"),
    _delete("T_ADelDT", "LO-HS", "DET", "determiner"),
    _delete("T_ADelNum", "LO-PS", "NUM", "number"),
    Code(
        "T_ADelNNPH",
        "LO-DS",
        "abstract",
        ours.delete_phrases,
        published.delete_phrases,
        "no noun phrase in the abstract",
    ),
    Code(
        "T_ADelTopNNPH",
        "LO-PS",
        "abstract",
        ours.delete_top_phrases,
        published.delete_top_phrases,
        "no top noun phrase in the abstract",
        needs="top phrases",
    ),
    _delete_in_title("TDelADJ_A", "LO-HS", "ADJ", "adjective"),
    _delete_in_title("TDelNN_A", "LO-HS", "NOUN", "noun"),
    _delete_in_title("TDelVB_A", "LO-HS", "VERB", "verb"),
    _delete_in_title("TDelDT_A", "LO-HS", "DET", "determiner"),
    _delete_in_title("TDelNN", "LO-DS", "NOUN", "noun", "title alone"),
    _delete_third("T_ADelQ1", 1),
    _delete_third("T_ADelQ2", 2),
    _delete_third("T_ADelQ3", 3),
    Code("TNNU_A", "LL-HS", "title", ours.upper_nouns, published.upper_nouns, "no noun in the title"),
    Code("TNonNNU_A", "LL-HS", "title", ours.upper_others, published.upper_others, "nouns only in the title"),
    Code("T_ANNU", "LL-HS", "abstract", ours.upper_nouns, published.upper_nouns, "no noun in the abstract"),
    Code(
        "T_ANonNNU",
        "LL-HS",
        "abstract",
        ours.upper_others,
        published.upper_others,
        "nouns only in the abstract",
    ),
    Code("T_A_DelNNChar", "LO-PS", "both", ours.shorten_nouns, published.shorten_nouns, draws=True),
    Code(
        "TRepNNT_A",
        "LO-HS",
        "title",
        ours.repeat_noun,
        published.repeat_noun,
        "no noun in the title",
        draws=True,
    ),
    Code(
        "TRepNNA_A",
        "LO-HS",
        "title from abstract",
        ours.list_frequent_nouns,
        published.list_frequent_nouns,
        "fewer than 2 nouns in the abstract",
    ),
    Code(
        "T_ADelNonNNs", "LO-DS", "abstract", ours.keep_nouns, published.keep_nouns, "no noun in the abstract"
    ),
    Code(
        "T_ARepADJ",
        "LO-DS",
        "abstract",
        ours.replace_adjectives,
        published.replace_adjectives,
        "no adjective with an antonym",
        needs="antonyms",
    ),
    Code(
        "T_A_WS",
        "LL-HS",
        "both",
        ours.widen_white_space,
        published.widen_white_space,
        "too long as published",
        draws=True,
    ),
)

CODES: Final = {code.name: code for code in _ALL}
"""the 32, in the order of Table 1"""


def find_code(name: str) -> Code:
    """The code of this name; `UnknownNameError` where there is none."""
    if name not in CODES:
        raise UnknownNameError("textual neighbour", name, list(CODES))
    return CODES[name]
