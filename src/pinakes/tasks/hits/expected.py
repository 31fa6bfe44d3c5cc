"""What scores are expected of: a benchmark's judged queries but those for tuning alone, and their judgments.

A query without a judgment is left out of every score, as trec_eval does it, and told by `find_unjudged`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation
from pinakes.tasks.base import Deciding, Unjudged
from pinakes.tasks.hits.hits import read_source_id

Queries = Mapping[str, Mapping[str, str | None]]
"""query id -> grouping column -> value"""


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """The queries that a score is expected of, which are those with a judgment, and their judgments by query.

    Attributes:
        query_ids: the queries, by id.
        positions: query id -> its position in `query_ids`.
        attributes: query id -> grouping column -> value.
        query: positions, ascending (m,).
        paper_id: the judged papers, ours (m,).
        grade: their grades (m,).
    """

    query_ids: list[str]
    positions: Mapping[str, int]
    attributes: Mapping[str, Mapping[str, str | None]]
    query: NDArray[np.int64]
    paper_id: NDArray[np.int64]
    grade: NDArray[np.int64]


def read_expected(database: Database, benchmark: Benchmark) -> Expected:
    """The queries of a benchmark that a score is expected of, with their judgments.

    Raises `EvaluationError` for a judgment of no query, a pair judged twice, a grade that is no integer, or
    where nothing is judged.
    """
    queries = _read_queries(database, benchmark)
    view = relation(benchmark, "judgments")
    with database.read() as session:
        rows = session.fetch_arrow(
            sa.select(view.c.query_id, view.c.paper_id, view.c.grade).where(view.c.paper_id.is_not(None))
        )
    judged = set(rows["query_id"].unique().to_pylist())
    attributes = {
        query_id: columns
        for query_id, columns in _leave_out_tuning(benchmark, queries).items()
        if query_id in judged
    }
    if not attributes:
        raise EvaluationError(
            f"{benchmark.name}.judgments judges none of the {len(queries)} queries of "
            f"{benchmark.name}.queries; load their relevance list."
        )
    positions = {query_id: position for position, query_id in enumerate(attributes)}
    query = _find_queries(benchmark, rows["query_id"], positions, queries)
    grade = _read_grades(rows)
    paper_id = rows["paper_id"].to_numpy().astype(np.int64)
    order = np.lexsort((paper_id, query))
    order = order[np.searchsorted(query[order], 0) :]
    expected = Expected(list(attributes), positions, attributes, query[order], paper_id[order], grade[order])
    _require_once(database, benchmark, expected)
    return expected


def select_deciding(benchmark: Benchmark) -> Deciding:
    """The grades; the queries with the columns that subsets are made of; and the candidates of types."""
    view = relation(benchmark, "judgments")
    judged = sa.select(view.c.query_id, view.c.paper_id.label("item"), view.c.grade.label("value"))
    queries = relation(benchmark, "queries")
    others = [sa.select(queries.c.query_id, *(queries.c[name] for name in _list_columns(benchmark)))]
    if benchmark.candidate_types:
        others.append(sa.select(*relation(benchmark, "candidates").c))
    return Deciding(judged.where(view.c.paper_id.is_not(None)), others)


def find_unjudged(database: Database, benchmark: Benchmark) -> Unjudged:
    """The queries that a score would be expected of, and that have no judgment."""
    view = relation(benchmark, "judgments")
    statement = sa.select(view.c.query_id).where(view.c.paper_id.is_not(None)).distinct()
    with database.read() as session:
        judged = {row["query_id"] for row in session.rows(statement)}
    asked = _leave_out_tuning(benchmark, _read_queries(database, benchmark))
    return Unjudged([query_id for query_id in asked if query_id not in judged], len(asked))


def _leave_out_tuning(benchmark: Benchmark, queries: Queries) -> Queries:
    """The queries that are not for tuning alone, by id."""
    return {
        query_id: columns
        for query_id, columns in sorted(queries.items())
        if not benchmark.fold_column or columns[benchmark.fold_column] not in benchmark.tuning_folds
    }


def _read_queries(database: Database, benchmark: Benchmark) -> Queries:
    view, names = relation(benchmark, "queries"), _list_columns(benchmark)
    with database.read() as session:
        rows = session.rows(sa.select(view.c.query_id, *(view.c[name] for name in names)))
    return {str(row["query_id"]): {name: row[name] for name in names} for row in rows}


def _list_columns(benchmark: Benchmark) -> list[str]:
    """The columns of the queries that subsets are made of."""
    columns = (*benchmark.group_by, benchmark.fold_column, benchmark.repeat_column)
    return list(dict.fromkeys(name for name in columns if name))


def _find_queries(
    benchmark: Benchmark, query_ids: pa.ChunkedArray, positions: Mapping[str, int], known: Mapping[str, Any]
) -> NDArray[np.int64]:
    """The position of each judgment's query; -1 where none is expected of it."""
    encoded = query_ids.combine_chunks().dictionary_encode(null_encoding="encode")
    names = encoded.dictionary.to_pylist()
    unknown = sorted(str(name) for name in names if name not in known)
    if unknown:
        raise EvaluationError(
            f"{benchmark.name}.judgments judges query {unknown[0]}, which {benchmark.name}.queries lacks."
        )
    places = np.array([positions.get(name, -1) for name in names], dtype=np.int64)
    found: NDArray[np.int64] = places[encoded.indices.to_numpy()]
    return found


def _read_grades(rows: pa.Table) -> NDArray[np.int64]:
    grades = rows["grade"]
    if pa.types.is_integer(grades.type) and not grades.null_count:
        numbers: NDArray[np.int64] = grades.to_numpy().astype(np.int64)
        return numbers
    pairs = zip(rows["query_id"].to_pylist(), grades.to_pylist(), strict=True)
    query_id, grade = min((str(query_id), repr(grade)) for query_id, grade in pairs if type(grade) is not int)
    raise EvaluationError(
        f"query {query_id!r} has a grade that is not a whole number ({grade}); grades are integers"
    )


def _require_once(database: Database, benchmark: Benchmark, expected: Expected) -> None:
    is_again = (expected.query[1:] == expected.query[:-1]) & (expected.paper_id[1:] == expected.paper_id[:-1])
    if np.any(is_again):
        row = int(np.flatnonzero(is_again)[0])
        source_id = read_source_id(database, int(expected.paper_id[row]))
        raise EvaluationError(
            f"{benchmark.name}.judgments judges {source_id} twice for "
            f"{expected.query_ids[expected.query[row]]}; expected one grade."
        )
