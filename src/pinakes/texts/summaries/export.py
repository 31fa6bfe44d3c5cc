"""Examples of query-focused summarisation written as JSON Lines or Parquet, an example a line or row.

The columns `cited`, `query`, `text` and `labels` are the published ones; all are plain types, so that
pyarrow, pandas and HuggingFace's `datasets` (`load_dataset("parquet", data_files=…)`) read them.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, get_args

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, UnknownNameError
from pinakes.load.corpus import find_corpus
from pinakes.schema import (
    check_schema,
    papers,
    summary_examples,
    summary_labellings,
)
from pinakes.texts.summaries.batches import cut
from pinakes.texts.summaries.export_rows import Example, is_labelled, read_examples
from pinakes.texts.summaries.splits import SCHEMES
from pinakes.writing.files import open_whole, write_lines

Format = Literal["jsonl", "parquet"]
SENTENCES_PER_BATCH: Final = 100_000
COLUMNS: Final = pa.schema(
    [
        ("paper_id", pa.string()),
        ("reference_id", pa.string()),
        ("query", pa.string()),
        ("query_from", pa.string()),
        ("cited", pa.string()),
        ("contexts", pa.list_(pa.string())),
        ("text", pa.list_(pa.string())),
        ("labels", pa.list_(pa.bool_())),
        ("part", pa.string()),
    ]
)
"""paper_id and reference_id are the source's; `contexts` are the citing ones, `cited` all of them in a row,
as published; `text` are the paper's sentences, `part` is train, dev or test"""


def export_summaries(
    database: Database,
    corpus: str,
    file: Path,
    *,
    format_: str,
    labeller: str | None = None,
    scheme: str = "by_paper",
    producer: str | None = None,
) -> dict[str, Any]:
    """Write a corpus's examples, in the order of their papers and works; the file appears when it is whole.

    Args:
        labeller: whose labels; by default the last by name, which is a greedy one where there is one.
        producer: whose examples; by default the only one.

    Returns:
        examples, sentences, labels (relevant sentences), producer, labeller and scheme.

    Raises:
        UnknownNameError: no such corpus, format, labeller, scheme or producer.
        InputError: the corpus has no examples, or of several producers; or the file cannot be written.
    """
    _check_name("format", format_, get_args(Format))
    _check_name("split scheme", scheme, SCHEMES)
    check_schema(database)
    with database.read() as session:
        corpus_id = find_corpus(session, corpus)
        made_by = _choose_producer(session, corpus, corpus_id, producer)
        labelled_by = _choose_labeller(session, corpus_id, made_by, labeller)
        listed = _list_papers(session, corpus_id, made_by, labelled_by)
    counts = {"examples": 0, "sentences": 0, "labels": 0}
    batches = cut(listed["paper_id"], listed["size"], 1_000, SENTENCES_PER_BATCH)
    examples = _count(read_examples(database, made_by, labelled_by, scheme, batches), counts)
    _WRITERS[format_](file, examples)
    return {**counts, "producer": made_by, "labeller": labelled_by, "split_scheme": scheme}


def _check_name(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise UnknownNameError(kind, name, list(known))


def _choose_producer(session: Session, corpus: str, corpus_id: int, named: str | None) -> str:
    query = (
        sa.select(summary_examples.c.producer)
        .join_from(summary_examples, papers, summary_examples.c.paper_id == papers.c.paper_id)
        .where(papers.c.corpus_id == corpus_id)
        .distinct()
        .order_by(summary_examples.c.producer)
    )
    held = [row["producer"] for row in session.rows(query)]
    if not held:
        raise InputError(
            f"{corpus} has no examples; make them with pinakes derive summaries --corpus {corpus}."
        )
    if named is not None:
        _check_name("producer", named, held)
        return named
    if len(held) > 1:
        raise InputError(f"{corpus} has examples of several producers; name one with --producer: {held}.")
    return str(held[0])


def _choose_labeller(session: Session, corpus_id: int, producer: str, named: str | None) -> str:
    query = (
        sa.select(summary_labellings.c.labeller)
        .join_from(summary_labellings, papers, summary_labellings.c.paper_id == papers.c.paper_id)
        .where(papers.c.corpus_id == corpus_id, summary_labellings.c.producer == producer)
        .distinct()
        .order_by(summary_labellings.c.labeller.desc())
    )
    held = [str(row["labeller"]) for row in session.rows(query)]
    if named is not None or not held:
        _check_name("labeller", named or "", held)
        return str(named)
    return held[0]


def _list_papers(session: Session, corpus_id: int, producer: str, labeller: str) -> pa.Table:
    """paper_id in the order of source ids, and the sentences of its examples together."""
    examples = summary_examples.c
    query = (
        sa.select(papers.c.paper_id, sa.cast(sa.func.sum(examples.sentences), sa.BigInteger).label("size"))
        .join_from(summary_examples, papers, examples.paper_id == papers.c.paper_id)
        .join(summary_labellings, is_labelled(labeller))
        .where(papers.c.corpus_id == corpus_id, examples.producer == producer)
        .group_by(papers.c.paper_id, papers.c.source_id)
        .order_by(papers.c.source_id)
    )
    return session.fetch_arrow(query)


def _count(examples: Iterator[Example], counts: dict[str, int]) -> Iterator[Example]:
    for example in examples:
        counts["examples"] += 1
        counts["sentences"] += len(example["text"])
        counts["labels"] += sum(example["labels"])
        yield example


def _write_jsonl(file: Path, examples: Iterator[Example]) -> None:
    names = COLUMNS.names
    write_lines(file, (orjson.dumps({name: one[name] for name in names}).decode() for one in examples))


def _write_parquet(file: Path, examples: Iterator[Example]) -> None:
    with open_whole(file, compress=False) as stream, pq.ParquetWriter(stream, COLUMNS) as writer:
        for batch in _cut_rows(examples):
            writer.write_table(pa.Table.from_pylist(batch, COLUMNS))


def _cut_rows(examples: Iterator[Example]) -> Iterator[list[Example]]:
    """The examples in lists of about as many sentences as are read at once."""
    batch: list[Example] = []
    size = 0
    for example in examples:
        batch.append(example)
        size += len(example["text"])
        if size >= SENTENCES_PER_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_WRITERS: Final[dict[str, Callable[[Path, Iterator[Example]], None]]] = {
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}
