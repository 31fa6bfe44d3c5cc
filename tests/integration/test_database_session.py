"""Sessions: bulk rows in and out are the same on both databases; what is staged goes with its transaction."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa

from pinakes.database import Database, Session, connect
from pinakes.database.backend import RawResult
from pinakes.errors import InputError
from pinakes.schema import vectors_table

ROWS = pa.table(
    {
        "name": pa.array(["é漢🎓", "", None, 'tab\t"quote"\nline'], pa.string()),
        "small": pa.array([2**31 - 1, -(2**31), None, 0], pa.int32()),
        "large": pa.array([2**63 - 1, -(2**63), None, 0], pa.int64()),
        "single": pa.array([1.5, -0.1, None, float("inf")], pa.float32()),
        "double": pa.array([0.1, 1e-300, None, -1e300], pa.float64()),
        "flag": pa.array([True, False, None, True], pa.bool_()),
        "moment": pa.array(
            [datetime(2024, 5, 6, 7, 8, 9, 123456, UTC), datetime(1970, 1, 1, tzinfo=UTC), None, None],
            pa.timestamp("us", tz="UTC"),
        ),
        "local": pa.array([datetime(2024, 2, 29, 23, 59, 59), None, None, None], pa.timestamp("us")),
    }
)

VALUES = sa.Table(
    "all_types",
    sa.MetaData(),
    sa.Column("name", sa.Text),
    sa.Column("small", sa.Integer),
    sa.Column("large", sa.BigInteger),
    sa.Column("single", sa.REAL),
    sa.Column("double", sa.Double),
    sa.Column("flag", sa.Boolean),
    sa.Column("moment", sa.DateTime(timezone=True)),
    sa.Column("local", sa.DateTime),
)
ORDERED = sa.select(VALUES).order_by(VALUES.c.double.asc().nulls_last())


def _in_order(rows: pa.Table) -> pa.Table:
    return rows.take(pa.array([3, 1, 0, 2]))


def test_rows_come_out_as_they_went_in(database: Database) -> None:
    with database.begin() as session:
        VALUES.create(session.connection)
        assert session.insert(VALUES, ROWS) == 4
        assert session.fetch_arrow(ORDERED).equals(_in_order(ROWS))
        assert pa.concat_tables(session.stream(ORDERED, rows=3)).combine_chunks().equals(_in_order(ROWS))


def test_staged_rows_come_out_as_they_went_in(database: Database) -> None:
    with database.begin() as session, session.staged({"staged_values": ROWS}):
        found = session.fetch_arrow("SELECT * FROM staged_values ORDER BY double NULLS LAST")
    assert found.equals(_in_order(ROWS))


def test_an_empty_result_keeps_names_and_types(database: Database) -> None:
    with database.begin() as session:
        VALUES.create(session.connection)
        assert session.insert(VALUES, ROWS.slice(0, 0)) == 0
        assert session.fetch_arrow(ORDERED).schema.equals(ROWS.schema)
        assert sum(part.num_rows for part in session.stream(ORDERED)) == 0


def test_a_stream_comes_in_parts_and_leaves_the_session_usable(database: Database) -> None:
    with database.begin() as session:
        VALUES.create(session.connection)
        numbers = pa.table({"large": pa.array(range(5_000), pa.int64())})
        session.insert(VALUES, numbers)
        query = "SELECT large FROM all_types WHERE large >= :least ORDER BY large"
        parts = list(session.stream(query, {"least": 10}, rows=1_000))
        assert max(part.num_rows for part in parts) <= 2_048  # DuckDB gives whole vectors
        assert [n for part in parts for n in part["large"].to_pylist()] == list(range(10, 5_000))
        assert session.execute("DELETE FROM all_types WHERE large < 4000") == 4_000
        assert session.scalar("SELECT COUNT(*) FROM all_types") == 1_000


@pytest.mark.parametrize("rows", [1_999, 2_000, 2_001, 4_000, 9_000, 50_000])
def test_many_rows_come_out_whole_and_in_order(database: Database, rows: int) -> None:
    numbers = pa.table({"name": [None if n % 7 else f"é{n}" for n in range(9_000)], "large": range(9_000)})
    query = sa.select(VALUES.c.name, VALUES.c.large).order_by(VALUES.c.large)
    with database.begin() as session:
        VALUES.create(session.connection)
        session.insert(VALUES, numbers)
        assert session.fetch_arrow(query).combine_chunks() == numbers
        assert session.fetch_arrow(query.limit(rows)).combine_chunks() == numbers.slice(0, rows)
        parts = list(session.stream(query, rows=rows))
        assert pa.concat_tables(parts).combine_chunks() == numbers
        if database.name == "postgresql":  # DuckDB gives whole vectors
            sizes = [part.num_rows for part in parts]
            assert sizes == [rows] * (9_000 // rows) + [9_000 % rows] * (9_000 % rows > 0)


def test_two_streams_are_read_in_turns(postgres_url: str) -> None:
    text = "SELECT n FROM GENERATE_SERIES(1, :most) AS listed (n)"
    with connect(postgres_url) as database, database.read() as session:
        streams = [session.stream(text, {"most": most}, rows=2) for most in (3, 4)]
        turns = [next(stream)["n"].to_pylist() for _ in range(2) for stream in streams]
    assert turns == [[1, 2], [1, 2], [3], [3, 4]]


@pytest.mark.parametrize("way", ["stream", "query", "query_arrow"])
def test_an_error_amid_a_result_keeps_the_connection(database: Database, way: str) -> None:
    thrown_away: list[object] = []
    sa.event.listen(database.engine, "invalidate", lambda *_: thrown_away.append(_))
    text = "SELECT * FROM (VALUES (1), (2), (3)) AS t (n)"
    kept: list[object] = []  # as a traceback does
    for transaction in (database.read, database.begin, database.rehearse):
        with suppress(InputError), transaction() as opened, opened_session(opened) as session:
            if way == "stream":
                parts = session.stream(text, rows=1)
            else:
                result = session.query(text) if way == "query" else session.query_arrow(text, rows=1)
                parts = result.rows if isinstance(result, RawResult) else result.parts
            next(parts)
            kept.append(parts)
            raise InputError("amid")
        assert thrown_away == []  # else DuckDB's next connection would wait for the result for ever
        with database.read() as session:
            assert session.scalar(text) == 1


@contextmanager
def opened_session(opened: Session | Database) -> Iterator[Session]:
    if isinstance(opened, Session):
        yield opened
    else:
        with opened.begin() as session:
            yield session


def test_sums_and_means_are_floats_on_both(database: Database) -> None:
    query = "SELECT SUM(n) AS total, AVG(n) AS mean, COUNT(*) AS papers FROM (VALUES (1), (2)) AS t (n)"
    with database.read() as session:
        found = session.fetch_arrow(query)
    assert found.to_pylist() == [{"total": 3.0, "mean": 1.5, "papers": 2}]
    assert found.schema.field("mean").type == pa.float64()


def test_a_decimal_comes_as_the_nearest_float_on_both(database: Database) -> None:
    written = {"a": "95.35", "b": "0.1818", "c": "NULL"}
    query = "SELECT " + ", ".join(f"CAST({one} AS DECIMAL(8, 4)) AS {name}" for name, one in written.items())
    with database.read() as session:
        found = session.fetch_arrow(query)
        parts = list(session.query_arrow(query).parts)
    assert found.to_pylist() == [{"a": 95.35, "b": 0.1818, "c": None}]
    assert parts[0].to_pylist() == found.to_pylist()


def test_a_uuid_comes_as_text(database: Database) -> None:
    query = (
        "SELECT CAST(md5('a') AS UUID) AS digest, CAST('2024-02-29' AS DATE) AS day, "
        "CAST('x' AS VARCHAR) AS name"
    )
    with database.read() as session:
        found = session.fetch_arrow(query)
    assert found.equals(
        pa.table(
            {
                "digest": pa.array(["0cc175b9-c0f1-b6a8-31c3-99e269772661"], pa.string()),
                "day": pa.array([date(2024, 2, 29)], pa.date32()),
                "name": pa.array(["x"], pa.string()),
            }
        )
    )


def _vector_rows(count: int, dimensions: int) -> pa.Table:
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((count, dimensions), dtype=np.float32)
    digests = [f"{number:032x}" for number in range(count)]
    return pa.table(
        {
            "text_digest": pa.array(
                [f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}" for d in digests], pa.string()
            ),
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), dimensions),
        }
    )


def _values(rows: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rows.to_pylist()
    return found


def test_vectors_come_out_bit_by_bit_as_they_went_in(database: Database) -> None:
    table = vectors_table("toy", 7)
    rows = _vector_rows(40, 7)
    with database.begin() as session:
        table.create(session.connection)
        assert session.insert(table, rows) == 40
        query = sa.select(table).order_by(table.c.text_digest)
        found = session.fetch_arrow(query)
        streamed = pa.concat_tables(session.stream(query, rows=16))
    assert pa.types.is_fixed_size_list(found.schema.field("embedding").type)
    assert found.schema.field("embedding").type.list_size == 7
    assert _values(found) == _values(rows)
    assert _values(streamed) == _values(rows)


def test_a_missing_vector_comes_as_null(database: Database) -> None:
    table = vectors_table("toy", 2)
    rows = _vector_rows(1, 2)
    query = (
        "SELECT n, embedding FROM (VALUES (0, 1), (1, 2)) AS wanted (digest, n) "
        "LEFT JOIN vectors_toy ON text_digest = CAST('00000000-0000-0000-0000-000000000000' AS UUID) "
        "AND digest = 0 ORDER BY n"
    )
    with database.begin() as session:
        table.create(session.connection)
        session.insert(table, rows)
        found = session.fetch_arrow(query)
        missing = session.fetch_arrow("SELECT * FROM (" + query + ") AS found WHERE n = 2")
    assert _values(found) == [
        {"n": 1, "embedding": rows["embedding"][0].as_py()},
        {"n": 2, "embedding": None},
    ]
    assert _values(missing) == [{"n": 2, "embedding": None}]


def test_vectors_are_asked_for_by_parameters_may_be_missing_and_need_not_be_read_to_the_end(
    database: Database,
) -> None:
    table, rows = vectors_table("toy", 3), _vector_rows(9, 3)
    digests = [UUID(digest) for digest in rows["text_digest"].to_pylist()]
    other = table.alias("other")
    joined = table.outerjoin(
        other, sa.and_(other.c.text_digest == table.c.text_digest, other.c.text_digest == digests[4])
    )
    chosen = table.c.text_digest.in_([digests[4], digests[2], digests[7]])
    query = sa.select(table.c.text_digest, other.c.embedding).select_from(joined).where(chosen)
    query = query.order_by(table.c.text_digest)
    expected = [
        {
            "text_digest": str(digests[place]),
            "embedding": rows["embedding"][4].as_py() if place == 4 else None,
        }
        for place in (2, 4, 7)
    ]
    with database.begin() as session:
        table.create(session.connection)
        session.insert(table, rows)
    with database.read() as session:
        assert _values(session.fetch_arrow(query)) == expected
        parts = session.stream(sa.select(table), rows=2)
        next(iter(parts))
        parts.close()  # type: ignore[attr-defined]
        assert _values(pa.concat_tables(session.stream(query))) == expected
        assert _values(session.fetch_arrow(query.where(sa.false()))) == []


def test_vectors_are_streamed_with_whole_numbers_and_digests_beside_them(database: Database) -> None:
    table, rows = vectors_table("toy", 3), _vector_rows(50, 3)
    digests = [UUID(digest) for digest in rows["text_digest"].to_pylist()]
    number = sa.func.row_number(type_=sa.BigInteger).over(order_by=table.c.text_digest)
    columns = sa.select(number.label("n"), table.c.embedding, table.c.text_digest)
    query = columns.where(table.c.text_digest.in_(digests[10:])).order_by(table.c.text_digest.desc())
    expected = [
        {"n": place - 9, "embedding": rows["embedding"][place].as_py(), "text_digest": str(digests[place])}
        for place in reversed(range(10, 50))
    ]
    with database.begin() as session:
        table.create(session.connection)
        session.insert(table, rows)
    with database.read() as session:
        for size in (1, 7, 40, 16_384):
            parts = list(session.stream_vectors(query, rows=size))
            assert _values(pa.concat_tables(parts)) == expected
            assert all(pa.types.is_fixed_size_list(part["embedding"].type) for part in parts)
        assert list(session.stream_vectors(query.where(sa.false()))) == []
        as_written = columns.where(sa.literal_column("'10%'") != sa.literal_column("'10%%'"))
        assert sum(part.num_rows for part in session.stream_vectors(as_written)) == 50
        parts_left = session.stream_vectors(query, rows=1)
        next(iter(parts_left))
        parts_left.close()  # type: ignore[attr-defined]
        assert _values(pa.concat_tables(session.stream_vectors(query))) == expected


@pytest.mark.parametrize("is_first", [True, False])
def test_a_stream_of_vectors_takes_no_null_and_no_text(database: Database, is_first: bool) -> None:
    table, rows = vectors_table("toy", 3), _vector_rows(5, 3)
    with database.begin() as session:
        table.create(session.connection)
        session.insert(table, rows)
    other = table.alias("other")
    digest = UUID(rows["text_digest"][0 if is_first else 3].as_py())
    joined = table.outerjoin(
        other, sa.and_(other.c.text_digest == table.c.text_digest, other.c.text_digest != digest)
    )
    query = sa.select(other.c.text_digest, table.c.embedding).select_from(joined)
    for size in (1, 2, 100):
        with database.read() as session, pytest.raises(ValueError, match="null"):
            list(session.stream_vectors(query.order_by(table.c.text_digest), rows=size))
    with database.read() as session, pytest.raises(TypeError, match="letters is not declared as a vector"):
        list(session.stream_vectors(sa.select(sa.literal("eight888").label("letters"))))
    lists = sa.select(sa.literal_column("1", sa.ARRAY(sa.Integer, dimensions=1)).label("lists"))
    with database.read() as session, pytest.raises(TypeError, match="lists is not declared as a vector"):
        list(session.stream_vectors(lists))


def test_parameters_may_be_lists(database: Database) -> None:
    with database.begin() as session:
        VALUES.create(session.connection)
        session.insert(VALUES, ROWS)
        query = (
            sa.select(VALUES.c.small).where(VALUES.c.small.in_([0, 2**31 - 1, 5])).order_by(VALUES.c.small)
        )
        assert session.fetch_arrow(query)["small"].to_pylist() == [0, 2**31 - 1]
        assert [part["small"].to_pylist() for part in session.stream(query)] == [[0, 2**31 - 1]]
        assert session.rows(query) == [{"small": 0}, {"small": 2**31 - 1}]


def test_the_number_of_changed_rows_is_given(database: Database) -> None:
    with database.begin() as session:
        session.execute("CREATE TABLE numbers (n INTEGER)")
        assert session.execute("INSERT INTO numbers VALUES (1), (2), (3)") == 3
        assert session.execute("UPDATE numbers SET n = n + 1 WHERE n > :least", {"least": 1}) == 2
        assert session.execute("DELETE FROM numbers WHERE n > 100") == 0


def test_an_error_rolls_everything_back(database: Database) -> None:
    with database.begin() as session:
        session.execute("CREATE TABLE numbers (n INTEGER)")
    with pytest.raises(KeyError), database.begin() as session:  # noqa: PT012 (the error comes after rows)
        session.execute("INSERT INTO numbers VALUES (1)")
        raise KeyError
    with database.read() as session:
        assert session.scalar("SELECT COUNT(*) FROM numbers") == 0
        assert session.scalar("SELECT n FROM numbers") is None


def test_reading_writes_nothing(database: Database) -> None:
    with database.read() as session:
        session.execute("CREATE TABLE numbers (n INTEGER)")
    with database.read() as session, pytest.raises(sa.exc.DBAPIError):
        session.scalar("SELECT COUNT(*) FROM numbers")


def test_a_reading_transaction_sees_one_snapshot(database: Database) -> None:
    with database.begin() as session:
        session.execute("CREATE TABLE numbers (n INTEGER)")
    with database.read() as reading:
        assert reading.scalar("SELECT COUNT(*) FROM numbers") == 0
        with database.begin() as writing:
            writing.execute("INSERT INTO numbers VALUES (1)")
        assert reading.scalar("SELECT COUNT(*) FROM numbers") == 0
    with database.read() as reading:
        assert reading.scalar("SELECT COUNT(*) FROM numbers") == 1


def _is_known(database: Database, name: str) -> bool:
    with database.read() as session:
        try:
            session.scalar(f"SELECT COUNT(*) FROM {name}")
        except sa.exc.DBAPIError:
            return False
    return True


def test_a_staged_name_is_gone_after_its_block_and_can_be_used_again(database: Database) -> None:
    with database.begin() as session:
        for rows in (ROWS, ROWS.slice(0, 1)):
            with session.staged({"staged_values": rows}):
                assert session.scalar("SELECT COUNT(*) FROM staged_values") == rows.num_rows
    assert not _is_known(database, "staged_values")


def test_a_staged_name_is_gone_after_a_rollback(database: Database) -> None:
    with pytest.raises(KeyError), database.begin() as session, session.staged({"staged_values": ROWS}):
        raise KeyError
    assert not _is_known(database, "staged_values")
    with database.begin() as session, session.staged({"staged_values": ROWS}):
        assert session.scalar("SELECT COUNT(*) FROM staged_values") == 4


def test_a_broken_statement_keeps_its_own_error_and_its_staged_names_go(database: Database) -> None:
    with (
        pytest.raises(sa.exc.ProgrammingError, match="no_such_table"),
        database.begin() as session,
        session.staged({"staged_values": ROWS}),
    ):
        session.execute("SELECT * FROM no_such_table")
    assert not _is_known(database, "staged_values")


def test_staged_texts_are_ordered_byte_by_byte(database: Database) -> None:
    names = pa.table({"name": pa.array(["b", "B", "a", "é", "10", "9"], pa.string())})
    with database.begin() as session, session.staged({"staged_names": names}):
        found = session.fetch_arrow("SELECT name FROM staged_names ORDER BY name")
    assert found["name"].to_pylist() == ["10", "9", "B", "a", "b", "é"]


def test_an_arrow_type_that_postgres_lacks_is_a_defect_that_is_named(postgres_url: str) -> None:
    rows = pa.table({"n": pa.array([b"x"], pa.binary())})
    with (
        pytest.raises(TypeError, match="no Postgres type for Arrow's binary"),
        connect(postgres_url) as database,
        database.begin() as session,
        session.staged({"staged_values": rows}),
    ):
        pass


def test_a_users_own_query_is_taken_word_for_word(database: Database) -> None:
    with database.read() as session:
        found = session.query("SELECT ':a' AS \"100%\", 2 AS n")
        assert (found.columns, [tuple(row) for row in found.rows]) == (["100%", "n"], [(":a", 2)])
    with database.read() as session, pytest.raises(InputError, match="refuses the query"):
        session.query("SELEC 1")


PAIRS = [(1, -(1 << 40)), (2, 7)]


def test_numbers_come_as_columns_and_a_null_is_no_number(database: Database) -> None:
    two = [sa.select(sa.literal(n).label("a"), sa.cast(big, sa.BigInteger).label("b")) for n, big in PAIRS]
    with database.read() as session:
        columns = session.fetch_numbers(sa.select(sa.union_all(*two).subquery()))
        assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == PAIRS
        none = session.fetch_numbers(sa.select(sa.literal(1).label("a")).where(sa.false()))
        assert [len(column) for column in none] == [0]
        with pytest.raises(ValueError, match="null"):
            session.fetch_numbers(sa.select(sa.cast(sa.null(), sa.BigInteger).label("a")))
