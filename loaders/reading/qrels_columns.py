"""What the columns of a relevance list hold, told by the ids that are loaded.

TREC's have four columns (query, iteration, document, grade), BEIR's three under a header (query, document,
grade), SMART's three or four (query, document, grade; query, document, 0, 0). Where the ids fit several
layouts, the user must say.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import FindKnown, InputFile, Options
from pinakes.loaders.reading.qrels import (
    SPOKEN,
    TREC,
    ZERO,
    Columns,
    parse_columns,
    parse_grade,
    read_header,
    unpad,
)
from pinakes.loaders.reading.streams import read_lines

SAMPLE_LINES: Final = 100_000
"""The layout is told from so many lines; every line is read by it, and rejected where it does not fit."""
_LAYOUTS: Final[dict[int, tuple[Columns, ...]]] = {
    2: (("query_id", "source_id"),),
    3: (("query_id", "source_id", "grade"),),
    4: (
        TREC,
        ("query_id", "source_id", "iteration", "grade"),
        ("query_id", "source_id", "zero", "zero"),
    ),
}
"""number of columns -> the layouts of lists that were published, the most usual one first"""
_IDS: Final = {"query_id": "queries", "source_id": "papers"}
_MOST_REPEATED: Final = 0.1
"""A pair stands once in a list; where more of the pairs are repeated, the columns are others."""
_FEW_LINES: Final = 10
"""In so many lines, one and the same document may be what is judged."""


def settle_qrels(
    file: InputFile, options: Options, find_known: FindKnown, *, usual: Columns = ()
) -> InputFile:
    """The file with its columns, told by the option `columns`, by its header, or by the ids that are loaded.

    A layout fits a line where its query and its document are loaded, its grade is a number, and the pair is
    not repeated; of a list none of whose queries is loaded, the documents tell. The layout that fits the most
    lines is taken, if no other fits half as many; where no id tells, the usual one of the format.

    Raises:
        InputError: the ids fit several layouts, or none; or no published layout has so many columns.
    """
    lines = [line.split() for line in _sample(file)]
    header = read_header(lines[0]) if lines else ()
    if header:
        lines = lines[1:]
    given = (parse_columns(options["columns"]),) if options.get("columns") else (header,) if header else ()
    if not lines:
        return replace(file, columns=given[0]) if given else file
    width = len(given[0]) if given else Counter(map(len, lines)).most_common(1)[0][0]
    rows = [values for values in lines if len(values) == width]
    layouts = given or _list_layouts(rows, width)
    if not layouts:
        return file  # every line is rejected, and says what was expected
    known = _Known(rows, find_known)
    columns = (
        given[0] if given else _choose(file, layouts, [_fit(one, rows, known) for one in layouts], usual)
    )
    unpadded = frozenset(column for column in _IDS if known.is_unpadded(columns, column))
    return replace(file, columns=columns, unpadded=unpadded)


def _sample(file: InputFile) -> Iterator[str]:
    lines = (line for _, line in read_lines(file) if not line.startswith(b"#"))
    for line in islice(lines, SAMPLE_LINES):
        yield line.decode("utf-8", "replace")


def _list_layouts(rows: list[list[str]], width: int) -> tuple[Columns, ...]:
    layouts = list(_LAYOUTS.get(width, ()))
    if width == 4:
        # Lists of SMART have zeros behind the document: what they name is relevant.
        is_zero = all(ZERO.fullmatch(value) for values in rows for value in values[2:])
        del layouts[1 if is_zero else 2]
    return tuple(layouts)


class _Known:
    """Which values of a sample's columns are ids that are loaded, as they stand or without leading zeros."""

    def __init__(self, rows: list[list[str]], find_known: FindKnown) -> None:
        self._rows = rows
        self._find = find_known
        self._found: dict[tuple[int, str], tuple[set[str], bool]] = {}

    def is_unpadded(self, columns: Columns, column: str) -> bool:
        """Whether the ids of that column are to be read without leading zeros."""
        return self.look(columns.index(column), column)[1]

    def look(self, place: int, column: str) -> tuple[set[str], bool]:
        """The values at that place which name something loaded, and whether without their zeros."""
        key = (place, column)
        if key not in self._found:
            values = {row[place] for row in self._rows}
            plain = {value: unpad(value) for value in values}
            held = self._find(_IDS[column], values | set(plain.values()))
            exact = values & held
            stripped = {value for value, number in plain.items() if number in held}
            # Where an id that is loaded has leading zeros, they are part of the ids.
            is_padded = len(stripped) > len(exact) and not any(plain[value] != value for value in exact)
            self._found[key] = (stripped, True) if is_padded else (exact, False)
        return self._found[key]


@dataclass(frozen=True, slots=True)
class _Fit:
    """How well a layout fits: lines that it fits, those of repeated pairs, whether it names one document."""

    fits: int
    repeated: int
    is_constant: bool

    @property
    def score(self) -> int:
        """The lines, or 0 where too many pairs are repeated or all are of one document."""
        is_out = self.is_constant or self.repeated > _MOST_REPEATED * (self.fits + self.repeated)
        return 0 if is_out else self.fits


def _fit(columns: Columns, rows: list[list[str]], known: _Known) -> _Fit:
    query, document = columns.index("query_id"), columns.index("source_id")
    grade = columns.index("grade") if "grade" in columns else None
    queries, documents = known.look(query, "query_id")[0], known.look(document, "source_id")[0]
    pairs: Counter[tuple[str, str]] = Counter()
    for values in rows:
        is_known = values[document] in documents and (not queries or values[query] in queries)
        if is_known and (grade is None or parse_grade(values[grade]) is not None):
            pairs[values[query], values[document]] += 1
    is_constant = len(rows) >= _FEW_LINES and len({values[document] for values in rows}) == 1
    return _Fit(len(pairs), pairs.total() - len(pairs), is_constant)


def _choose(file: InputFile, layouts: tuple[Columns, ...], fits: list[_Fit], usual: Columns) -> Columns:
    scores = [fit.score for fit in fits]
    if not any(scores):
        scores = [fit.fits for fit in fits]
    best = max(scores)
    fitting = [columns for columns, score in zip(layouts, scores, strict=True) if 2 * score > best]
    if not fitting and len(usual) == len(layouts[0]):
        return usual
    if len(fitting) == 1 or len(layouts) == 1:
        return (fitting or layouts)[0]
    said = [",".join(SPOKEN[column] for column in columns) for columns in fitting or layouts]
    fault = (
        f"the loaded ids fit its columns as {' and as '.join(said)}"
        if fitting
        else f"in none of its {len(layouts[0])} columns are ids of the loaded papers"
    )
    raise InputError(
        f"{file.name}: {fault}. Say what they hold: --option columns={said[0]} (query, document, grade; "
        "iteration or _ for a column that is passed over)."
    )
