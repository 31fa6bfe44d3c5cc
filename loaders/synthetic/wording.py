"""Words and sentence patterns, read from the two TOML files and compiled into tables of numbers of pieces.

A piece is a word, a name or a literal part of a pattern. numpy picks the pieces of every text of a chunk, and
Arrow joins them all at once: one `take` from the pool of pieces lays all texts end to end, and their borders
are a stride of its offsets.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pinakes.loaders.synthetic.hashing import Integers, Words

Pieces = npt.NDArray[np.int32]

CONCEPTS: Final = (
    "object", "setting", "property", "problem", "method", "outcome", "rival", "aside", "aspect",
)  # fmt: skip
"""slots of a pattern that a concept fills; a rival is another topic's object, an aside its property"""
NAMES: Final = ("name", "name_end", "tool", "tool_end", "mark", "field")
SLOTS: Final = ("", *CONCEPTS, *NAMES)
"""columns of a table of values, which say for each text what fills its slots; the first is always 0"""
COLUMN: Final = {slot: number for number, slot in enumerate(SLOTS)}
FORMS: Final = 16
"""pieces of a concept: eight for a text that prefers the term, eight for one that prefers the synonym"""
_LINES: Final = 32
_PREFERRED: Final = 7
MARKS: Final = 64


def read_words() -> dict[str, Any]:
    """`vocabulary.toml`, parsed."""
    return tomllib.loads((files(__package__) / "vocabulary.toml").read_text("utf-8"))


def _read_patterns() -> dict[str, list[str]]:
    return tomllib.loads((files(__package__) / "templates.toml").read_text("utf-8"))


def _list(entry: str) -> list[str]:
    return entry.split("; ")


def _spell_concept(entry: str) -> list[str]:
    term, synonym = entry.split(" / ")
    rare = FORMS // 2 - _PREFERRED
    return [term] * _PREFERRED + [synonym] * rare + [synonym] * _PREFERRED + [term] * rare


def capitalise(text: str) -> str:
    """The text with its first letter as a capital and the rest as it was.

    >>> capitalise("the Alps")
    'The Alps'
    """
    return text[:1].upper() + text[1:]


class _Pool:
    """The pieces, and where each kind of them starts."""

    def __init__(self) -> None:
        self.pieces: list[str] = [""]
        self.starts: dict[str, int] = {}

    def add(self, kind: str, pieces: Sequence[str]) -> None:
        self.starts[kind] = len(self.pieces)
        self.pieces.extend(pieces)

    def add_literal(self, text: str) -> int:
        if text not in self.starts:
            self.add(text, [text])
        return self.starts[text]


@dataclass(frozen=True)
class Patterns:
    """Patterns of one or several kinds, one row each, padded with empty pieces to one width.

    A piece is `base + value of slot + (random bits & mask)`. `starts` says where a kind begins, `counts`
    how many it has, `marks` in which column a pattern has the marker of a citation.
    """

    base: Pieces
    slot: npt.NDArray[np.intp]
    mask: Pieces
    marks: Integers
    starts: Integers
    counts: Integers

    @property
    def width(self) -> int:
        """Pieces of a pattern."""
        return int(self.base.shape[1])


@dataclass(frozen=True)
class Wording:
    """The pool of pieces, where its parts start, and the patterns by name."""

    pool: pa.Array
    starts: Mapping[str, int]
    concepts: Mapping[str, int]
    patterns: Mapping[str, Patterns]
    fields: Sequence[str]
    venues: pa.Array
    reference_ids: pa.Array
    given_count: int
    head_count: int
    ending_count: int


_GROUPS: Final = {
    "title": ("title",),
    "abstract": ("background", "method", "result", "other"),
    "context": ("context",),
    "query": ("query_background", "query_method", "query_result"),
    "narrative": ("narrative",),
}


@cache
def load_wording() -> Wording:
    """The compiled wording; read once."""
    words = read_words()
    pool = _Pool()
    concepts = _add_concepts(pool, words)
    names = _add_names(pool, words)
    known = _read_patterns()
    patterns = {
        group: _compile([known[kind] for kind in kinds], pool, words) for group, kinds in _GROUPS.items()
    }
    fields = list(words["fields"])
    venues = [venue.format(field=field) for field in fields for venue in _list(words["names"]["venues"])]
    return Wording(
        pa.array(pool.pieces, pa.string()),
        pool.starts,
        concepts,
        patterns,
        fields,
        pa.array(venues),
        pa.array([f"b{number}" for number in range(1, MARKS + 1)]),
        *names,
    )


def _add_concepts(pool: _Pool, words: Mapping[str, Any]) -> dict[str, int]:
    """Adds every concept in its forms, small and capitalised; kind or `field:kind` -> first concept."""
    concepts: dict[str, int] = {}
    forms: list[str] = []
    lists = {f"{field}:{kind}": entry for field, of in words["fields"].items() for kind, entry in of.items()}
    for kind, entry in {**lists, **words["shared"]}.items():
        concepts[kind] = len(forms) // FORMS
        forms += [form for concept in _list(entry) for form in _spell_concept(concept)]
    pool.add("concepts", forms)
    pool.add("Concepts", [capitalise(form) for form in forms])
    return concepts


def _add_names(pool: _Pool, words: Mapping[str, Any]) -> tuple[int, int, int]:
    names = {kind: _list(entry) for kind, entry in words["names"].items()}
    heads = [
        capitalise(onset + vowel + coda)
        for onset in names["onsets"]
        for vowel in names["vowels"]
        for coda in names["codas"]
    ]
    pool.add("heads", heads)
    pool.add("endings", names["endings"])
    pool.add("HEADS", [head.upper() for head in heads])
    pool.add("ENDINGS", [ending.upper() for ending in names["endings"]])
    pool.add("given", names["given"])
    pool.add("initials", [f" {letter}. " for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"])
    pool.add("marks", [f"[{number}]" for number in range(1, MARKS + 1)])
    pool.add("fields", list(words["fields"]))
    for kind, entry in words["words"].items():
        listed = _list(entry) * (_LINES // len(_list(entry)))
        pool.add(f"word {kind}", listed)
        pool.add(f"Word {kind}", [capitalise(word) for word in listed])
    return len(names["given"]), len(heads), len(names["endings"])


def _compile(kinds: Sequence[Sequence[str]], pool: _Pool, words: Mapping[str, Any]) -> Patterns:
    rows = [_parse(pattern, pool, words["words"]) for patterns in kinds for pattern in patterns]
    width = max(len(row) for row in rows)
    table = np.array([row + [(0, 0, 0)] * (width - len(row)) for row in rows])
    counts = np.array([len(patterns) for patterns in kinds])
    base, slot, mask = (np.ascontiguousarray(table[:, :, part]) for part in range(3))
    return Patterns(
        base.astype(np.int32),
        slot.astype(np.intp),
        mask.astype(np.int32),
        np.argmax(slot == COLUMN["mark"], axis=1),
        np.cumsum(counts) - counts,
        counts,
    )


def _parse(pattern: str, pool: _Pool, words: Mapping[str, str]) -> list[tuple[int, int, int]]:
    """The pieces of a pattern as (base, slot, mask)."""
    row = []
    for part in re.split(r"(\{\w+\})", pattern):
        name = part[1:-1]
        small = name[:1].lower() + name[1:]
        if not part.startswith("{"):
            row += [(pool.add_literal(part), 0, 0)] if part else []
        elif small in CONCEPTS:
            row.append((pool.starts["concepts" if name == small else "Concepts"], COLUMN[small], 7))
        elif name in NAMES:
            ends = [f"{name}_end"] if f"{name}_end" in COLUMN else []
            row += [(0, COLUMN[each], 0) for each in [name, *ends]]
        elif name in words:
            row.append((pool.starts[f"word {name}"], 0, _LINES - 1))
        else:
            row.append((pool.starts[f"Word {small}"], 0, _LINES - 1))
    return row


def choose_patterns(patterns: Patterns, kinds: Integers, words: Words, positions: Integers) -> Integers:
    """A pattern of each kind; texts of one word at neighbouring positions get different ones."""
    counts = patterns.counts[kinds]
    return patterns.starts[kinds] + ((words & np.uint64(0xFFFF)).astype(np.int64) + positions * 5) % counts


def fill_patterns(
    patterns: Patterns, chosen: Integers, values: Pieces, rows: Integers, words: Words
) -> Pieces:
    """The pieces of each text: shape (texts, width).

    `values` has shape (n, slots); `rows` says which of its rows a text takes; `words` are its random bits,
    of which the piece in column c takes five, from bit 5c modulo 60 on.
    """
    pieces = np.take(patterns.base, chosen, axis=0)
    where = np.take(patterns.slot, chosen, axis=0)
    where += (rows * len(SLOTS))[:, None]
    pieces += np.take(values.reshape(-1), where)
    shifts = (np.arange(patterns.width) * 5 % 30).astype(np.uint32)
    halves = [(words >> np.uint64(shift)).astype(np.uint32) for shift in (0, 30)]
    bits = np.concatenate(
        [
            halves[start // 6 % 2][:, None] >> shifts[start : start + 6]
            for start in range(0, patterns.width, 6)
        ],
        axis=1,
    )
    pieces += bits.view(np.int32) & np.take(patterns.mask, chosen, axis=0)
    return pieces


@dataclass(frozen=True)
class Texts:
    """Texts laid end to end, and the offset in bytes of each of their pieces: shape (texts, width)."""

    array: pa.Array
    offsets: Pieces


def join_pieces(pool: pa.Array, pieces: Pieces) -> Texts:
    """The texts that the rows of pieces spell; two gibibytes at most, as Arrow's `string` holds."""
    count, width = pieces.shape
    fragments = pool.take(pa.array(pieces.reshape(-1)))
    _, borders, data = fragments.buffers()
    offsets = np.frombuffer(borders, np.int32, count * width + 1)
    array = pa.StringArray.from_buffers(count, pa.py_buffer(offsets[::width].tobytes()), data)
    return Texts(array, offsets[:-1].reshape(count, width))
