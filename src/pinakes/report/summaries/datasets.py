"""The examples of a corpus counted: where they come from, why the others are none, how they are split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.queries.definition import Benchmark
from pinakes.report.summaries.data import Asked, Dataset, PartCount
from pinakes.schema import absent_examples, corpora, papers, summary_examples
from pinakes.workload.summaries import relate

PARTS: Final = ("train", "dev", "test")


def read_datasets(database: Database, benchmark: Benchmark, asked: Sequence[Asked]) -> dict[Asked, Dataset]:
    """Each corpus that was asked, with the examples of the producer."""
    with database.read() as session:
        return {one: _read_dataset(session, benchmark, one) for one in asked}


def _read_dataset(session: Session, benchmark: Benchmark, asked: Asked) -> Dataset:
    corpus, producer = asked
    columns = ("paper_id", "reference_id", "splitter", "sentences")
    of_corpus = summary_examples.join(papers, summary_examples.c.paper_id == papers.c.paper_id).join(
        corpora, papers.c.corpus_id == corpora.c.corpus_id
    )
    examples = session.fetch_arrow(
        sa.select(*(summary_examples.c[name] for name in columns))
        .select_from(of_corpus)
        .where(corpora.c.name == corpus, summary_examples.c.producer == producer)
    )
    absent = _count_absent(session, corpus, producer)
    documents = examples.group_by(["paper_id", "splitter"]).aggregate([("sentences", "max")])
    lengths = documents["sentences_max"].to_numpy()
    return Dataset(
        pairs=examples.num_rows + sum(absent.values()),
        examples=examples.num_rows,
        absent=absent,
        papers=len(set(examples["paper_id"].to_pylist())),
        works=len(set(examples["reference_id"].to_pylist())),
        sentences=int(lengths.sum()),
        median_sentences=float(np.median(lengths)) if len(lengths) else 0.0,
        splits=_count_parts(session, benchmark, asked),
    )


def _count_absent(session: Session, corpus: str, producer: str) -> dict[str, int]:
    """Reason -> pairs, the most frequent first."""
    of_corpus = absent_examples.join(papers, absent_examples.c.paper_id == papers.c.paper_id).join(
        corpora, papers.c.corpus_id == corpora.c.corpus_id
    )
    query = (
        sa.select(absent_examples.c.reason, sa.func.count().label("pairs"))
        .select_from(of_corpus)
        .where(corpora.c.name == corpus, absent_examples.c.producer == producer)
        .group_by(absent_examples.c.reason)
    )
    rows = [(str(row["reason"]), int(row["pairs"])) for row in session.rows(query)]
    return dict(sorted(rows, key=lambda row: (-row[1], row[0])))


@dataclass(frozen=True, slots=True)
class _Placed:
    """Examples of one scheme: part, paper and sentences of each."""

    parts: Sequence[str]
    papers: Sequence[int]
    sentences: Sequence[int]

    def count(self) -> dict[str, PartCount]:
        trained = {paper for part, paper in zip(self.parts, self.papers, strict=True) if part == "train"}
        return {name: self._count_part(name, trained) for name in PARTS}

    def _count_part(self, name: str, trained: set[int]) -> PartCount:
        rows = [
            (count, paper in trained and name != "train")
            for part, paper, count in zip(self.parts, self.papers, self.sentences, strict=True)
            if part == name
        ]
        leaked = [count for count, is_leaked in rows if is_leaked]
        return PartCount(len(rows), sum(count for count, _leaked in rows), len(leaked), sum(leaked))


def _count_parts(
    session: Session, benchmark: Benchmark, asked: Asked
) -> Mapping[str, Mapping[str, PartCount]]:
    """Scheme -> part -> examples and sentences, with what leaks from the training papers."""
    splits, examples = relate(benchmark, "splits"), relate(benchmark, "examples")
    keys = ("corpus", "producer", "query_id")
    joined = splits.join(examples, sa.and_(*(splits.c[key] == examples.c[key] for key in keys)))
    query = sa.select(splits.c.scheme, splits.c.part, examples.c.paper_id, examples.c.sentences)
    chosen = (splits.c.corpus == asked[0], splits.c.producer == asked[1])
    found: pa.Table = session.fetch_arrow(query.select_from(joined).where(*chosen))
    schemes = sorted(set(found["scheme"].to_pylist()))
    placed = {}
    for scheme in schemes:
        rows = found.filter(pa.compute.equal(found["scheme"], scheme))
        columns = (rows[name].to_pylist() for name in ("part", "paper_id", "sentences"))
        placed[scheme] = _Placed(*columns).count()
    return placed
