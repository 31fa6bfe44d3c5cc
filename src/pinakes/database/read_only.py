"""A user's own questions to the database, which can change nothing."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import pyarrow as pa

from pinakes.database.core import ArrowResult, Database, RawResult
from pinakes.database.driver_errors import driver_errors, explain
from pinakes.errors import InputError

_Part = TypeVar("_Part")


@contextmanager
def ask(database: Database, text: str) -> Iterator[RawResult]:
    """The result of a user's query over a database that was opened read-only.

    Raises `InputError` where the database refuses the text, at once or while its rows come.
    """
    with database.read() as session:
        result = session.query(text)
        if not result.columns:
            raise InputError("the text holds no query; expected one, as SELECT * FROM corpora.")
        yield RawResult(result.columns, _explain_refusal(result.rows))


@contextmanager
def ask_arrow(database: Database, text: str) -> Iterator[ArrowResult]:
    """As `ask`, in Arrow tables; of columns of one name the second is called `name_2`."""
    with database.read() as session:
        result = session.query_arrow(text)
        names = number_repeated(result.schema.names)
        if not names:
            raise InputError("the text holds no query; expected one, as SELECT * FROM corpora.")
        schema = pa.schema([field.with_name(name) for field, name in zip(result.schema, names, strict=True)])
        parts = (part.rename_columns(names) for part in _explain_refusal(result.parts))
        yield ArrowResult(schema, parts)


def number_repeated(names: Sequence[str]) -> list[str]:
    """The names, none of them twice.

    >>> number_repeated(["a", "b", "a"])
    ['a', 'b', 'a_2']
    """
    unique: list[str] = []
    for name in names:
        number, wanted = 1, name
        while wanted in unique:
            number += 1
            wanted = f"{name}_{number}"
        unique.append(wanted)
    return unique


def _explain_refusal(rows: Iterator[_Part]) -> Generator[_Part]:
    try:
        yield from rows
    except driver_errors() as error:
        raise explain(error) or InputError(f"the database refuses the query: {error}") from error
