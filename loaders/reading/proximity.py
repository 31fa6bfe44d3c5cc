"""What the loaders of benchmark collections share: rows of papers, queries, grades and labels."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.identifiers import normalise_identifier
from pinakes.loaders.reading.qrels import read_qrels
from pinakes.loaders.reading.scalars import take_int, take_list, take_text, take_year
from pinakes.loaders.staging import Accepted, RecordError, Rejected, Rows

Row = dict[str, Any]


def take_id(record: Mapping[str, Any], *names: str) -> str:
    """The first of the named fields that holds an id.

    Raises:
        RecordError: none does, or one holds something else.
    """
    for name in names:
        value = record.get(name)
        if isinstance(value, float) and not value.is_integer():
            raise RecordError("invalid_value", f"{name}: expected an id, found {value!r:.80}")
        found = take_text({name: int(value)} if isinstance(value, float) else record, name)
        if found is not None:
            return found
    raise RecordError("missing_field", f"no {' and no '.join(names)}")


def describe_paper(source_id: str, record: Mapping[str, Any]) -> Row:
    """A paper's row from the fields title, abstract, year and venue of a record."""
    return {
        "source_id": source_id,
        "title": take_text(record, "title"),
        "abstract": take_text(record, "abstract"),
        "year": take_year(record.get("year")),
        "venue": take_text(record, "venue"),
    }


def list_identifiers(source_id: str, found: Mapping[str, object]) -> list[Row]:
    """The rows of a paper's identifiers: scheme -> identifier as the source writes it."""
    normalised = {scheme: normalise_identifier(scheme, value) for scheme, value in found.items()}
    return [
        {"source_id": source_id, "scheme": scheme, "identifier": identifier}
        for scheme, identifier in normalised.items()
        if identifier is not None
    ]


def list_authorships(source_id: str, names: list[Any]) -> list[Row]:
    """The rows of a paper's authors from their names, in order; empty names are passed over.

    Raises:
        RecordError: a name is no text.
    """
    taken = [take_text({"author": name}, "author") for name in names]
    return [
        {
            "source_id": source_id,
            "position": position,
            "author_source_id": f"name:{name}",
            "author_name": name,
        }
        for position, name in enumerate((name for name in taken if name), start=1)
    ]


def take_members(record: Mapping[str, Any], name: str) -> list[Any]:
    """The members of a list; none where there is no list.

    Raises:
        RecordError: the value is no list.
    """
    return take_list(record, name) or []


def take_ids(record: Mapping[str, Any], name: str) -> list[str]:
    """The ids that a list holds, each once.

    Raises:
        RecordError: the value is no list, or a member is no id.

    >>> take_ids({"references": [7, "8", 7]}, "references")
    ['7', '8']
    """
    return list(dict.fromkeys(take_id({name: member}, name) for member in take_members(record, name)))


def take_grade(value: object) -> int:
    """A grade that is owed.

    Raises:
        RecordError: there is none, or it is no whole number.
    """
    grade = take_int(value, "grade")
    if grade is None:
        raise RecordError("missing_field", "no grade")
    return grade


def make_judgment(
    query_id: str, source_id: str, grade: int, split: str, *, assessor: str = "published"
) -> Row:
    """A row of judgments."""
    return {
        "query_id": query_id,
        "source_id": source_id,
        "assessor": assessor,
        "split": split,
        "grade": grade,
    }


def make_label(
    task: str,
    source_id: str,
    split: str,
    label: str,
    *,
    value: float | None = None,
    quality: str = "gold",
) -> Row:
    """A row of labels; a number's label is `value`."""
    return {
        "task": task,
        "source_id": source_id,
        "split": split,
        "label": label,
        "value": value,
        "quality": quality,
    }


def read_task_qrels(
    file: InputFile, task: str, split: str, *, asks_papers: bool = True
) -> Iterator[Accepted | Rejected]:
    """The judgments of a task's qrels (query, iteration, paper, grade), under queries `<task>:<query>`.

    Records are numbered without the comments between them.
    The first accepted judgment of a query brings the query: a paper, or with `asks_papers` false nothing but
    its name.
    """
    known: set[str] = set()
    columns = ("query_id", "iteration", "source_id", "grade")
    for number, record in enumerate(read_qrels(file, columns=columns, split=split), start=1):
        if isinstance(record, Rejected):
            yield replace(record, row_number=number)
            continue
        (judgment,) = record.rows["judgments"]
        rows = judge_of_task(task, split, judgment, known, asks_papers=asks_papers)
        yield replace(record, row_number=number, rows=rows)


def judge_of_task(task: str, split: str, judgment: Row, known: set[str], *, asks_papers: bool = True) -> Rows:
    """A judgment under the query `<task>:<query>`; with the query where it is not `known` yet."""
    requested = judgment["query_id"]
    query_id = f"{task}:{requested}"
    rows: dict[str, list[Row]] = {"judgments": [judgment | {"query_id": query_id}]}
    if asks_papers and requested not in known:
        known.add(requested)
        rows["queries"] = [{"query_id": query_id, "paper_source_id": requested, "field": task, "fold": split}]
    return rows
