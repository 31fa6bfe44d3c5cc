"""Data quality: what a corpus holds and lacks, counted after each load and kept."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.schema import load_batches, load_reports, rejected_rows

if TYPE_CHECKING:
    from pinakes.load.summary import LoadSummary

FIRST_YEAR: Final = 1500
"""A paper is older than printing, or its year is a mistake."""
_COUNTS: Final = ("rows_in", "rows_loaded", "rows_updated", "rows_unchanged", "rows_rejected")


def count_quality(session: Session, corpus_id: int) -> dict[str, int]:
    """What a corpus holds and lacks: measure -> count.

    A year is odd before `FIRST_YEAR` and after the year of the newest load. A citation dangles where the
    cited work is no paper that we hold; it is pending where the citing paper is not there either.
    """
    blocks = read_blocks("pinakes.load", "sql", "quality.sql")
    counted: dict[str, int] = {}
    for block in blocks.values():
        row = session.rows(block, {"corpus_id": corpus_id, "first_year": FIRST_YEAR})[0]
        counted |= {name: int(value) for name, value in row.items()}
    return counted


def store_report(
    session: Session,
    corpus_id: int,
    loader: str,
    identities: Iterable[Mapping[str, Any]],
    summary: "LoadSummary",
) -> None:
    """Keep what became of the files, over all loads of them, and what the corpus then held.

    One report for each set of files: loading them again without anything new leaves it as it is.
    """
    known = [dict(identity) for identity in identities]
    digest = hashlib.sha256(orjson.dumps(known, option=orjson.OPT_SORT_KEYS)).hexdigest()
    same = (load_reports.c.corpus_id == corpus_id, load_reports.c.files_digest == digest)
    newest = sa.select(sa.func.coalesce(sa.func.max(load_batches.c.batch_id), 0)).where(
        load_batches.c.corpus_id == corpus_id
    )
    last_batch_id = int(session.scalar(newest))
    stored = session.first(sa.select(load_reports.c.last_batch_id).where(*same).limit(1))
    if stored is not None and stored["last_batch_id"] == last_batch_id and not summary.resolved.any:
        return
    counts = {**_count_rows(session, known), **summary.quality}
    session.execute(sa.delete(load_reports).where(*same))
    rows = len(counts)
    session.insert(
        load_reports,
        pa.table(
            {
                "corpus_id": pa.array([corpus_id] * rows, pa.int32()),
                "files_digest": pa.array([digest] * rows, pa.string()),
                "measure": pa.array(list(counts), pa.string()),
                "loader": pa.array([loader] * rows, pa.string()),
                "last_batch_id": pa.array([last_batch_id] * rows, pa.int64()),
                "row_count": pa.array(list(counts.values()), pa.int64()),
            }
        ),
    )


def _count_rows(session: Session, identities: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    total = dict.fromkeys(_COUNTS, 0)
    for identity in identities:
        same = [load_batches.c[name] == value for name, value in identity.items()]
        sums = [sa.func.coalesce(sa.func.sum(load_batches.c[name]), 0).label(name) for name in _COUNTS]
        row = session.rows(sa.select(*sums).where(*same))[0]
        total |= {name: total[name] + int(row[name]) for name in _COUNTS}
        reasons = (
            sa.select(rejected_rows.c.reason, sa.func.count().label("rows"))
            .join(load_batches, load_batches.c.batch_id == rejected_rows.c.batch_id)
            .where(*same)
            .group_by(rejected_rows.c.reason)
        )
        for found in session.rows(reasons):
            name = f"rejected.{found['reason']}"
            total[name] = total.get(name, 0) + int(found["rows"])
    return dict(sorted(total.items()))
