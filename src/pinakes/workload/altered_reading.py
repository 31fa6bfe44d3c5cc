"""The question of self-retrieval read from a database: which papers, which texts, which of them are drawn."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.distinct import find_distinct
from pinakes.errors import BenchmarkError
from pinakes.queries.definition import Benchmark
from pinakes.schema import papers
from pinakes.workload.altered_texts import (
    ORIGINAL,
    SETTINGS,
    TITLE,
    AlteredTexts,
    Form,
    relate,
    select_neighbours,
    select_texts,
)
from pinakes.workload.digest import digest_papers, order_ties
from pinakes.workload.workload import Ids


def read_altered_texts(
    database: Database, benchmark: Benchmark, _query_template: str, paper_template: str
) -> AlteredTexts:
    """The papers of the corpus that is asked, their altered texts, and which of them are drawn.

    Raises `BenchmarkError` where a view gives what it must not, or a text is of an older text of its paper.
    """
    sizes = _read_settings(benchmark)
    with database.read() as session:
        paper_ids, source_ids = _read_originals(session, benchmark)
        tie_order = order_ties(source_ids)
        _require_fresh(session, benchmark)
        codes = _read_codes(session, benchmark)
        listed = {code: _list_texts(session, benchmark, code, paper_template) for code in (ORIGINAL, TITLE)}
        listed |= _list_neighbours(session, benchmark, paper_template, list(codes))
        sampled = _read_sample(session, benchmark, "I", sizes["task_queries"], sizes["map_papers"])
        overlapping = _read_sample(session, benchmark, "AOP", sizes["overlap_queries"])
    places = {code: _find_rows(benchmark, paper_ids, rows["paper_id"]) for code, rows in listed.items()}
    digest = _digest(benchmark, source_ids, tie_order, listed, places)
    shared: dict[str, Any] = {"benchmark": benchmark, "paper_template": paper_template, "digest": digest}
    forms = {
        code: Form(
            code=code,
            places=places[code],
            chosen=sa.select(papers.c.paper_id),
            paper_ids=paper_ids[places[code]],
            source_ids=source_ids.to_numpy(zero_copy_only=False)[places[code]],
            tie_order=tie_order[places[code]],
            has_text=rows["has_text"].to_numpy(zero_copy_only=False),
            **shared,
        )
        for code, rows in listed.items()
    }
    own = sampled["paper_id"].to_numpy()[np.argsort(sampled["position"].to_numpy())]
    return AlteredTexts(
        chosen=sa.select(papers.c.paper_id),
        paper_ids=paper_ids,
        source_ids=source_ids.to_numpy(zero_copy_only=False),
        tie_order=tie_order,
        has_text=forms[ORIGINAL].has_text,
        codes=codes,
        forms=forms,
        sampled=_find_rows(benchmark, paper_ids, pa.chunked_array([own])),
        overlapping=dict(_split_sample(benchmark, paper_ids, overlapping, list(codes))),
        **shared,
    )


def _read_settings(benchmark: Benchmark) -> dict[str, int]:
    found = {name: benchmark.told.get(name) for name in SETTINGS}
    for name, value in found.items():
        if type(value) is not int or value < 1:
            raise BenchmarkError(
                f"{benchmark.name} has the setting {name} = {value}; expected a whole number of 1 or more in "
                f"the table [{benchmark.task}] of its benchmark.toml."
            )
    return {name: int(benchmark.told[name]) for name in SETTINGS}


def _read_originals(session: Session, benchmark: Benchmark) -> tuple[Ids, pa.Array]:
    view = relate(benchmark, "originals")
    query = sa.select(view.c.paper_id, view.c.query_id).where(view.c.corpus == benchmark.asked_of)
    found = session.fetch_arrow(query).sort_by("paper_id")
    source_ids = found["query_id"].combine_chunks()
    if len(source_ids.unique()) < len(source_ids):
        raise BenchmarkError(
            f"the view {benchmark.name}.originals gives a query_id twice; expected each once in a corpus."
        )
    return found["paper_id"].to_numpy().astype(np.int64), source_ids


def _require_fresh(session: Session, benchmark: Benchmark) -> None:
    rows = select_neighbours(benchmark).subquery("asked")
    count = session.scalar(sa.select(sa.func.count()).where(rows.c.is_stale))
    if count:
        published = " --as-published" if benchmark.mode == "published" else ""
        raise BenchmarkError(
            f"{count} neighbours of {benchmark.corpus} are of an older text of their paper; make them again "
            f"with `pinakes derive neighbours --corpus {benchmark.corpus}{published}`."
        )


def _read_codes(session: Session, benchmark: Benchmark) -> dict[str, str]:
    """Code -> category of the neighbours that are asked, the paper's first."""
    rows = select_neighbours(benchmark).subquery("asked")
    query = sa.select(rows.c.code, rows.c.category, rows.c.number).distinct()
    found = sorted(session.rows(query), key=lambda row: (row["number"] is None, row["number"], row["code"]))
    return {row["code"]: row["category"] for row in found}


def _list_texts(session: Session, benchmark: Benchmark, code: str | None, template: str) -> pa.Table:
    """paper_id, text_digest and has_text (and code, of every neighbour), by paper."""
    inner = select_texts(benchmark, code, template).order_by(None).subquery("texts")
    digest = sa.func.md5(inner.c.text).label("text_digest")
    columns = [inner.c.paper_id, digest, (inner.c.text != "").label("has_text")]
    found = session.fetch_arrow(sa.select(*columns, *([inner.c.code] if code is None else [])))
    return found.sort_by("paper_id")


def _list_neighbours(
    session: Session, benchmark: Benchmark, template: str, codes: list[str]
) -> dict[str, pa.Table]:
    whole = _list_texts(session, benchmark, None, template)
    return {code: whole.filter(pc.equal(whole["code"], code)).drop(["code"]) for code in codes}


def _read_sample(session: Session, benchmark: Benchmark, scheme: str, *sizes: int) -> pa.Table:
    view = relate(benchmark, "samples")
    query = sa.select(view.c.code, view.c.paper_id, view.c.position).where(
        view.c.corpus == benchmark.asked_of,
        view.c.scheme == scheme,
        view.c.producer.in_(["", *benchmark.producers]),
        view.c.position <= max(sizes),
    )
    return session.fetch_arrow(query)


def _split_sample(
    benchmark: Benchmark, paper_ids: Ids, sample: pa.Table, codes: list[str]
) -> Iterator[tuple[str, NDArray[np.intp]]]:
    for code in codes:
        chosen = sample.filter(pc.equal(sample["code"], code))["paper_id"]
        yield code, np.sort(_find_rows(benchmark, paper_ids, chosen))


def _find_rows(benchmark: Benchmark, paper_ids: Ids, asked: pa.ChunkedArray) -> NDArray[np.intp]:
    ids = asked.to_numpy().astype(np.int64)
    rows: NDArray[np.intp] = np.searchsorted(paper_ids, ids)
    if len(find_distinct(ids)) < len(ids):
        raise BenchmarkError(f"{benchmark.name} has two texts of one code for a paper; expected one.")
    if len(ids) and ((rows >= len(paper_ids)).any() or (paper_ids[rows] != ids).any()):
        raise BenchmarkError(f"{benchmark.name} asks about a paper that its view originals lacks.")
    return rows


def _digest(
    benchmark: Benchmark,
    source_ids: pa.Array,
    tie_order: Ids,
    listed: Mapping[str, pa.Table],
    places: Mapping[str, NDArray[np.intp]],
) -> str:
    """sha256 over what is asked of what, and over every text by code and the paper's source id."""
    asked = {"corpus": benchmark.asked_of, "within": benchmark.corpus, "told": dict(benchmark.told)}
    digest = hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS))
    for code in sorted(listed):
        digest.update(f"\0{code}\0{len(places[code])}\n".encode())
        rows = pa.table(
            {"source_id": source_ids.take(pa.array(places[code])), "text_digest": listed[code]["text_digest"]}
        )
        digest_papers(digest, rows, tie_order[places[code]])
    return digest.hexdigest()
