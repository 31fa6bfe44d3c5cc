"""A user's own questions to the database, which can change nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pinakes.database.core import Database, RawResult
from pinakes.database.driver_errors import driver_errors, explain
from pinakes.errors import InputError


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


def _explain_refusal(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    try:
        yield from rows
    except driver_errors() as error:
        raise explain(error) or InputError(f"the database refuses the query: {error}") from error
