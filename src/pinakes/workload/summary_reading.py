"""The question of extraction read from a database: documents, examples, their labels and their sides."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError
from pinakes.queries.definition import Benchmark
from pinakes.workload.summaries import (
    AskedMode,
    Document,
    Example,
    SummaryQuestions,
    choose_rows,
    relate,
)

Key = tuple[int, str]  # paper_id and splitter


def read_questions(database: Database, benchmark: Benchmark) -> SummaryQuestions:
    """As `summaries.read_summaries` does."""
    with database.read() as session:
        mode = read_mode(session, benchmark)
        listed = _read_examples(session, benchmark)
        parts = _read_parts(session, benchmark, mode)
        documents = _read_documents(session, benchmark)
        labels = _read_labels(session, benchmark, mode)
    for row in listed:  # a paper without a sentence is an empty document
        documents.setdefault((row["paper_id"], row["splitter"]), _make_empty(row))
    keys = sorted(documents, key=lambda key: (documents[key].source_id, key[1]))
    places = {key: number for number, key in enumerate(keys)}
    _check(benchmark, mode, listed, parts, documents)
    cut = {key: _cut(documents[key], mode.first_sentences) for key in keys}
    examples = tuple(
        Example(
            row["query_id"],
            row["query"],
            places[key],
            parts[row["query_id"]],
            _mark(benchmark, row["query_id"], documents[key], labels.get(row["query_id"], []))[
                : mode.first_sentences
            ],
            row["cited"],
        )
        for row in listed
        for key in [(row["paper_id"], row["splitter"])]
    )
    whole = tuple(cut[key] for key in keys)
    digest = _digest(benchmark, mode, whole, examples)
    return SummaryQuestions(benchmark=benchmark, mode=mode, documents=whole, examples=examples, digest=digest)


def read_mode(session: Session, benchmark: Benchmark) -> AskedMode:
    """What the benchmark's mode asks. Raises `BenchmarkError` where the view has no such mode, or two."""
    view = relate(benchmark, "modes")
    columns = (view.c.scheme, view.c.labeller, view.c.first_sentences)
    rows = list(session.stream_rows(sa.select(*columns).where(view.c.mode == benchmark.mode)))
    if len(rows) != 1:
        raise BenchmarkError(f"{benchmark.name}.modes has {len(rows)} rows of {benchmark.mode}; expected 1.")
    scheme, labeller, first = rows[0]
    return AskedMode(str(scheme), str(labeller), None if first is None else int(first))


def _read_examples(session: Session, benchmark: Benchmark) -> list[dict[str, Any]]:
    """The rows of the view `examples` that are asked, by query id (byte-wise)."""
    view = relate(benchmark, "examples")
    names = ("query_id", "paper_id", "source_id", "query", "cited", "splitter", "sentences")
    found = session.fetch_arrow(
        sa.select(*(view.c[name] for name in names)).where(choose_rows(benchmark, view))
    )
    rows: list[dict[str, Any]] = found.sort_by("query_id").to_pylist()
    known = {row["query_id"] for row in rows}
    if len(known) < len(rows):
        raise BenchmarkError(
            f"the view {benchmark.name}.examples gives a query_id twice; expected each once in a corpus."
        )
    return rows


def _read_parts(session: Session, benchmark: Benchmark, mode: AskedMode) -> dict[str, str]:
    view = relate(benchmark, "splits")
    query = sa.select(view.c.query_id, view.c.part).where(
        choose_rows(benchmark, view), view.c.scheme == mode.scheme
    )
    return {str(query_id): str(part) for query_id, part in session.stream_rows(query)}


def _read_documents(session: Session, benchmark: Benchmark) -> dict[Key, Document]:
    """The whole documents of the examples."""
    view, examples = relate(benchmark, "document_sentences"), relate(benchmark, "examples")
    asked = sa.select(examples.c.paper_id, examples.c.splitter).where(choose_rows(benchmark, examples))
    chosen = asked.distinct().subquery("documents")
    same = sa.and_(chosen.c.paper_id == view.c.paper_id, chosen.c.splitter == view.c.splitter)
    names = ("paper_id", "splitter", "source_id", "section_number", "position", "text")
    found = session.fetch_arrow(sa.select(*(view.c[name] for name in names)).join_from(view, chosen, same))
    order = [(name, "ascending") for name in ("paper_id", "splitter", "section_number", "position")]
    return dict(_split(found.sort_by(order)))


def _make_empty(row: Mapping[str, Any]) -> Document:
    nothing = np.zeros(0, dtype=np.int32)
    return Document(row["paper_id"], row["source_id"], nothing, nothing, ())


def _split(rows: pa.Table) -> Iterator[tuple[Key, Document]]:
    """Each document of sorted rows."""
    counted = rows.group_by(["paper_id", "splitter"], use_threads=False).aggregate([([], "count_all")])
    start = 0
    counts = zip(*(counted[name].to_pylist() for name in ("paper_id", "splitter", "count_all")), strict=True)
    for paper_id, splitter, count in counts:
        part = rows.slice(start, count)
        start += count
        sections, positions = (
            part[name].to_numpy().astype(np.int32, copy=False) for name in ("section_number", "position")
        )
        source_id, texts = part["source_id"][0].as_py(), tuple(part["text"].to_pylist())
        yield (paper_id, splitter), Document(paper_id, source_id, sections, positions, texts)


def _read_labels(session: Session, benchmark: Benchmark, mode: AskedMode) -> dict[str, list[tuple[int, int]]]:
    """Query id -> section_number and position of its relevant sentences."""
    view = relate(benchmark, "labels")
    query = sa.select(view.c.query_id, view.c.section_number, view.c.position).where(
        choose_rows(benchmark, view), view.c.labeller == mode.labeller
    )
    found: dict[str, list[tuple[int, int]]] = {}
    for query_id, section, position in session.stream_rows(query):
        found.setdefault(str(query_id), []).append((section, position))
    return found


def _check(
    benchmark: Benchmark,
    mode: AskedMode,
    listed: list[dict[str, Any]],
    parts: Mapping[str, str],
    documents: Mapping[Key, Document],
) -> None:
    again = f"make them again with `pinakes derive summaries --corpus {benchmark.corpus}`."
    without = [row["query_id"] for row in listed if row["query_id"] not in parts]
    if without:
        raise BenchmarkError(
            f"{len(without)} examples of {benchmark.asked_of} are on no side of the split {mode.scheme}, as "
            f"{without[0]}; {again}"
        )
    if len({row["paper_id"] for row in listed}) < len({(row["paper_id"], row["splitter"]) for row in listed}):
        raise BenchmarkError(
            f"{benchmark.asked_of} has examples of one paper by two splitters; expected one a producer."
        )
    for row in listed:
        document = documents.get((row["paper_id"], row["splitter"]))
        count = 0 if document is None else len(document.sentences)
        if count != row["sentences"]:
            raise BenchmarkError(
                f"{row['query_id']} is an example of {row['sentences']} sentences, and the paper has {count} "
                f"of {row['splitter']}; {again}"
            )


def _mark(benchmark: Benchmark, query_id: str, document: Document, relevant: list[tuple[int, int]]) -> Any:
    """Whether each sentence is relevant (n,)."""
    marks = np.zeros(len(document.sentences), dtype=bool)
    if not relevant:
        return marks
    keys = _number(document.sections, document.positions)
    asked = _number(*(np.array(column, dtype=np.int32) for column in zip(*relevant, strict=True)))
    places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    if not len(keys) or (keys[places] != asked).any():
        raise BenchmarkError(
            f"a label of {query_id} is of a sentence that its paper has not; make the labels again with "
            f"`pinakes derive summaries --corpus {benchmark.corpus}`."
        )
    marks[places] = True
    return marks


def _number(sections: Any, positions: Any) -> Any:
    """One number for a section and a position, in their order."""
    return sections.astype(np.int64) << 32 | positions.astype(np.int64)


def _cut(document: Document, first: int | None) -> Document:
    if first is None or len(document.sentences) <= first:
        return document
    part = slice(first)
    return Document(
        document.paper_id,
        document.source_id,
        document.sections[part],
        document.positions[part],
        document.sentences[part],
    )


def _digest(
    benchmark: Benchmark, mode: AskedMode, documents: tuple[Document, ...], examples: tuple[Example, ...]
) -> str:
    """sha256 over documents and examples; of the labels, those that a system may learn from."""
    asked = {
        "corpus": benchmark.asked_of,
        "told": dict(benchmark.told),
        "scheme": mode.scheme,
        "labeller": mode.labeller,
        "first_sentences": mode.first_sentences,
    }
    digest = hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS))
    for document in documents:
        numbers = [document.sections.tolist(), document.positions.tolist()]
        digest.update(orjson.dumps([document.source_id, *numbers, document.sentences]))
    for example in examples:
        learnt = np.flatnonzero(example.labels).tolist() if example.part != "test" else None
        digest.update(orjson.dumps([example.query_id, example.query, example.document, example.part, learnt]))
    return digest.hexdigest()
