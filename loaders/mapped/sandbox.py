"""A DuckDB connection for the SQL of a mapping: no files, no network, no Python variables, locked."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import duckdb
import pyarrow as pa

from pinakes.database.driver_errors import read_message
from pinakes.loaders.reading.columns import normalise_identifiers
from pinakes.loaders.reading.rows import normalise_title

MISSING: Final = "the record holds nothing for it"
"""What `required` raises where a value is missing."""

DATA_ERRORS: Final = (duckdb.DataError, duckdb.InvalidInputException, UnicodeDecodeError)
"""What DuckDB raises where a record holds a value that an expression cannot take.

The last where its message quotes a part of the value, cut in the middle of a character.
"""

_SETTINGS: Final[dict[str, str | bool | int | float | list[str]]] = {
    "python_enable_replacements": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "temp_directory": "",
    # One thread, so that the rows of a record stay in their order; --jobs reads files beside each other.
    "threads": 1,
}
_MACROS: Final = f"""
CREATE MACRO required(value) AS
    CASE WHEN coalesce(trim(CAST(value AS VARCHAR)), '') = '' THEN error('{MISSING}') ELSE value END;
"""


class StatementError(Exception):
    """The text is not one SELECT; the message says what is expected."""


def open_sandbox() -> duckdb.DuckDBPyConnection:
    """A connection in memory that reaches nothing else, with the functions that mappings may call."""
    connection = duckdb.connect(":memory:", config=_SETTINGS)
    connection.create_function(
        "normalise_identifier", _normalise_identifiers, ["VARCHAR", "VARCHAR"], "VARCHAR", **_AS_ARROW
    )
    connection.create_function("normalise_title", _normalise_titles, ["VARCHAR"], "VARCHAR", **_AS_ARROW)
    connection.execute(_MACROS)
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


_AS_ARROW: Final[dict[str, Any]] = {"type": "arrow", "null_handling": "special"}


def _normalise_identifiers(schemes: pa.ChunkedArray, texts: pa.ChunkedArray) -> pa.Array:
    return normalise_by_scheme(_join(schemes), _join(texts))


def normalise_by_scheme(schemes: pa.Array, texts: pa.Array) -> pa.Array:
    """Each identifier in the one spelling of its scheme; null where the scheme is null or nothing is left."""
    names = schemes.unique().to_pylist()
    if len(names) == 1 and names[0] is not None:
        return normalise_identifiers(names[0], texts)
    spelled = pa.nulls(len(texts), pa.string())
    for name in names:
        if name is not None:
            mask = pa.compute.fill_null(pa.compute.equal(schemes, name), False)
            spelled = pa.compute.replace_with_mask(
                spelled, mask, normalise_identifiers(name, texts.filter(mask))
            )
    return spelled


def _normalise_titles(titles: pa.ChunkedArray) -> pa.Array:
    spelled = (None if title is None else normalise_title(title) or None for title in titles.to_pylist())
    return pa.array(spelled, pa.string())


def _join(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    joined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return joined.cast(pa.string())


def parse_select(connection: duckdb.DuckDBPyConnection, text: str) -> dict[str, Any]:
    """The one SELECT that the text is, as DuckDB's tree of it; `StatementError` where it is anything else."""
    row = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchall()
    tree: dict[str, Any] = json.loads(row[0][0])
    if tree["error"]:
        message = tree["error_message"]
        raise StatementError("expected one SELECT" if "Only SELECT" in message else message)
    if len(tree["statements"]) != 1:
        raise StatementError(f"expected one SELECT, found {len(tree['statements'])} statements")
    return tree


def write_select(connection: duckdb.DuckDBPyConnection, tree: dict[str, Any]) -> str:
    """The text of a tree, without comments and semicolons."""
    row = connection.execute("SELECT json_deserialize_sql(?::VARCHAR)", [json.dumps(tree)]).fetchall()
    return str(row[0][0])


def walk(tree: Any) -> Iterator[Any]:
    """A value and all that it holds, at any depth.

    >>> list(walk({"a": [1]}))
    [{'a': [1]}, [1], 1]
    """
    yield tree
    members = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for member in members:
        yield from walk(member)


def explain_error(error: Exception) -> str:
    """What DuckDB says is wrong, in one line, without the kind of error and the place in the text.

    >>> explain_error(duckdb.BinderException("Binder Error: no such column\\n\\nLINE 1: SELECT x\\n  ^"))
    'no such column'
    """
    message = re.sub(r"^[A-Z][\w -]*Error: ", "", read_message(error).split("\n\nLINE ")[0])
    return " ".join(message.split()).rstrip(".")[:400]
