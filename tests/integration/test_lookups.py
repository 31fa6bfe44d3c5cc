"""How a merge finds the rows of keys: the same ids on both databases, and papers by their index alone."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa

from pinakes.database import Database, Session, connect
from pinakes.database.packed_numbers import Numbers, pack_numbers
from pinakes.database.postgres_backend import PostgresBackend
from pinakes.loaders.merge.context import UNKNOWN, find_keys

FILL = """
INSERT INTO papers (paper_id, corpus_id, source_id, abstract, batch_id)
SELECT number, 1, 'key ' || CAST(number AS TEXT), REPEAT('long ', 100), 1
FROM GENERATE_SERIES(1, 20000) AS numbers (number)
"""
SETTINGS = ("enable_hashjoin", "enable_mergejoin")


def show(session: Session) -> list[str]:
    return [session.scalar(f"SHOW {name}") for name in SETTINGS]


def test_keys_are_found_among_many_papers(database: Database) -> None:
    numbers = np.random.default_rng(1).permutation(40_000) + 1
    keys = pa.chunked_array([[f"key {number}" for number in numbers]], pa.string())
    with database.begin() as session:
        session.execute(FILL)
        found = find_keys(session, "papers", 1, [keys])
        assert found.keys.equals(keys.chunk(0))
        assert np.array_equal(found.ids, np.where(numbers <= 20_000, numbers, UNKNOWN))
        assert (find_keys(session, "papers", 2, [keys]).ids == UNKNOWN).all()


def test_postgres_reads_papers_by_their_key_and_not_as_a_whole(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[str] = []
    fetch = PostgresBackend.fetch_numbers

    def explain(backend: PostgresBackend, connection: sa.Connection, query: sa.Select[Any]) -> list[Numbers]:
        compiled = pack_numbers(query).compile(connection, compile_kwargs={"render_postcompile": True})
        rows = connection.exec_driver_sql(f"EXPLAIN {compiled}", compiled.params)
        plans.append("\n".join(row[0] for row in rows))
        return fetch(backend, connection, query)

    monkeypatch.setattr(PostgresBackend, "fetch_numbers", explain)
    with postgres_database.begin() as session:
        session.execute(FILL)
        session.execute("ANALYZE papers")
        for count in (4_000, 10_000):
            keys = [f"new {number}" for number in range(count)]
            find_keys(session, "papers", 1, [pa.chunked_array([keys], pa.string())])
    few, many = plans
    assert "Nested Loop" in few
    assert "papers_source_key" in few
    assert "Join" not in few
    assert "Nested Loop" not in many  # as the planner thinks best


@pytest.mark.parametrize("before", ["on", "off"])
def test_a_session_joins_afterwards_as_it_did_before(postgres_url: str, before: str) -> None:
    name = sa.make_url(postgres_url).database
    with connect(postgres_url) as opened, opened.begin() as session:
        session.execute(f'ALTER DATABASE "{name}" SET enable_hashjoin = {before}')
    with connect(postgres_url) as opened, opened.begin() as session:
        assert show(session) == [before, "on"]
        with session.joined_by_index():
            assert show(session) == ["off", "off"]
        assert show(session) == [before, "on"]
