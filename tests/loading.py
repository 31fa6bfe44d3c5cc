"""What the tests of loading share: folders of our own, all that a loader stages, all that the tables hold."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from pinakes.database import Database
from pinakes.loaders.base import Options
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Rejected
from pinakes.schema import metadata
from pinakes.schema.integrity import list_filled_tables

DATA = Path(__file__).parent / "data"

TIMES = frozenset({"started_at", "elapsed_s"})


def stage_all(
    loader: str, source: Path | None, options: Options | None = None, *, with_left_out: bool = False
) -> tuple[dict[str, dict[str, list[dict[str, Any]]]], list[Rejected]]:
    """All that a loader stages: file -> staged table -> rows without nulls; and all that it rejects.

    What only the loaded ids tell of a file is told by what was staged before it. What it leaves out, which
    `count_left_out` counts, is among them `with_left_out` alone.
    """
    found = find_loader(loader)
    given = options or {}
    staged: dict[str, dict[str, list[dict[str, Any]]]] = {}
    rejected: list[Rejected] = []
    known: dict[str, set[str]] = {"papers": set(), "queries": set()}
    for file in found.find_files(source, given):
        settle = found.settle.get(file.role)
        if settle is not None and known["papers"]:
            file = settle(file, given, lambda kind, ids: known[kind] & set(ids))
        tables = staged.setdefault(file.name, {})
        for chunk in found.read_chunks(file, given, 1):
            rejected.extend(chunk.rejected)
            for name, rows in chunk.tables.items():
                if name == "left_out" and not with_left_out:
                    continue
                tables.setdefault(name, []).extend(_drop_nulls(row) for row in rows.to_pylist())
                if name in known:
                    key = "source_id" if name == "papers" else "query_id"
                    known[name].update(rows[key].to_pylist())
    return staged, rejected


def count_left_out(
    loader: str, source: Path | None, options: Options | None = None
) -> dict[tuple[str, str], int]:
    """What a loader leaves out of all files of a source: (kind, reason) -> items."""
    found, given = find_loader(loader), options or {}
    counts: Counter[tuple[str, str]] = Counter()
    for file in found.find_files(source, given):
        for chunk in found.read_chunks(file, given, 1):
            for row in chunk.tables["left_out"].to_pylist() if "left_out" in chunk.tables else ():
                counts[row["kind"], row["reason"]] += row["items"]
    return dict(counts)


def _drop_nulls(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def dump_tables(database: Database, without: Iterable[str] = ()) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, ordered by all columns; without times and the columns named."""
    left_out = TIMES | set(without)
    dumped = {}
    with database.read() as session:
        filled = list_filled_tables(session)
        for table in metadata.sorted_tables:
            if table.name not in filled:
                continue
            columns = [column.name for column in table.columns if column.name not in left_out]
            order = ", ".join(f"{column} NULLS FIRST" for column in columns)
            rows = session.rows(f"SELECT {', '.join(columns)} FROM {table.name} ORDER BY {order}")
            dumped[table.name] = [tuple(row.values()) for row in rows]
    return dumped


def write_beir(
    folder: Path, papers: Iterable[Mapping[str, Any] | bytes], qrels: str = "", queries: int = 1
) -> Path:
    """A BEIR folder of these papers (a record, or a line as it stands), with queries q1, q2, …"""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    lines = [line if isinstance(line, bytes) else orjson.dumps(line) for line in papers]
    (folder / "corpus.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    requested = [
        orjson.dumps({"_id": f"q{number}", "text": f"query {number}"}) for number in range(1, queries + 1)
    ]
    (folder / "queries.jsonl").write_bytes(b"".join(line + b"\n" for line in requested))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{qrels}", encoding="utf-8")
    return folder


def paper(number: int, **fields: Any) -> dict[str, Any]:
    """The BEIR record of a paper p<number>."""
    return {"_id": f"p{number}", "title": f"Title {number}", "text": f"Text {number}", **fields}
