"""The SELECTs of a mapping against the columns of a file: checked before anything is loaded, run on batches.

A SELECT means what it gives for each record alone: `input` is that one record. A plain one (no grouping,
window, join, subquery in an expression, ORDER BY or LIMIT) gives the same on many records at once, and is run
so, with the record's number carried along; any other is joined laterally.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.errors import InputError
from pinakes.loaders.mapped.conversions import WrongTypeError, convert_column
from pinakes.loaders.mapped.mapping import (
    DEFAULTS,
    NUMBERED,
    OWN_ID,
    PAPERS,
    Block,
    Mapping,
    list_required,
    suggest,
)
from pinakes.loaders.mapped.sandbox import (
    DATA_ERRORS,
    MISSING,
    explain_error,
    open_sandbox,
    parse_select,
    walk,
    write_select,
)
from pinakes.loaders.mapped.syntax import RECORD, ROW, carry_record, find_shadowed
from pinakes.loaders.staging import STAGED, Reason

Faults = dict[int, tuple[Reason, str]]
"""Record -> why it is rejected: the first reason."""

_ABSENT: Final = re.compile(
    r'(?:Referenced (?:column|table)|column named|^Binder Error: Column) "((?:[^"]|"")+)"'
)
_LATERAL: Final = """SELECT r._record AS _row, t.* FROM (SELECT _record FROM _records) AS r,
LATERAL (WITH input AS (SELECT * FROM _records WHERE _records._record = r._record)
SELECT * FROM ({}) AS u) AS t"""


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT that is ready to run; for each column that is no text, `NAME?` holds a value that is wrong.

    Attributes:
        source: what the records are registered as.
    """

    table: str
    names: tuple[str, ...]
    sql: str
    source: str


class Plan:
    """A mapping that fits a file.

    Attributes:
        columns: those of the file that are read; for JSON Lines the keys.
        selects: in the order of the mapping.
    """

    def __init__(self, mapping: Mapping, available: pa.Schema | None, file: str) -> None:
        """Check every SELECT against a file's columns, or None where each key of a record is a text.

        Raises:
            InputError: a SELECT is wrong, or names a column that the file lacks.
        """
        self._mapping = mapping
        self._available = available
        self._file = file
        self._connection = open_sandbox()
        self._fields: dict[str, pa.Field] = {}
        bound = [self._bind(block) for block in mapping.blocks]
        self.columns = [field.name for field in self._fields.values()]
        self.selects = [
            self._finish(block, *found) for block, found in zip(mapping.blocks, bound, strict=True)
        ]

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def _bind(self, block: Block) -> tuple[str, duckdb.DuckDBPyRelation, bool]:
        """The SELECT with its record's number, its relation over no record, and whether it is plain."""
        tree = parse_select(self._connection, block.sql)
        self._add_named(block, tree)
        lateral = _LATERAL.format(write_select(self._connection, tree))
        is_plain = carry_record(tree["statements"][0]["node"])
        plain = write_select(self._connection, tree)
        while True:
            self._register(pa.schema([pa.field(RECORD, pa.int64()), *self._fields.values()]).empty_table())
            sql = plain if is_plain else lateral
            try:
                return sql, self._connection.sql(sql), is_plain
            except duckdb.Error as error:
                if is_plain and "GROUP BY" in str(error):  # it aggregates
                    is_plain = False
                elif not self._add_missing(block, error):
                    raise self._mapping.complain(block.place, self._explain(error)) from error

    def _explain(self, error: duckdb.Error) -> str:
        message = explain_error(error)
        if self._available is None and "Cannot extract field" in message:
            message += (
                "; reach into JSON with column->>'key', and into a list with unnest(CAST(column AS JSON[]))"
            )
        if "Permission" in type(error).__name__:
            message += "; a mapping reads `input` and nothing else"
        if isinstance(error, duckdb.CatalogException) and "Table with name" in message:
            message += "; the records are called input"
        return message

    def _add_named(self, block: Block, tree: dict[str, Any]) -> None:
        """Add the columns of the file that a SELECT may name; for JSON Lines, `_add_missing` does."""
        nodes = [node for node in walk(tree) if isinstance(node, dict)]
        has_star = any(node.get("class") == "STAR" for node in nodes)
        if self._available is not None:
            named = [node["column_names"] for node in nodes if node.get("class") == "COLUMN_REF"]
            for name in chain(*named, self._available.names if has_star else ()):
                if (field := self._find_field(name)) is not None:
                    self._fields.setdefault(name.lower(), field)
            return
        if has_star:
            raise self._mapping.complain(
                block.place, "JSON Lines have no list of columns for *; name the keys"
            )
        for name in (name for node in nodes for name in find_shadowed(node)):
            raise self._mapping.complain(
                block.place,
                f"{name} is a column that the SELECT makes, and may be a key of the records; write "
                f"input.{name} for the key, or make the column in a subquery",
            )

    def _add_missing(self, block: Block, error: duckdb.Error) -> bool:
        """Whether the column that an error names has been added to `input` for it."""
        found = _ABSENT.search(str(error))
        name = found[1].replace('""', '"') if found else ""
        if not name or name.lower() in (*self._fields, RECORD, ROW):
            return False
        field = pa.field(name, pa.string()) if self._available is None else self._find_field(name)
        if field is None:
            names = [] if self._available is None else self._available.names
            raise InputError(
                f"{self._file} has no column {name!r}, which the mapping {self._mapping.name} names in "
                f"{block.place}{suggest(name, names)}; its columns are {', '.join(names)}. What is "
                f"read for a column that some files lack is said in a block defaults: SELECT NULL AS {name}."
            )
        self._fields[name.lower()] = field
        return True

    def _find_field(self, name: str) -> pa.Field | None:
        """The file's column of that name; SQL does not distinguish case, but an equal name comes first."""
        alike = [field for field in self._available or () if field.name.lower() == name.lower()]
        return next((field for field in alike if field.name == name), alike[0] if alike else None)

    def _register(self, records: pa.Table) -> None:
        self._connection.register("input", records)
        self._connection.register("_records", records)

    def _finish(self, block: Block, sql: str, relation: duckdb.DuckDBPyRelation, is_plain: bool) -> Select:
        types = {
            name: str(type_)
            for name, type_ in zip(relation.columns, relation.types, strict=True)
            if name not in (RECORD, ROW)
        }
        self._check_names(block, list(types), is_plain)
        columns = [f"q.{ROW}"]
        for name, type_ in types.items():
            try:
                columns += convert_column(name, STAGED[block.table].field(name).type, type_)
            except WrongTypeError as error:
                raise self._mapping.complain(block.place, str(error)) from error
        # The names are those of staged columns.
        select = f"SELECT {', '.join(columns)} FROM ({sql}) AS q"  # noqa: S608 (runs where records alone are)
        return Select(block.table, tuple(types), select, "input" if is_plain else "_records")

    def _check_names(self, block: Block, names: list[str], is_plain: bool) -> None:
        known = STAGED[block.table].names[1:]
        for name in names:
            if name not in known:
                raise self._mapping.complain(
                    block.place,
                    f"there is no column {name!r}{suggest(name, known)}; name what is selected as one of "
                    f"{', '.join(known)}",
                )
        filled = {*names, *self._list_filled(block, names)}
        for name in list_required(block.table):
            if name not in filled:
                raise self._mapping.complain(
                    block.place, f"the column {name} is required; expected ... AS {name}"
                )
        number = NUMBERED.get(block.table)
        if number is not None and number not in names and not is_plain:
            raise self._mapping.complain(
                block.place,
                "rows have an order only in a plain SELECT over input; expected the column "
                f"{number} here, as in row_number() OVER (ORDER BY ...) AS {number}",
            )

    def _list_filled(self, block: Block, names: list[str]) -> Iterator[str]:
        """The columns that are filled in where a SELECT does not give them."""
        tables = {other.table for other in self._mapping.blocks}
        if block.table not in PAPERS and tables & {*PAPERS}:
            yield OWN_ID[block.table]
        yield from filter(None, [NUMBERED.get(block.table)])
        yield from (name for name in DEFAULTS.get(block.table, ()) if name != "label" or "value" in names)
        if block.table == "authorships":
            yield "author_source_id"

    def run(self, select: Select, records: pa.Table, faults: Faults) -> pa.Table | None:
        """The rows of a SELECT over the records without a fault; None where there are none.

        A record for which it cannot be computed becomes a fault, whatever the others hold.
        """
        if faults:
            is_faulty = pc.is_in(records[RECORD], value_set=pa.array(faults, pa.int64()))
            records = records.filter(pc.invert(is_faulty))

        def reject(number: int, error: Exception) -> None:
            message = explain_error(error)
            reason: Reason = "missing_field" if message == MISSING else "invalid_value"
            faults.setdefault(number, (reason, f"{select.table}: {message}"))

        def execute(records: pa.Table) -> pa.Table:
            self._connection.register(select.source, records)
            return self._connection.sql(select.sql).to_arrow_table()

        try:
            parts = list(run_apart(records, execute, DATA_ERRORS, reject))
        except duckdb.Error as error:
            raise self._mapping.complain(select.table, self._explain(error)) from error
        return pa.concat_tables(parts).combine_chunks() if parts else None

    def show_json(self, records: pa.Table) -> list[str]:
        """Each record as JSON, in the order of the records."""
        if not records.num_rows or records.num_columns == 1:
            return ["{}"] * records.num_rows
        self._connection.register("shown", records.drop_columns([RECORD]))
        shown = self._connection.sql("SELECT CAST(to_json(shown) AS VARCHAR) AS raw FROM shown")
        return [str(text) for text in shown.to_arrow_table()["raw"].to_pylist()]


def run_apart(
    records: pa.Table,
    run: Callable[[pa.Table], pa.Table],
    errors: tuple[type[Exception], ...],
    reject: Callable[[int, Exception], None],
) -> Iterator[pa.Table]:
    """What `run` gives for the records, in parts; one for which it raises such an error is rejected alone.

    A part that fails is halved until the first record that fails stands alone; parts double after each that
    does not. So there are hardly more than three runs for two records, whichever fail, and few where few do.
    """
    start, end, size = 0, 0, records.num_rows
    while start < records.num_rows:
        # From start to end some record fails; where end is start, nothing is known.
        is_known = end > start
        part = records.slice(start, max(1, (end - start) // 2) if is_known else size)
        try:
            yield run(part)
        except errors as error:
            size = size if is_known else max(1, part.num_rows // 2)
            end = start + part.num_rows
            if part.num_rows > 1:
                continue
            reject(part[RECORD][0].as_py(), error)
        else:
            size = size if is_known else size * 2
        start += part.num_rows
