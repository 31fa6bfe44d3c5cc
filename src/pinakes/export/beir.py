"""A corpus or a benchmark as a BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from pinakes.database import Database, Session
from pinakes.errors import InputError
from pinakes.export.collections import Collection, Written, list_papers, read_judgments, read_queries
from pinakes.run.export_qrels import list_beir_lines
from pinakes.writing.files import make_whole_folder, write_lines


def export_beir(database: Database, collection: Collection, folder: Path) -> Written:
    """Write a collection as a BEIR folder, which takes its name when it is whole.

    What the loader `beir` makes of it is the same: ids, titles, abstracts, years, queries, judgments;
    authors, citations and all else of the papers are not in BEIR's format.

    Raises:
        InputError: an id cannot stand in a table of judgments, the folder is there already, or it cannot be
            written.
    """
    counts = {"judgments": 0, "judgments_left_out": 0}
    with database.read() as session, make_whole_folder(folder) as building:
        queries, left_out = read_queries(session, collection)
        held = write_lines(building / "corpus.jsonl", _list_papers(session, collection))
        write_lines(building / "queries.jsonl", _list_queries(queries))
        for split, select in collection.judgments.items():
            (building / "qrels").mkdir(exist_ok=True)
            rows = read_judgments(session, select, left_out, counts)
            write_lines(building / "qrels" / f"{require_split(split)}.tsv", list_beir_lines(rows))
    splits = ", ".join(collection.judgments)
    return Written(
        str(folder), held, queries.num_rows, splits=splits, queries_left_out=len(left_out), **counts
    )


def require_split(split: str) -> str:
    """The split's name, which names a file; `InputError` where it cannot."""
    if not split or not all(sign.isalnum() or sign in "_-" for sign in split):
        raise InputError(f"the split {split!r} cannot name a file; expected letters, digits, _ and -.")
    return split


def _list_papers(session: Session, collection: Collection) -> Iterator[str]:
    for part in list_papers(session, collection):
        for source_id, title, abstract, year in zip(*(c.to_pylist() for c in part.columns), strict=True):
            record: dict[str, Any] = {"_id": source_id, "title": title or "", "text": abstract or ""}
            record["metadata"] = {} if year is None else {"year": year}
            yield orjson.dumps(record).decode()


def _list_queries(queries: pa.Table) -> Iterator[str]:
    for query_id, text in zip(*(column.to_pylist() for column in queries.columns), strict=True):
        yield orjson.dumps({"_id": query_id, "text": text, "metadata": {}}).decode()
