"""A mapping out of its file: named SELECTs over `input`, one for each table of rows to be made.

Leaves out: whether a file has the columns that the SELECTs name (`plan`).
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
from pinakes.loaders.base import PAPER_CHILDREN, CorpusDescription
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

_PAPERS: Final = ("papers", "mentioned_papers")
_CORPUS: Final = tuple(member.name for member in fields(CorpusDescription))
_CSV: Final[dict[str, type]] = {"delimiter": str, "encoding": str, "quoted": bool, "columns": list}
_SETTINGS: Final[tuple[str, ...]] = ("corpus", "csv", "defaults")
_EXAMPLE: Final = "-- name: papers\nSELECT doi AS source_id, title FROM input"


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
    """The mapping that the file holds.

    Raises:
        InputError: there is no such file, or a block is unknown or no SELECT.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"the mapping {path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the mapping {path} is not UTF-8 (byte {error.start}).") from error
    return parse_mapping(path.name, text)


@lru_cache(maxsize=8)
def parse_mapping(name: str, text: str) -> Mapping:
    """The mapping that a text of that name is.

    Raises:
        InputError: as `read_mapping`.
    """
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
    for number, (table, sql) in enumerate(listed):
        again = tables[:number].count(table)
        place = table if tables.count(table) == 1 else f"{table}[{again + 1}]"
        if table not in (*STAGED, *_SETTINGS):
            raise _complain_unknown(named, "", table, (*STAGED, *_SETTINGS))
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
    blocks.sort(key=lambda block: (block.table not in _PAPERS, list(STAGED).index(block.table)))
    _check_owners(named, blocks)
    csv = _take_csv(named, settings["csv"]) if "csv" in settings else {}
    corpus = _take_corpus(named, settings["corpus"]) if "corpus" in settings else None
    return Mapping(tuple(blocks), corpus, csv, settings.get("defaults"), named.name)


def _check_owners(named: Mapping, blocks: list[Block]) -> None:
    tables = {block.table for block in blocks}
    for block in blocks:
        if "papers" not in tables and block.table in PAPER_CHILDREN and block.table != "citations":
            raise named.complain(block.place, "its rows belong to the record's paper; add a block papers")


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
