"""A file of queries: one a line, or with their ids as JSON Lines or in two columns; plain or compressed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from pinakes.errors import InputError, show
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.streams import decode_utf8, read_lines
from pinakes.loaders.staging import RecordError
from pinakes.writing.files import find_kind

ID_FIELDS: Final = ("_id", "query_id", "qid", "id")
TEXT_FIELDS: Final = ("text", "query")
_NAMED: Final = 5
"""lines that a message names"""


@dataclass(frozen=True, slots=True)
class Query:
    """A query and its id: the number of its line where the file gives none."""

    query_id: str
    text: str


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that is no query, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class QueryFile:
    """The queries of a file, in its order, and the lines that are none."""

    name: str
    queries: tuple[Query, ...]
    refused: tuple[RefusedLine, ...]

    def require_whole(self) -> None:
        """Raise `InputError` where a line was refused; the message counts and names them."""
        if self.refused:
            total = len(self.queries) + len(self.refused)
            raise InputError(
                f"{len(self.refused):,} of {total:,} lines of {self.name} are no queries and were left out: "
                f"{_name(self.refused)}."
            )


def read_query_file(path: Path) -> QueryFile:
    """The queries of a file; what kind it is its name says.

    `.jsonl`, `.ndjson` and `.json`: an object a line, its id in one of `ID_FIELDS`, its text in one of
    `TEXT_FIELDS`. `.tsv`: id, tab, text, without a header. Any other: a text a line, and its number is its
    id. An empty line is none.

    Raises:
        InputError: the file cannot be read, or holds no query.
        LoadError: it is damaged.
    """
    take = _KINDS.get(find_kind(path), _take_text)
    queries: dict[str, Query] = {}
    refused = []
    for number, raw in read_lines(InputFile(path, path.name, "queries")):
        try:
            query = take(number, decode_utf8(raw))
            _check(query, queries)
        except RecordError as error:
            refused.append(RefusedLine(number, str(error)))
        else:
            queries[query.query_id] = query
    if not queries:
        why = f"{_name(refused)}" if refused else "it is empty"
        raise InputError(f"{path.name} holds no query: {why}.")
    return QueryFile(path.name, tuple(queries.values()), tuple(refused))


def _check(query: Query, known: Mapping[str, Query]) -> None:
    if not query.query_id.strip():
        raise RecordError("missing_field", "the id is empty")
    if query.query_id in known:
        raise RecordError("duplicate_id", f"the id {show(query.query_id)} was given before")
    if not query.text.strip():
        raise RecordError("missing_field", "the text is empty")


def _take_text(number: int, line: str) -> Query:
    return Query(str(number), line)


def _take_columns(_number: int, line: str) -> Query:
    query_id, tab, text = line.partition("\t")
    if not tab:
        raise RecordError("missing_field", "it has no tab; expected an id, a tab and a text")
    return Query(query_id, text)


def _take_object(_number: int, line: str) -> Query:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise RecordError("not_json", "it is not JSON") from error
    if not isinstance(record, dict):
        raise RecordError("not_json", "it is no JSON object")
    return Query(str(_find(record, ID_FIELDS, (str, int))), str(_find(record, TEXT_FIELDS, (str,))))


def _find(record: Mapping[str, Any], names: tuple[str, ...], kinds: tuple[type, ...]) -> Any:
    for name in names:
        value = record.get(name)
        if isinstance(value, kinds) and not isinstance(value, bool):
            return value
    raise RecordError("missing_field", f"it has no {' or '.join(names)}")


def _name(refused: list[RefusedLine] | tuple[RefusedLine, ...]) -> str:
    def name() -> Iterator[str]:
        for one in refused[:_NAMED]:
            yield f"line {one.line}: {one.reason}"
        if len(refused) > _NAMED:
            yield f"and {len(refused) - _NAMED:,} more"

    return "; ".join(name())


_KINDS: Final[Mapping[str, Callable[[int, str], Query]]] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), _take_object),
    ".tsv": _take_columns,
}
"""ending of a file's name -> what takes a line's number and the line"""
