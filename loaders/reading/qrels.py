"""Relevance lists: what their columns hold, and the judgments of their lines.

TREC's have four columns (query, iteration, document, grade), BEIR's three under a header (query, document,
grade), SMART's three or four (query, document, grade; query, document, 0, 0). The columns are told apart by
the ids that are loaded (`settle_qrels`); where these fit several layouts, the user must say.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import FindKnown, InputFile, Options
from pinakes.loaders.reading.rows import make_judgment
from pinakes.loaders.reading.streams import decode_utf8, read_lines
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

Columns = tuple[str, ...]
"""what each column holds: `query_id`, `source_id`, `grade`; `zero`, `iteration` and `_` are passed over"""

TREC: Final[Columns] = ("query_id", "iteration", "source_id", "grade")
COLUMNS_HELP: Final = (
    "what a relevance list's columns hold, as query,iteration,document,grade; _ is passed over"
)
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
_WORDS: Final = {"query": "query_id", "document": "source_id", "grade": "grade", "iteration": "iteration"}
_SPOKEN: Final = {column: word for word, column in _WORDS.items()} | {"zero": "_"}
_HEADERS: Final = {
    "query_id": frozenset({"query-id", "query_id", "qid", "query", "topic"}),
    "source_id": frozenset({"corpus-id", "corpus_id", "docid", "doc_id", "docno", "doc", "document", "pid"}),
    "grade": frozenset({"score", "grade", "rel", "relevance", "label"}),
    "iteration": frozenset({"iteration", "iter", "q0"}),
}
"""what a column holds -> how headers call it"""
_IDS: Final = {"query_id": "queries", "source_id": "papers"}
_GRADE: Final = re.compile(r"([+-]?[0-9]{1,18})(?:\.0*)?")
_ZERO: Final = re.compile(r"[+-]?0+(?:\.0*)?")
_PADDED: Final = re.compile(r"^0+(?=[0-9]+$)")
_MOST_REPEATED: Final = 0.1
"""A pair stands once in a list; where more of the pairs are repeated, the columns are others."""
_FEW_LINES: Final = 10
"""In so many lines, one and the same document may be what is judged."""


def parse_columns(text: str) -> Columns:
    """The columns that an option names.

    >>> parse_columns("query,_,document,grade")
    ('query_id', '_', 'source_id', 'grade')
    """
    words = [word.strip() for word in text.split(",")]
    columns = tuple({**_WORDS, "_": "_"}.get(word, "") for word in words)
    named = Counter(columns)
    if not all(columns) or named["query_id"] != 1 or named["source_id"] != 1 or named["grade"] > 1:
        raise InputError(
            f"columns={text!r}: expected query, document and, where there is one, grade once each, and "
            "iteration or _ for a column that is passed over, as in columns=query,iteration,document,grade."
        )
    return columns


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
    layouts = given or _list_layouts(file, rows, width)
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


def read_header(values: Sequence[str]) -> Columns:
    """The columns that a first line names; none where it is no header.

    >>> read_header(["query-id", "corpus-id", "score"]), read_header(["q1", "d1", "1"])
    (('query_id', 'source_id', 'grade'), ())
    """
    words = [value.lower() for value in values]
    columns = tuple(next((name for name, said in _HEADERS.items() if word in said), "_") for word in words)
    is_header = columns.count("query_id") == columns.count("source_id") == 1 and columns.count("grade") < 2
    return columns if is_header else ()


def _list_layouts(file: InputFile, rows: list[list[str]], width: int) -> tuple[Columns, ...]:
    if width not in _LAYOUTS:
        raise InputError(
            f"{file.name} has {width} columns; relevance lists have 2 to 4. Say what they hold: --option "
            "columns=query,document,grade,_,_ (query, document, grade; _ for a column that is passed over)."
        )
    layouts = list(_LAYOUTS[width])
    is_zero = [all(_ZERO.fullmatch(values[place]) for values in rows) for place in range(width)]
    if width == 4:
        # Lists of SMART have zeros behind the document: what they name is relevant.
        del layouts[1 if is_zero[2] and is_zero[3] else 2]
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


def unpad(text: str) -> str:
    """A number without leading zeros; anything else as it stands.

    >>> unpad("0141"), unpad("000"), unpad("0a")
    ('141', '0', '0a')
    """
    return _PADDED.sub("", text)


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
        if is_known and (grade is None or _GRADE.fullmatch(values[grade])):
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
    if len(fitting) == 1:
        return fitting[0]
    said = [",".join(_SPOKEN[column] for column in columns) for columns in fitting or layouts]
    fault = (
        f"the loaded ids fit its columns as {' and as '.join(said)}"
        if fitting
        else f"in none of its {len(layouts[0])} columns are ids of the loaded papers"
    )
    raise InputError(
        f"{file.name}: {fault}. Say what they hold: --option columns={said[0]} (query, document, grade; "
        "iteration or _ for a column that is passed over)."
    )


def read_qrels(
    file: InputFile, *, columns: Columns, split: str, assessor: str = "published", has_header: bool = False
) -> Iterator[Accepted | Rejected]:
    """The judgments of a file, one a line; lines that begin with `#` are comments.

    Args:
        file: what to read; its own columns, where they were told, go before `columns`.
        columns: without a `grade`, every pair has grade 1.
        split: the split that the judgments belong to.
        assessor: who judged.
        has_header: whether the first line names the columns also in other words than the usual ones: where
            its grade is no number.
    """
    columns = file.columns or columns
    first = True
    for number, line in read_lines(file):
        if line.startswith(b"#"):
            continue
        was_first, first = first, False
        if not (was_first and _is_header(line, columns, has_header)):
            parse = partial(_parse_judgment, line, columns, file.unpadded, split, assessor)
            yield take_record(number, f"line {number}", line, parse)


def _parse_judgment(
    line: bytes, columns: Columns, unpadded: frozenset[str], split: str, assessor: str
) -> Rows:
    values = decode_utf8(line).split()
    if len(values) != len(columns):
        message = f"{len(values)} columns, expected {len(columns)}: {' '.join(columns)}"
        raise RecordError("malformed_line", message)
    row = {"grade": "1"} | dict(zip(columns, values, strict=True))
    if "zero" in row and not all(_ZERO.fullmatch(values[place]) for place in (2, 3)):
        raise RecordError(
            "malformed_line", "the list has zeros behind its documents, and here not: say its columns"
        )
    grade = parse_grade(row["grade"])
    if grade is None:
        raise RecordError("invalid_value", f"the grade {row['grade']!r} is no whole number")
    query_id, source_id = (
        unpad(row[name]) if name in unpadded else row[name] for name in ("query_id", "source_id")
    )
    return {"judgments": [make_judgment(query_id, source_id, grade, split, assessor=assessor)]}


def _is_header(line: bytes, columns: Columns, has_header: bool) -> bool:
    values = line.decode("utf-8", "replace").split()
    if read_header(values) or not has_header:
        return bool(read_header(values))
    return len(values) == len(columns) and parse_grade(values[columns.index("grade")]) is None


def parse_grade(text: str) -> int | None:
    """The whole number that a grade is.

    >>> parse_grade("2"), parse_grade("-1"), parse_grade("1.0"), parse_grade("1.5")
    (2, -1, 1, None)
    """
    found = _GRADE.fullmatch(text)
    return int(found[1]) if found else None
