"""Stored answers of a run as columns, by what was asked: the papers, and their values by each measure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import EvaluationError
from pinakes.indexers.self_retrieval.space import DEPTHS
from pinakes.queries.definition import Benchmark
from pinakes.schema import neighbour_overlaps, self_ranks
from pinakes.tasks.base import Deciding
from pinakes.tasks.self_retrieval.answers import NEIGHBOURS
from pinakes.tasks.self_retrieval.forms import RAW
from pinakes.tasks.self_retrieval.measures import OVERLAP_MEASURES, RANK_MEASURES, Values
from pinakes.workload.altered_texts import relate

OWN: Final = "own"
"""the category of a code that the paper has not"""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The answers to one question: a code's neighbours, or titles in a scheme.

    Attributes:
        subsets: those that they count in, their own first.
        papers: numbers of the papers asked, out of `Stored.papers` (m,).
        answered: whether there is an answer (m,).
        values: measure -> the value of each (m,); 0 without an answer.
    """

    subsets: tuple[str, ...]
    papers: NDArray[np.intp]
    answered: NDArray[np.bool_]
    values: Mapping[str, Values]


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A run's answers; `papers` is how many papers it was asked about."""

    papers: int
    asked: list[Asked]


def read_categories(session: Session, benchmark: Benchmark) -> dict[str, str]:
    """Code -> category."""
    view = relate(benchmark, "codes")
    return dict(session.stream_rows(sa.select(view.c.code, view.c.category)))


def select_deciding(benchmark: Benchmark) -> Deciding:
    """The category of each code; `own` is the same as none."""
    view = relate(benchmark, "codes")
    named = sa.select(
        view.c.code.label("query_id"), sa.literal("").label("item"), view.c.category.label("value")
    )
    return Deciding(named.where(view.c.category != OWN), named="categories of codes")


def read_stored(
    database: Database, run_id: int, categories: Mapping[str, str], measures: Sequence[str]
) -> Stored:
    """The answers of a run by what was asked, in an order of their own. Raises `EvaluationError` for none."""
    ranks, overlaps = self_ranks.c, neighbour_overlaps.c
    of_ranks = sa.select(ranks.scheme, ranks.vectors, ranks.code, ranks.query_id, ranks["rank"])
    of_overlaps = sa.select(
        overlaps.code, overlaps.reading, overlaps.query_id, *(overlaps[f"shared_{depth}"] for depth in DEPTHS)
    )
    with database.read() as session:
        found = session.fetch_arrow(of_ranks.where(ranks.run_id == run_id))
        shared = session.fetch_arrow(of_overlaps.where(overlaps.run_id == run_id))
    if not found.num_rows:
        raise EvaluationError(f"run {run_id} has no ranks of altered texts.")
    papers = pc.sort_indices(found["query_id"].unique())
    names = found["query_id"].unique().take(papers)
    asked = [
        *_list_ranks(found, names, categories, measures),
        *_list_overlaps(shared, names, categories, measures),
    ]
    return Stored(len(names), asked)


def name_subsets(code: str, categories: Mapping[str, str]) -> tuple[str, ...]:
    """The subsets that a code's neighbours count in.

    >>> name_subsets("T_ARot", {"T_ARot": "LL-PS"})
    ('code=T_ARot', 'category=LL-PS', 'all')
    """
    return f"code={code}", f"category={categories.get(code, OWN)}", "all"


def _list_ranks(
    found: pa.Table, names: pa.Array, categories: Mapping[str, str], measures: Sequence[str]
) -> Iterator[Asked]:
    for (scheme, vectors, code), rows in _split(found, ("scheme", "vectors", "code"), names):
        of_neighbours = scheme == NEIGHBOURS
        task = f"task={scheme}" + ("" if vectors == RAW else f"/vectors={vectors}")
        subsets = name_subsets(code, categories) if of_neighbours else (task,)
        given = rows["rank"]
        ranks = given.fill_null(0).to_numpy().astype(np.float64)
        ranks[ranks == 0] = np.inf
        values = {
            name: measure.measure(ranks)
            for name, measure in RANK_MEASURES.items()
            if name in measures and (measure.of_neighbours if of_neighbours else measure.of_titles)
        }
        yield Asked(subsets, rows["paper"].to_numpy(), np.isfinite(ranks), values)


def _list_overlaps(
    found: pa.Table, names: pa.Array, categories: Mapping[str, str], measures: Sequence[str]
) -> Iterator[Asked]:
    for (code, reading), rows in _split(found, ("code", "reading"), names):
        answered = rows["shared_10"].is_valid().to_numpy()
        values = {
            name: rows[f"shared_{depth}"].fill_null(0).to_numpy() / depth
            for name, (of_reading, depth) in OVERLAP_MEASURES.items()
            if name in measures and of_reading == reading
        }
        yield Asked(name_subsets(code, categories), rows["paper"].to_numpy(), answered, values)


def _split(
    found: pa.Table, keys: Sequence[str], names: pa.Array
) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """The rows of each combination of keys, in their order, by paper: its number is the column `paper`."""
    places = pc.index_in(found["query_id"], value_set=names)
    numbered = found.drop(["query_id"]).append_column("paper", places.cast(pa.int64()))
    ordered = numbered.sort_by([(key, "ascending") for key in (*keys, "paper")]).combine_chunks()
    counted = ordered.group_by(list(keys), use_threads=False).aggregate([([], "count_all")])
    start = 0
    for *key, count in zip(*(counted[name].to_pylist() for name in (*keys, "count_all")), strict=True):
        yield tuple(key), ordered.slice(start, count)
        start += count
