"""Derived rows brought up to date: those of papers that have none, or none of their text as it is now.

A generator says who it is (`producer`), which table it fills, and how rows are made of texts. Its rows stand
beside those of loaders and of other generators, which it never touches; docs/decisions/0021 has the rules.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.load.corpus import find_corpus
from pinakes.loaders.registry import LOADERS
from pinakes.progress import Progress, Silent
from pinakes.schema import check_schema, labels, paper_variants, sentences, text_analyses
from pinakes.texts.ahead import compute_ahead
from pinakes.texts.generator import Generator
from pinakes.texts.outdated import list_outdated, read_texts
from pinakes.texts.storing import store_derived

__all__ = ["Derived", "Generator", "derive", "list_outdated", "read_texts", "store_derived"]

TABLES: Final = (paper_variants, sentences, labels, text_analyses)
"""the tables that have a producer; `absent_variants` goes with `paper_variants`"""
PAPERS_PER_BATCH: Final = 1_000
"""papers whose rows are written in one transaction, at most"""
CHARACTERS_PER_BATCH: Final = 400_000
"""characters of their texts, at most: rows may be many times as long as the text that they are made of"""

_RESERVED: Final = "user"
"""the producer of rows that are written without one"""


@dataclass(frozen=True, slots=True)
class Derived:
    """For how many papers rows were made, and how many rows."""

    papers: int
    rows: int


def derive(
    database: Database,
    corpus: str,
    generator: Generator,
    *,
    papers_per_batch: int = PAPERS_PER_BATCH,
    jobs: int = 1,
    among: npt.NDArray[np.int64] | None = None,
    progress: Progress | None = None,
) -> Derived:
    """Make the generator's rows for all papers of a corpus that have none of their text as it is now.

    Each batch is one transaction: stopped and started again, it goes on with the papers that are left.
    Two at once end as one would: they do the same work twice.

    Args:
        jobs: 1: this process makes the rows; more: so many others do, while this one reads and stores.
        among: the ids of papers to look at; by default all of the corpus.

    Raises:
        UnknownNameError: no such corpus.
        InputError: the producer cannot be one, or the table has none.
        PinakesError: the generator has made rows that are not those of its papers, or a process was killed.
    """
    _check(generator, jobs)
    check_schema(database)
    shown = progress or Silent()
    with database.read() as session:
        outdated = list_outdated(session, find_corpus(session, corpus), generator)
    if among is not None:
        outdated = outdated.filter(np.isin(outdated["paper_id"].to_numpy(), among))
    batches = _cut(outdated, papers_per_batch)
    papers = rows = 0
    shown.start(f"derive {generator.producer}", outdated.num_rows)
    try:
        texts = _read(database, generator, batches)
        with closing(compute_ahead(generator.make, texts, min(jobs, len(batches)))) as computed:
            for batch, (given, made) in zip(batches, computed, strict=True):
                with database.begin() as session:
                    rows += store_derived(session, generator, given, made)
                papers += given.num_rows
                shown.advance(len(batch))
    finally:
        shown.finish()
    return Derived(papers, rows)


def _check(generator: Generator, jobs: int) -> None:
    producer = generator.producer
    if not producer.strip() or producer == _RESERVED or producer in LOADERS:
        raise InputError(f"{producer!r} cannot be the producer of derived rows: it stands for other rows.")
    if generator.table not in TABLES:
        listed = ", ".join(table.name for table in TABLES)
        raise InputError(f"{generator.table.name} has no producer; expected one of {listed}.")
    if generator.codes and generator.table is not paper_variants:
        raise InputError(f"{generator.table.name} has no codes; expected {paper_variants.name}.")
    if jobs < 1:
        raise InputError(f"--jobs is {jobs}; expected a whole number from 1.")


def _cut(outdated: pa.Table, papers_per_batch: int) -> list[npt.NDArray[np.int64]]:
    """The ids in batches, each of at most so many papers and characters, or of one paper."""
    batches: list[list[int]] = []
    characters = 0
    for paper_id, size in zip(*(column.to_pylist() for column in outdated.columns), strict=True):
        characters += size
        if not batches or len(batches[-1]) == papers_per_batch or characters > CHARACTERS_PER_BATCH:
            batches.append([])
            characters = size
        batches[-1].append(paper_id)
    return [np.array(batch, dtype=np.int64) for batch in batches]


def _read(
    database: Database, generator: Generator, batches: list[npt.NDArray[np.int64]]
) -> Iterator[pa.Table]:
    for paper_ids in batches:
        with database.read() as session:
            texts = read_texts(session, generator, paper_ids)
        yield texts
