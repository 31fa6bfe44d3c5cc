"""The judgments of relevance lists, and what names of their columns mean.

Which column of a list holds what is told in `qrels_columns`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.left_out import leave_out
from pinakes.loaders.reading.rows import make_judgment
from pinakes.loaders.reading.streams import decode_utf8, read_lines
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

Columns = tuple[str, ...]
"""what each column holds: `query_id`, `source_id`, `grade`; `zero`, `iteration` and `_` are passed over"""

TREC: Final[Columns] = ("query_id", "iteration", "source_id", "grade")
COLUMNS_HELP: Final = (
    "what a relevance list's columns hold, as query,iteration,document,grade; _ is passed over"
)
_WORDS: Final = {"query": "query_id", "document": "source_id", "grade": "grade", "iteration": "iteration"}
SPOKEN: Final = {column: word for word, column in _WORDS.items()} | {"zero": "_"}
_HEADERS: Final = {
    "query_id": frozenset({"query-id", "query_id", "qid", "query", "topic"}),
    "source_id": frozenset({"corpus-id", "corpus_id", "docid", "doc_id", "docno", "doc", "document", "pid"}),
    "grade": frozenset({"score", "grade", "rel", "relevance", "label"}),
    "iteration": frozenset({"iteration", "iter", "q0"}),
}
"""what a column holds -> how headers call it"""
ITERATION: Final = "field iteration"
NO_ITERATION: Final = ("", "0", "Q0")
"""what the column of iterations holds where it says nothing"""
GRADE: Final = re.compile(r"([+-]?[0-9]{1,18})(?:\.0*)?")
_DIGIT_FIRST: Final = re.compile(r"[+-]?[0-9]")
ZERO: Final = re.compile(r"[+-]?0+(?:\.0*)?")
_PADDED: Final = re.compile(r"^0+(?=[0-9]+$)")


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


def read_header(values: Sequence[str]) -> Columns:
    """The columns that a first line names; none where it is no header.

    >>> read_header(["query-id", "corpus-id", "score"]), read_header(["q1", "d1", "1"])
    (('query_id', 'source_id', 'grade'), ())
    """
    words = [value.lower() for value in values]
    columns = tuple(next((name for name, said in _HEADERS.items() if word in said), "_") for word in words)
    is_header = columns.count("query_id") == columns.count("source_id") == 1 and columns.count("grade") < 2
    return columns if is_header else ()


def unpad(text: str) -> str:
    """A number without leading zeros; anything else as it stands.

    >>> unpad("0141"), unpad("000"), unpad("0a")
    ('141', '0', '0a')
    """
    return _PADDED.sub("", text)


def read_qrels(
    file: InputFile,
    *,
    columns: Columns,
    split: str,
    assessor: str = "published",
    has_header: bool = False,
    can_be_told: bool = True,
) -> Iterator[Accepted | Rejected]:
    """The judgments of a file, one a line; lines that begin with `#` are comments.

    Args:
        file: what to read; its own columns, where they were told, go before `columns`.
        columns: without a `grade`, every pair has grade 1.
        split: the split that the judgments belong to.
        assessor: who judged.
        has_header: whether the first line names the columns also in other words than the usual ones: where
            its grade is no number.
        can_be_told: whether the loader has the option `columns`, which messages then name.
    """
    columns = file.columns or columns
    hint = "; --option columns=… says others" if can_be_told else ""
    first = True
    for number, line in read_lines(file):
        if line.startswith(b"#"):
            continue
        was_first, first = first, False
        if not (was_first and _is_header(line, columns, has_header)):
            parse = partial(_parse_judgment, line, columns, file.unpadded, split, assessor, hint)
            yield take_record(number, f"line {number}", line, parse)


def _parse_judgment(
    line: bytes, columns: Columns, unpadded: frozenset[str], split: str, assessor: str, hint: str
) -> Rows:
    values = decode_utf8(line).split()
    if len(values) != len(columns):
        spoken = ",".join(SPOKEN.get(column, "_") for column in columns)
        message = f"{len(values)} columns, expected {len(columns)}: {spoken}{hint}"
        raise RecordError("malformed_line", message)
    row = {"grade": "1"} | dict(zip(columns, values, strict=True))
    if "zero" in row and not all(ZERO.fullmatch(values[place]) for place in (2, 3)):
        raise RecordError("malformed_line", f"the list has zeros behind its documents, and here not{hint}")
    for place, name in enumerate(columns, start=1):
        if name == "_":
            leave_out(f"field column {place}", "no_column")
    leave_out(ITERATION, "no_column", row.get("iteration", "0") not in NO_ITERATION)
    grade = parse_grade(row["grade"])
    if grade is None:
        raise RecordError("invalid_value", f"the grade {row['grade']!r:.80} is no whole number")
    query_id, source_id = (
        unpad(row[name]) if name in unpadded else row[name] for name in ("query_id", "source_id")
    )
    return {"judgments": [make_judgment(query_id, source_id, grade, split, assessor=assessor)]}


def _is_header(line: bytes, columns: Columns, has_header: bool) -> bool:
    values = line.decode("utf-8", "replace").split()
    if read_header(values) or not has_header or "grade" not in columns:
        return bool(read_header(values))
    # A grade that cannot be read is no header: what begins with a digit is a number, if a wrong one.
    return len(values) == len(columns) and not _DIGIT_FIRST.match(values[columns.index("grade")])


def parse_grade(text: str) -> int | None:
    """The whole number that a grade is.

    >>> parse_grade("2"), parse_grade("-1"), parse_grade("1.0"), parse_grade("1.5")
    (2, -1, 1, None)
    """
    found = GRADE.fullmatch(text)
    return int(found[1]) if found else None
