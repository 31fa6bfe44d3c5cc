"""Batches of records into chunks: as columns where all is plain, record by record where it is not.

The outcome is that of `gather_chunks` over the records, only faster. Leaves out: how a record or a column is
mapped (`rows`, `vectors`).
"""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.mapped.vectors import Project
from pinakes.loaders.reading.columns import NotPlainError
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.seen_ids import SeenIds
from pinakes.loaders.staging import REASONS, Accepted, Chunk, Rejected, show_raw

ReadExactly = Callable[[pa.RecordBatch, int], Iterator[Accepted | Rejected]]
"""A batch and the number of its first record, to its records."""


def read_batches(
    batches: Iterator[pa.RecordBatch], project: Project, read_exactly: ReadExactly, first_row: int
) -> Iterator[Chunk]:
    """The chunks of a file's batches from the `first_row`-th record on."""
    seen = SeenIds()
    number = 1
    for batch in batches:
        # Cut where a load goes on, so that no chunk holds records from before.
        cut = first_row - number if number < first_row < number + batch.num_rows else 0
        for part in (batch.slice(0, cut), batch.slice(cut)):
            if part.num_rows == 0:
                continue
            chunk = _read_batch(part, number, project, read_exactly, seen)
            number += part.num_rows
            if chunk.last_row >= first_row:
                yield chunk


def _read_batch(
    batch: pa.RecordBatch, first: int, project: Project, read_exactly: ReadExactly, seen: SeenIds
) -> Chunk:
    try:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        tables = project(columns, pa.array(np.arange(first, first + batch.num_rows)))
        ids = tables["papers"]["source_id"].combine_chunks()
        if pc.count_distinct(ids).as_py() != len(ids) or seen.find(ids).any():
            raise NotPlainError("an id comes again")
    except NotPlainError:
        return _gather(list(read_exactly(batch, first)), seen)
    seen.add(ids)
    return Chunk(first + batch.num_rows - 1, batch.num_rows, tables)


def _gather(records: list[Accepted | Rejected], seen: SeenIds) -> Chunk:
    """The records as one chunk, those rejected whose ids stood in an earlier batch."""
    chunk = next(gather_chunks(records, chunk_rows=len(records)))
    if "papers" not in chunk.tables:
        return chunk
    papers = chunk.tables["papers"].combine_chunks()
    ids = papers["source_id"].combine_chunks()
    is_again = seen.find(ids)
    if is_again.any():
        again = papers.filter(pa.array(is_again))
        chunk = next(gather_chunks(_refuse(records, chunk, again), chunk_rows=len(records)))
    seen.add(ids.filter(pa.array(~is_again)))
    return chunk


def _refuse(
    records: list[Accepted | Rejected], chunk: Chunk, again: pa.Table
) -> Iterator[Accepted | Rejected]:
    """The records, those rejected that the chunk rejects, or whose paper has come before."""
    repeated = dict(zip(again["row_number"].to_pylist(), again["source_id"].to_pylist(), strict=True))
    rejected = {record.row_number: record for record in chunk.rejected}
    for record in records:
        number = record.row_number
        if number in repeated and isinstance(record, Accepted):
            message = f"{REASONS['duplicate_id']}: {repeated[number]}"
            yield Rejected(number, record.location, "duplicate_id", message, show_raw(record.raw))
        else:
            yield rejected.get(number, record)
