"""What a user's question to DuckDB may be: one query, which reads tables and views and names no file.

DuckDB by itself lets a query read the file of the database, its log, and the folders of views over files,
whatever else it was told; and a call of `query` hides a query within a text.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import duckdb

from pinakes.database.driver_errors import explain_stored_file, read_message
from pinakes.database.query_text import find_calls, find_explained
from pinakes.errors import InputError

HARMLESS_FUNCTIONS: Final = frozenset(
    {"generate_series", "icu_calendar_names", "json_each", "json_tree", "pg_timezone_names", "range"}
    | {"repeat", "repeat_row", "summary", "unnest"}
)
"""functions of DuckDB's that give rows of what a query gives them"""
_OF_THE_CATALOGUE: Final = ("duckdb_", "pragma_")
"""begin names of functions that say what the database holds"""
_CALLED: Final = """
    SELECT DISTINCT function_name
    FROM duckdb_functions()
    WHERE internal AND function_type IN ('table', 'table_macro') AND function_name = ANY(?)
    ORDER BY function_name
"""
_ENDING: Final = r"(?:db|ddb|duckdb|parquet|csv|tsv|json|jsonl|ndjson|arrow|xlsx)(?:\.\w+)?"
_FILE: Final = re.compile(rf"[/\\]|\.{_ENDING}$", re.IGNORECASE)
"""a name of a table that DuckDB may take for a file's"""
_FILE_IN_TEXT: Final = re.compile(rf"""\.(?:[\s"']*{_ENDING}\b|\s*(?:/\*|--))""", re.IGNORECASE)


@contextmanager
def refusing(cursor: Any, text: str) -> Iterator[None]:
    """What is no such question, and what DuckDB says of the text, as a user's error."""
    try:
        explained = find_explained(text)
        # What an EXPLAIN runs that is not found is not checked either: such a text is refused.
        _check_statement(cursor.extract_statements(text), is_explain=explained is not None)
        if explained is not None:
            _check_statement(cursor.extract_statements(explained), is_explain=False)
        _refuse_files(cursor, text if explained is None else explained)
        yield
    except (duckdb.Error, UnicodeDecodeError) as error:
        if (stored := explain_stored_file(error)) is not None:
            raise stored from error
        raise InputError(f"DuckDB refuses the query: {read_message(error)}") from error


def _check_statement(statements: list[Any], *, is_explain: bool) -> None:
    """Raise `InputError` for what is not one query; that it is an EXPLAIN alone does not make it one."""
    if len(statements) > 1:
        raise InputError(
            f"DuckDB refuses the query: these are {len(statements)} statements; expected one query."
        )
    kinds = duckdb.StatementType
    allowed = {kinds.SELECT, kinds.MULTI, *([kinds.EXPLAIN] if is_explain else [])}  # MULTI: a PIVOT
    for statement in statements:
        if statement.type not in allowed:
            raise InputError(
                f"DuckDB refuses the query: it is of the kind {statement.type.name}; expected SELECT, "
                "VALUES, FROM, WITH, PIVOT, EXPLAIN of one of these, SHOW, DESCRIBE or SUMMARIZE."
            )


def _refuse_files(cursor: Any, text: str) -> None:
    """Raise `InputError` where the query reads what is no table and no view."""
    named = _find_named(cursor, text)
    if named is None:  # a PIVOT, which DuckDB does not take apart for others: what only looks so counts too
        files = {found.group() for found in _FILE_IN_TEXT.finditer(text)}
        calls = find_calls(text)
    else:
        tables, calls = named
        files = {name for name in tables if _FILE.search(name)}
    if files:
        raise InputError(
            f"DuckDB refuses the query: {', '.join(sorted(files))} may be a file's name; expected tables and "
            "views."
        )
    doubtful = [
        name
        for name in {name.lower() for name in calls} - HARMLESS_FUNCTIONS
        if not name.startswith(_OF_THE_CATALOGUE)
    ]
    found = [name for (name,) in _ask(cursor, _CALLED, doubtful)] if doubtful else []
    if found:
        raise InputError(
            f"DuckDB refuses the query: {', '.join(found)} may read a file, or do more than read; expected "
            "tables and views."
        )


def _find_named(cursor: Any, text: str) -> tuple[set[str], set[str]] | None:
    """The tables that a query reads, with their schemas, and the functions that it reads as tables.

    None where DuckDB does not tell.
    """
    ((written,),) = _ask(cursor, "SELECT json_serialize_sql(CAST(? AS VARCHAR))", text)
    try:
        tree = json.loads(written)
    except RecursionError:
        return None
    if tree["error"]:
        return None
    tables, functions, left = set(), set(), [tree]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            left += node.values()
            if node.get("type") == "BASE_TABLE":
                parts = (node["catalog_name"], node["schema_name"], node["table_name"])
                tables.add(".".join(part for part in parts if part))
            elif node.get("type") == "TABLE_FUNCTION":
                functions.add(node["function"]["function_name"])
    return tables, functions


def _ask(cursor: Any, question: str, value: object) -> list[tuple[Any, ...]]:
    cursor.execute(question, [value])
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
