"""Lines of relevance judgments: columns separated by tabs or blanks, in a given order.

TREC qrels have four columns (query, iteration, document, grade), BEIR's three with a header line, SMART's
three or four. Leaves out: which file holds them.
"""

from collections.abc import Iterator, Sequence

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading import read_text_lines, reject_line
from pinakes.loaders.staging import Accepted, Rejected


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
        has_header: whether the first line names the columns.
    """
    for line in read_text_lines(file):
        if isinstance(line, Rejected):
            yield line
            continue
        number, text = line
        if text.startswith("#") or (has_header and number == 1 and not _has_grade(text, columns)):
            continue
        yield _parse_line(number, text, columns, split, assessor)


def _parse_line(
    number: int, text: str, columns: Sequence[str], split: str, assessor: str
) -> Accepted | Rejected:
    values = text.split()
    if len(values) != len(columns):
        expected = f"{len(values)} columns, expected {len(columns)}: {' '.join(columns)}"
        return reject_line(number, "malformed_line", expected, text)
    row = {"grade": "1"} | dict(zip(columns, values, strict=True))
    grade = _parse_grade(row["grade"])
    if grade is None:
        return reject_line(number, "invalid_value", f"the grade {row['grade']!r} is no whole number", text)
    judgment = {
        "query_id": row["query_id"],
        "source_id": row["source_id"],
        "assessor": assessor,
        "split": split,
        "grade": grade,
    }
    return Accepted(number, {"judgments": [judgment]})


def _has_grade(text: str, columns: Sequence[str]) -> bool:
    values = text.split()
    return len(values) == len(columns) and _parse_grade(values[list(columns).index("grade")]) is not None


def _parse_grade(text: str) -> int | None:
    """The whole number that a grade is.

    >>> _parse_grade("2"), _parse_grade("-1"), _parse_grade("1.0"), _parse_grade("1.5")
    (2, -1, 1, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else None
