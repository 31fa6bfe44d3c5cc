"""Where altered texts find their papers, what their nearest share, how alike they are, and a map: as rows.

A text that the system has no representation of, or whose paper it has none of, has a row without a rank.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.indexers.self_retrieval.maps import map_plane
from pinakes.indexers.self_retrieval.space import (
    READINGS,
    DenseTexts,
    Ranked,
    Texts,
    find_overlaps,
    measure_pairs,
    rank_own,
)
from pinakes.progress import Progress
from pinakes.schema import neighbour_overlaps, self_ranks, similarity_statistics, vector_maps
from pinakes.systems.base import System
from pinakes.tasks.base import Answers
from pinakes.tasks.self_retrieval.changes import measure_changes, read_texts
from pinakes.tasks.self_retrieval.forms import RAW, Reader, choose_rows, list_vectors, read_both
from pinakes.workload.altered_texts import ORIGINAL, TITLE, AlteredTexts

NEIGHBOURS: Final = "NN"
"""the scheme whose queries are neighbours"""


def answer(database: Database, system: System, texts: AlteredTexts, progress: Progress) -> Answers:
    """A system's answers: ranks in each scheme, and what else is measured of its representations."""
    reader = Reader(database, system, progress)
    originals, titles = read_both(reader, texts)
    progress.start(f"compare {texts.benchmark.asked_of} by {system.name}", 1 + len(texts.codes))
    try:
        yield from _ask_titles(texts, originals, titles)
        yield from _describe_pairs(ORIGINAL, originals)
        yield from _draw_map(texts, originals, titles)
        del titles
        told = read_texts(database, texts.forms[ORIGINAL])
        progress.advance(1)
        for code in texts.codes:
            neighbours = reader.read(texts.forms[code])
            changes = measure_changes(database, texts.forms[code], told)
            yield self_ranks, _rank_neighbours(texts, code, neighbours, originals, changes)
            yield neighbour_overlaps, _overlap(texts, code, neighbours, originals)
            yield from _describe_pairs(code, neighbours)
            progress.advance(1)
    finally:
        progress.finish()


def _ask_titles(texts: AlteredTexts, originals: Texts, titles: Texts) -> Answers:
    """Tasks I and II: a sample of titles, against the originals, then with all other titles among them."""
    asked = texts.sampled[: int(texts.benchmark.told["task_queries"])]
    for vectors, candidates, others in list_vectors(originals, titles):
        queries = choose_rows(others, asked)
        for scheme, more in (("I", None), ("II", others)):
            found = rank_own(queries, candidates, texts.tie_order, more)
            yield self_ranks, _list_ranks(texts, scheme, vectors, TITLE, np.sort(asked), found, None)


def _rank_neighbours(
    texts: AlteredTexts, code: str, neighbours: Texts, originals: Texts, changes: NDArray[np.float64]
) -> pa.Table:
    found = rank_own(neighbours, originals, texts.tie_order)
    return _list_ranks(texts, NEIGHBOURS, RAW, code, texts.forms[code].places, found, changes)


def _list_ranks(
    texts: AlteredTexts,
    scheme: str,
    vectors: str,
    code: str,
    asked: NDArray[np.intp],
    found: Ranked,
    changed: NDArray[np.float64] | None,
) -> pa.Table:
    """Rows of `self_ranks` of the papers asked (rows, ascending)."""
    place, missing = _align(asked, found.rows)
    count = len(asked)
    return pa.table(
        {
            "scheme": _repeat(scheme, count),
            "vectors": _repeat(vectors, count),
            "code": _repeat(code, count),
            "query_id": pa.array(texts.source_ids[asked], pa.string()),
            "rank": _take(found.rank, place, missing),
            "ties": _take(found.ties, place, missing),
            "changed": pa.array(changed, pa.float64())
            if changed is not None
            else pa.nulls(count, pa.float64()),
        }
    )


def _overlap(texts: AlteredTexts, code: str, neighbours: Texts, originals: Texts) -> pa.Table:
    """Rows of `neighbour_overlaps` of the code's sample."""
    sample = texts.overlapping[code]
    found = find_overlaps(neighbours, originals, sample, texts.tie_order)
    place, missing = _align(sample, found.rows)
    parts = [
        pa.table(
            {
                "code": _repeat(code, len(sample)),
                "query_id": pa.array(texts.source_ids[sample], pa.string()),
                "reading": _repeat(reading, len(sample)),
                "shared_10": _take(found.shared[:, number, 0], place, missing),
                "shared_20": _take(found.shared[:, number, 1], place, missing),
                "same": _take(found.same, place, missing),
            }
        )
        for number, reading in enumerate(READINGS)
    ]
    return pa.concat_tables(parts)


def _describe_pairs(code: str, texts: Texts) -> Iterator[tuple[Any, pa.Table]]:
    """The row of `similarity_statistics` of a form; none of fewer than two texts."""
    found = measure_pairs(texts)
    if found is None:
        return
    whole: Mapping[str, Any] = {"papers": pa.int32(), "pairs": pa.int64(), "above_mean": pa.int64()}
    names = ("papers", "pairs", "lowest", "highest", "mean", "deviation", "above_mean")
    columns = {name: pa.array([getattr(found, name)], whole.get(name, pa.float64())) for name in names}
    yield similarity_statistics, pa.table({"code": _repeat(code, 1), **columns})


def _draw_map(texts: AlteredTexts, originals: Texts, titles: Texts) -> Answers:
    """Originals and titles of a sample in one plane, where there are vectors."""
    if not (isinstance(originals, DenseTexts) and isinstance(titles, DenseTexts)):
        return
    told = texts.benchmark.told
    sample = np.sort(texts.sampled[: int(told["map_papers"])])
    chosen = [(ORIGINAL, choose_rows(originals, sample)), (TITLE, choose_rows(titles, sample))]
    vectors = np.concatenate([one.vectors for _, one in chosen if isinstance(one, DenseTexts)])
    points = map_plane(vectors, int(told["seed"]))
    codes = [code for code, one in chosen for _ in one.rows]
    rows = np.concatenate([one.rows for _, one in chosen])
    yield (
        vector_maps,
        pa.table(
            {
                "code": pa.array(codes, pa.string()),
                "query_id": pa.array(texts.source_ids[rows], pa.string()),
                "x": pa.array(points[:, 0]),
                "y": pa.array(points[:, 1]),
            }
        ),
    )


def _align(asked: NDArray[np.intp], found: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The place of each row asked among those found (both ascending), and which are not there."""
    missing = ~np.isin(asked, found)
    return np.where(missing, 0, np.searchsorted(found, asked)), missing


def _take(values: NDArray[Any], place: NDArray[np.intp], missing: NDArray[np.bool_]) -> pa.Array:
    """The value at each place; null where it is missing."""
    held = values if len(values) else np.zeros(1, values.dtype)
    return pa.array(held[place], mask=missing)


def _repeat(name: str, count: int) -> pa.Array:
    return pa.array([name] * count, pa.string())
