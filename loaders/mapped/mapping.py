"""A mapping: named SELECTs over `input`, one for each table of rows to be made.

It comes out of a file, or is written here, as a user would write it, for records that carry our own names.
"""

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from pinakes.database.sql_blocks import list_blocks
from pinakes.errors import InputError
from pinakes.loaders.base import ASSESSMENTS, PAPER_CHILDREN, CorpusDescription
from pinakes.loaders.mapped.sandbox import StatementError, explain_error, open_sandbox, parse_select
from pinakes.loaders.staging import STAGED

DEFAULTS: Final[dict[str, dict[str, str]]] = {
    "labels": {"split": "all", "quality": "gold", "label": "value"},
    "judgments": {"assessor": "published", "split": "test"},
    "sentences": {"section_number": "0"},
}
"""Staged table -> required column -> what it holds where a SELECT does not give it.

A label is the word `value` only beside a value.
"""

OWN_ID: Final = {**dict.fromkeys(STAGED, "source_id"), "citations": "citing_source_id"}
"""Staged table -> the column that takes the record's own paper where a SELECT does not give it."""

NUMBERED: Final = {
    "authorships": "position",
    "sentences": "position",
    "sections": "section_number",
    "review_scores": "review_id",
}
"""Staged table -> the column that takes a row's number in its record, from 1, where no SELECT gives it."""

RECORDS: Final = frozenset(
    {"papers", "mentioned_papers", "queries", "judgments", "pool_sources", "sentence_selections", "deletions"}
)
"""Staged tables whose rows must be whole: one without a required value rejects its record. A row of another
table is left out."""

PAPERS: Final = ("papers", "mentioned_papers")
_CORPUS: Final = tuple(member.name for member in fields(CorpusDescription))
_CSV: Final[dict[str, type]] = {"delimiter": str, "encoding": str, "quoted": bool, "columns": list}
_SETTINGS: Final[tuple[str, ...]] = ("corpus", "csv", "defaults")
_EXAMPLE: Final = "-- name: papers\nSELECT doi AS source_id, title FROM input"

_NESTED: Final = """-- name: {table}
SELECT {columns} FROM (
    SELECT
        unnest(CAST("{table}" AS JSON[])) AS item,
        generate_subscripts(CAST("{table}" AS JSON[]), 1) AS number,
        source_id
    FROM input
)"""


@dataclass(frozen=True, slots=True)
class Block:
    """One SELECT: the staged table that its rows are for, and what messages call it."""

    table: str
    sql: str
    place: str


@dataclass(frozen=True, slots=True)
class Mapping:
    """A whole mapping, the SELECTs of papers first.

    Attributes:
        corpus: what it says of the corpus.
        csv: the dialect of CSV: delimiter, encoding, quoted, columns.
        defaults: column of `input` -> what it holds in a file that lacks it, as one row.
        name: the file, for messages.
    """

    blocks: tuple[Block, ...]
    corpus: CorpusDescription | None = None
    csv: dict[str, Any] = field(default_factory=dict)
    defaults: pa.Table | None = None
    name: str = "of our names"

    def complain(self, place: str, message: str) -> InputError:
        """The error that says what is wrong in which block."""
        return InputError(f"the mapping {self.name}: {place}: {message}.")


def read_mapping(path: Path) -> Mapping:
    """The mapping that the file holds; an `InputError` where there is none, or it is no mapping."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"the mapping {path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the mapping {path} is not UTF-8 (byte {error.start}).") from error
    return parse_mapping(path.name, text)


@lru_cache(maxsize=8)
def parse_mapping(name: str, text: str) -> Mapping:
    """The mapping that a text of that name is; `InputError` as in `read_mapping`."""
    head, listed = list_blocks(text.replace("\r\n", "\n"))
    _refuse_toml(name, text)
    if any(line.strip() and not line.lstrip().startswith("--") for line in head.splitlines()):
        raise InputError(
            f"the mapping {name}: expected '-- name: TABLE' before the first SELECT, as in\n{_EXAMPLE}"
        )
    named = Mapping((), name=name)
    with open_sandbox() as connection:
        return _read_blocks(connection, named, listed)


def _refuse_toml(name: str, text: str) -> None:
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        document = {}
    if name.endswith(".toml") or document:
        tables = [key for key in document if key in STAGED] or ["papers"]
        raise InputError(
            f"the mapping {name} is TOML; a mapping is a file of SELECTs now, one for each table. Write for "
            f"{', '.join(tables)} a block such as\n{_EXAMPLE}\n"
            "The manual's section on CSV, JSON Lines and Parquet shows each key of TOML in SQL."
        )


def _read_blocks(
    connection: duckdb.DuckDBPyConnection, named: Mapping, listed: list[tuple[str, str]]
) -> Mapping:
    tables = [table for table, _ in listed]
    blocks: list[Block] = []
    settings: dict[str, pa.Table] = {}
    known = (*STAGED, *_SETTINGS)
    for number, (table, sql) in enumerate(listed):
        again = tables[:number].count(table)
        place = table if tables.count(table) == 1 else f"{table}[{again + 1}]"
        if table not in known:
            raise _complain_unknown(named, "", table, known)
        try:
            parse_select(connection, sql)
        except StatementError as error:
            raise named.complain(place, str(error)) from error
        if table in STAGED:
            blocks.append(Block(table, sql, place))
        elif again:
            raise named.complain(place, "it comes twice")
        else:
            settings[table] = _read_row(connection, named, table, sql)
    if not blocks:
        raise named.complain("it maps nothing", f"expected a block such as\n{_EXAMPLE}")
    # Papers first: their child rows take their ids.
    blocks.sort(key=lambda block: (block.table not in PAPERS, list(STAGED).index(block.table)))
    apart = {"citations", *(() if blocks[0].table in PAPERS else ASSESSMENTS)}
    for block in blocks:
        if blocks[0].table != "papers" and block.table in PAPER_CHILDREN.keys() - apart:
            raise named.complain(block.place, "its rows belong to the record's paper; add a block papers")
    csv = _take_csv(named, settings["csv"]) if "csv" in settings else {}
    corpus = _take_corpus(named, settings["corpus"]) if "corpus" in settings else None
    return Mapping(tuple(blocks), corpus, csv, settings.get("defaults"), named.name)


def _read_row(connection: duckdb.DuckDBPyConnection, named: Mapping, place: str, sql: str) -> pa.Table:
    try:
        row = connection.sql(sql).to_arrow_table()
    except duckdb.Error as error:
        raise named.complain(place, explain_error(error)) from error
    if row.num_rows != 1:
        raise named.complain(
            place, f"expected a SELECT of constants, which gives one row; it gives {row.num_rows}"
        )
    return row


def _take_values(named: Mapping, place: str, row: pa.Table, known: Iterable[str]) -> dict[str, Any]:
    for name in row.column_names:
        if name not in known:
            raise _complain_unknown(named, place, name, known)
    return {name: value for name, value in row.to_pylist()[0].items() if value is not None}


def _take_corpus(named: Mapping, row: pa.Table) -> CorpusDescription:
    texts = pa.schema([(name, pa.string()) for name in row.column_names])
    return CorpusDescription(**{"name": "", **_take_values(named, "corpus", row.cast(texts), _CORPUS)})


def _take_csv(named: Mapping, row: pa.Table) -> dict[str, Any]:
    given = _take_values(named, "csv", row, _CSV)
    for name, value in given.items():
        if not isinstance(value, _CSV[name]):
            raise named.complain(f"csv.{name}", f"expected {_CSV[name].__name__}, found {value!r:.80}")
    if len(given.get("delimiter", ",")) != 1:
        raise named.complain("csv.delimiter", "expected one character")
    if not _is_line_based(given.get("encoding", "utf-8")):
        raise named.complain(
            "csv.encoding", "expected an encoding that extends ASCII: utf-8, latin-1, cp1252, …"
        )
    if not all(isinstance(column, str) and column for column in given.get("columns", ["x"])):
        raise named.complain("csv.columns", "expected a list of names")
    return given


def _is_line_based(encoding: str) -> bool:
    """Whether lines and delimiters can be found before decoding."""
    try:
        return '\n,"\t;|'.encode(encoding) == b'\n,"\t;|'
    except LookupError:
        return False


def _complain_unknown(named: Mapping, place: str, name: str, known: Iterable[str]) -> InputError:
    listed = list(known)
    what = f"{place} has no column {name!r}" if place else f"there is no table {name!r}"
    return InputError(f"the mapping {named.name}: {what}{suggest(name, listed)}; known: {', '.join(listed)}.")


def suggest(name: str, known: Iterable[str]) -> str:
    """The closest of the known names as the end of a sentence; empty where none is close.

    >>> suggest("titel", ["title", "year"])
    " (did you mean 'title'?)"
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def list_required(table: str) -> list[str]:
    """The columns of a staged table that are never null."""
    return [field.name for field in list(STAGED[table])[1:] if not field.nullable]


def map_keys(table: str) -> Mapping:
    """The mapping of JSON Lines: keys are columns of the table, lists of objects are rows of other tables."""
    nested = [name for name in STAGED if name != "papers"] if table == "papers" else ["mentioned_papers"]
    columns = ", ".join(_fill(table, name, name) for name in STAGED[table].names[1:])
    blocks = [f"-- name: {table}\nSELECT {columns} FROM input"]
    blocks += [_write_nested(name, OWN_ID[table] == "source_id") for name in nested if name != table]
    return parse_mapping("of our names", "\n".join(blocks))


def _write_nested(table: str, has_source_id: bool) -> str:
    columns = []
    for name in STAGED[table].names[1:]:
        value = f"item->>'{name}'"
        if name == OWN_ID[table] and has_source_id and table != "mentioned_papers":
            value = f"coalesce({value}, source_id)"
        elif name == NUMBERED.get(table):
            value = f"coalesce({value}, CAST(number AS VARCHAR))"
        columns.append(_fill(table, name, value))
    return _NESTED.format(table=table, columns=", ".join(columns))


def _fill(table: str, name: str, value: str) -> str:
    """The column, with its default where the value is null."""
    default = DEFAULTS.get(table, {}).get(name)
    if name == "label":
        value = f"coalesce({value}, CASE WHEN {value.replace('label', 'value')} IS NOT NULL THEN 'value' END)"
    elif default is not None:
        value = f"coalesce({value}, '{default}')"
    return f'{value} AS "{name}"'


def map_columns(table: str, available: pa.Schema, file: str) -> Mapping:
    """The mapping of a table whose columns are called as ours; lists of structs are rows of other tables."""
    own = [name for name in STAGED[table].names[1:] if name in available.names]
    required = list_required(table)
    if available.names and not set(required) & set(own):
        raise InputError(
            f"{file} has no column {required[0]}; its columns are {', '.join(available.names)}. "
            "Say with --option mapping=FILE which of them feeds what."
        )
    columns = ", ".join(f'"{name}"' for name in own) or "NULL AS source_id"
    blocks = [f"-- name: {table}\nSELECT {columns} FROM input"]
    for name in STAGED if table == "papers" else ["mentioned_papers"]:
        if name != table and name in available.names and _holds_structs(available.field(name).type):
            members = {member.name for member in available.field(name).type.value_type}
            kept = ", ".join(f'item."{column}"' for column in STAGED[name].names[1:] if column in members)
            select = f'SELECT {kept} FROM (SELECT unnest("{name}") AS item FROM input)'  # noqa: S608 - our names
            blocks.append(f"-- name: {name}\n{select}")
    return parse_mapping("of our names", "\n".join(blocks))


def _holds_structs(type_: pa.DataType) -> bool:
    is_list = pa.types.is_list(type_) or pa.types.is_large_list(type_)
    return bool(is_list and pa.types.is_struct(type_.value_type))
