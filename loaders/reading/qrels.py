"""Lines of relevance judgments: columns separated by tabs or blanks, in a given order.

TREC qrels have four columns (query, iteration, document, grade), BEIR's three with a header line, SMART's
three or four.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.records import decode_utf8, read_lines
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows, take_record

_GRADE: Final = re.compile(r"([+-]?[0-9]{1,18})(?:\.0*)?")


def read_qrels(
    file: InputFile,
    *,
    columns: Sequence[str],
    split: str,
    assessor: str = "published",
    has_header: bool = False,
) -> Iterator[Accepted | Rejected]:
    """The judgments of a file, one a line; lines that begin with `#` are comments.

    Args:
        file: what to read.
        columns: what each column holds: `query_id`, `source_id`, `grade`, or anything else to pass over;
            without a `grade`, every pair has grade 1.
        split: the split that the judgments belong to.
        assessor: who judged.
        has_header: whether the first line may name the columns; it does where its grade is no number.
    """
    for number, line in read_lines(file):
        if line.startswith(b"#") or (has_header and number == 1 and _is_header(line, columns)):
            continue
        parse = partial(_parse_line, line, columns, split, assessor)
        yield take_record(number, f"line {number}", line, parse)


def _parse_line(line: bytes, columns: Sequence[str], split: str, assessor: str) -> Rows:
    values = decode_utf8(line).split()
    if len(values) != len(columns):
        message = f"{len(values)} columns, expected {len(columns)}: {' '.join(columns)}"
        raise RecordError("malformed_line", message)
    row = {"grade": "1"} | dict(zip(columns, values, strict=True))
    grade = _parse_grade(row["grade"])
    if grade is None:
        raise RecordError("invalid_value", f"the grade {row['grade']!r} is no whole number")
    judgment = {
        "query_id": row["query_id"],
        "source_id": row["source_id"],
        "assessor": assessor,
        "split": split,
        "grade": grade,
    }
    return {"judgments": [judgment]}


def _is_header(line: bytes, columns: Sequence[str]) -> bool:
    values = line.decode("utf-8", "replace").split()
    return len(values) == len(columns) and _parse_grade(values[list(columns).index("grade")]) is None


def _parse_grade(text: str) -> int | None:
    """The whole number that a grade is.

    >>> _parse_grade("2"), _parse_grade("-1"), _parse_grade("1.0"), _parse_grade("1.5")
    (2, -1, 1, None)
    """
    found = _GRADE.fullmatch(text)
    return int(found[1]) if found else None
