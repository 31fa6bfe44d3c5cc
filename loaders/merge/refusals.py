"""Records that name a paper or a query which neither the corpus nor the chunk holds, or that have no text."""

from collections.abc import Collection, Iterator
from typing import Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.base import ASSESSMENTS, PAPER_KEYS
from pinakes.loaders.merge.context import UNKNOWN, Keys, Tables, number_rows
from pinakes.loaders.staging import REASONS, Chunk, Reason, Rejected, show_raw

Problems = dict[int, tuple[Reason, str]]
"""record number -> why it is refused, and what it names"""

_Check = tuple[str, str, Reason]

_PAPERS: Final[tuple[_Check, ...]] = tuple((name, PAPER_KEYS[name], "unknown_paper") for name in ASSESSMENTS)
_JUDGED: Final[_Check] = ("judgments", "query_id", "unknown_query")
_TEXTS: Final = frozenset({"title", "abstract", "sections", "sentences"})
_NO_TEXT: Final = "neither title nor abstract nor text; is it of another format?"
_POOLED: Final[_Check] = ("pool_sources", "query_id", "unknown_query")


def find_refused(
    tables: Tables, papers: Keys, queries: Keys, selecting: Problems, *, creates_unknown: bool
) -> Problems:
    """The records to refuse. Of a record's unknown names, a paper's and then the first by name comes first.

    `selecting` are the records that select sentences that are not there, staged still or not.
    """
    known_papers = _list_known(papers, tables, {"papers": "source_id", "mentioned_papers": "source_id"})
    sources = {"queries": "query_id"}
    if creates_unknown:
        sources["judgments"] = "query_id"
    known_queries = _list_known(queries, tables, sources)
    problems: Problems = {}
    for check in () if creates_unknown else _PAPERS:
        _add_problems(problems, tables, known_papers, check)
    for check in (_POOLED,) if creates_unknown else (_JUDGED, _POOLED):
        _add_problems(problems, tables, known_queries, check)
    if "sentence_selections" in tables:
        for number in set(number_rows(tables["sentence_selections"]).tolist()) & selecting.keys():
            problems.setdefault(number, selecting[number])
    return problems


def find_textless(tables: Tables, describes: Collection[str]) -> Problems:
    """The records that describe a paper, but with neither title nor abstract nor text.

    None where the file says no texts of its papers (`describes`).
    """
    if "papers" not in tables or _TEXTS.isdisjoint(describes):
        return {}
    papers = tables["papers"]
    bare = papers.filter(_has_no_texts(papers))["row_number"]
    if not len(bare):
        return {}
    for name in _TEXTS & tables.keys():
        bare = _remove(bare, tables[name]["row_number"])
    if "mentioned_papers" in tables:  # a file that fills gaps says its texts there
        mentioned = tables["mentioned_papers"]
        bare = _remove(bare, mentioned.filter(pc.invert(_has_no_texts(mentioned)))["row_number"])
    return dict.fromkeys(bare.to_pylist(), ("missing_field", _NO_TEXT))


def _has_no_texts(papers: pa.Table) -> pa.ChunkedArray:
    return pc.and_(papers["title"].is_null(), papers["abstract"].is_null())


def _remove(numbers: pa.ChunkedArray, others: pa.ChunkedArray) -> pa.ChunkedArray:
    return numbers.filter(pc.invert(pc.is_in(numbers, value_set=others.combine_chunks())))


def _list_known(keys: Keys, tables: Tables, sources: dict[str, str]) -> pa.Array:
    held = keys.keys.filter(pa.array(keys.ids != UNKNOWN))
    staged = [
        part for name, column in sources.items() if name in tables for part in tables[name][column].chunks
    ]
    return pa.chunked_array([held, *staged], pa.string()).combine_chunks()


def _add_problems(problems: Problems, tables: Tables, known: pa.Array, check: _Check) -> None:
    table, column, reason = check
    if table not in tables:
        return
    names = tables[table][column]
    unknown = pc.and_(pc.is_valid(names), pc.invert(pc.is_in(names, value_set=known)))
    rows = tables[table].filter(unknown)
    for number, name in sorted(zip(number_rows(rows).tolist(), rows[column].to_pylist(), strict=True)):
        problems.setdefault(number, (reason, name))


def describe_refused(chunk: Chunk, problems: Problems) -> Iterator[Rejected]:
    """The refused records with where they stand and their raw text; without one, their staged rows."""
    for number, (reason, subject) in problems.items():
        message = f"{REASONS[reason]}: {subject}"
        origin = chunk.origins.get(number)
        if origin is None:
            yield Rejected(number, f"record {number}", reason, message, _show_rows(chunk, number))
        else:
            yield Rejected(number, origin.location, reason, message, show_raw(origin.raw))


def _show_rows(chunk: Chunk, number: int) -> str:
    rows = {
        name: table.filter(pc.field("row_number") == number).drop_columns("row_number").to_pylist()
        for name, table in chunk.tables.items()
    }
    return orjson.dumps({name: found for name, found in rows.items() if found}).decode()
