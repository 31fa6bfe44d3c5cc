"""A corpus or a benchmark as a folder of Parquet files, laid out as MTEB's retrieval datasets.

`datasets.load_dataset(FOLDER, "corpus")`, `"queries"` and the default config read it: README.md says which
file is which.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.database import Database, Session
from pinakes.export.beir import require_split
from pinakes.export.collections import Collection, Written, list_papers, read_judgments, read_queries
from pinakes.writing.files import make_whole_folder, write_lines
from pinakes.writing.tables import Rows, write_table

_TEXTS: Final = ("_id", "title", "text")
_CORPUS: Final = pa.schema([(name, pa.string()) for name in _TEXTS])
_QUERIES: Final = pa.schema([("_id", pa.string()), ("text", pa.string())])
_QRELS: Final = pa.schema([("query-id", pa.string()), ("corpus-id", pa.string()), ("score", pa.float64())])
_ROWS_AT_ONCE: Final = 50_000


def export_mteb(database: Database, collection: Collection, folder: Path) -> Written:
    """Write a collection as a folder for `datasets` and MTEB, in constant memory.

    Raises:
        InputError: the folder is there already, or it cannot be written.
    """
    counts = {"judgments": 0, "judgments_left_out": 0}
    with database.read() as session, make_whole_folder(folder) as building:
        queries, left_out = read_queries(session, collection)
        for name in ("corpus", "queries", *(["qrels"] if collection.judgments else [])):
            (building / name).mkdir()
        texts = queries.rename_columns(_QUERIES.names)
        held = write_table(
            building / "corpus" / "corpus.parquet", Rows(_CORPUS, _list_texts(session, collection))
        )
        write_table(building / "queries" / "queries.parquet", Rows(_QUERIES, [texts]))
        for split, select in collection.judgments.items():
            rows = Rows(_QRELS, _gather(read_judgments(session, select, left_out, counts)))
            write_table(building / "qrels" / f"{require_split(split)}.parquet", rows)
        write_lines(building / "README.md", _describe(list(collection.judgments)))
    splits = ", ".join(collection.judgments)
    return Written(
        str(folder), held, queries.num_rows, splits=splits, queries_left_out=len(left_out), **counts
    )


def _list_texts(session: Session, collection: Collection) -> Iterator[pa.Table]:
    for part in list_papers(session, collection):
        titles, texts = (pc.fill_null(part[name], "") for name in ("title", "abstract"))
        yield pa.table([part["source_id"], titles, texts], names=list(_TEXTS))


def _gather(judgments: Iterator[tuple[str, str, int]]) -> Iterator[pa.Table]:
    rows: list[tuple[str, str, int]] = []
    for row in judgments:
        rows.append(row)
        if len(rows) == _ROWS_AT_ONCE:
            yield _make_table(rows)
            rows = []
    if rows:
        yield _make_table(rows)


def _make_table(rows: list[tuple[str, str, int]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _QRELS, strict=True)]
    return pa.table(arrays, schema=_QRELS)


def _describe(splits: list[str]) -> list[str]:
    """The configs of the dataset, as the front matter of its README.

    >>> print(*_describe(["test"])[2:7], sep="\\n")
    - config_name: default
      data_files:
      - split: test
        path: qrels/test.parquet
    - config_name: corpus
    """
    files = {"default": {split: f"qrels/{split}.parquet" for split in splits}} if splits else {}
    files |= {name: {name: f"{name}/{name}.parquet"} for name in ("corpus", "queries")}
    lines = ["---", "configs:"]
    for config, named in files.items():
        lines += [f"- config_name: {config}", "  data_files:"]
        for split, path in named.items():
            lines += [f"  - split: {split}", f"    path: {path}"]
    return [*lines, "---"]
