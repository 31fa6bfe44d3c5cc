"""What became of a load, file by file, and what the corpus holds and lacks after it: counted, and kept."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.errors import LoadError
from pinakes.load.batches import IDENTITY
from pinakes.load.corrections import Corrections
from pinakes.load.resolve import Resolved
from pinakes.load.unread import Owner, read_unread
from pinakes.loaders.staging import Rejected
from pinakes.schema import left_out_items, load_batches, load_reports, rejected_rows

FIRST_YEAR: Final = 1500
"""A paper is older than printing, or its year is a mistake."""
SHOWN_PLACES: Final = 3
_STALE: Final = """
SELECT table_name, producer, stale_papers, stale_rows
FROM derivation_states
WHERE corpus = :corpus AND stale_rows > 0
ORDER BY table_name, producer
"""
_COUNTS: Final = ("rows_in", "rows_loaded", "rows_updated", "rows_unchanged", "rows_rejected")


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What became of one file in this load: `rows_in` = `rows_loaded` + `rows_rejected`.

    Records that earlier loads of the same file have read are not among them, but counted by
    `rows_in_before` and `rows_rejected_before`. `rows_skipped` counts, of those loaded, the records of which
    a mapping makes no row.
    """

    file: str
    role: str
    was_loaded_before: bool
    rows_in: int = 0
    rows_loaded: int = 0
    rows_updated: int = 0
    rows_unchanged: int = 0
    rows_rejected: int = 0
    rows_in_before: int = 0
    rows_rejected_before: int = 0
    rows_skipped: int = 0

    def after(self, batches: Iterable[Mapping[str, Any]]) -> "FileSummary":
        """The summary of a file of which these rows of `load_batches` were there already."""
        known = list(batches)
        rows_in, rejected = (sum(batch[name] for batch in known) for name in ("rows_in", "rows_rejected"))
        return replace(self, rows_in_before=rows_in, rows_rejected_before=rejected)

    def plus(self, batch: Mapping[str, Any]) -> "FileSummary":
        """The summary with a row of `load_batches` added."""
        return replace(self, **{name: getattr(self, name) + batch[name] for name in _COUNTS})


@dataclass(frozen=True, slots=True)
class Rejections:
    """Why records of a load were rejected: how many of each reason, and the first of them.

    Attributes:
        counts: reason -> records.
        first: reason -> the file, the place and the message of at most `SHOWN_PLACES` of them.
    """

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def add(self, file: str, rejected: Iterable[Rejected]) -> None:
        """Count the rejected records of a file."""
        for row in rejected:
            self.counts[row.reason] += 1
            shown = self.first.setdefault(row.reason, [])
            if len(shown) < SHOWN_PLACES:
                shown.append((file, row.location, row.message))


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load has done: whose files they were, which, and what became of them.

    Attributes:
        owner: corpus_id, loader and source.
        identities: of each file, the columns of `load_batches` that it is known by.
        files_read: how many files of the source they stand for.
    """

    owner: Owner
    identities: Sequence[Mapping[str, Any]]
    files: list[FileSummary]
    files_read: int
    rejections: Rejections


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """What became of a load, file by file, and what the corpus holds after it.

    Attributes:
        reasons: why records of this load were rejected, and how many.
        rejected_first: reason -> file, place and message of the first records.
        files_read: how many files the source holds that the loader reads, documents and entries one by one.
        unread: those that it does not read: file, reason, message.
        left_out: items of accepted records of which no row was made, over all loads of these files: kind,
            reason, items.
        quality: what the corpus holds and lacks: measure -> count.
        stale: derived rows of an older text that the corpus holds: table_name, producer, stale_papers and
            stale_rows.
        corrections: rows of older versions of the files that these lack, and what became of them.
    """

    corpus: str
    files: list[FileSummary]
    reasons: dict[str, int]
    quality: Mapping[str, int]
    resolved: Resolved
    stale: list[dict[str, Any]]
    rejected_first: Mapping[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    files_read: int = 0
    unread: Sequence[Mapping[str, str]] = ()
    left_out: Sequence[Mapping[str, Any]] = ()
    corrections: Corrections = field(default_factory=Corrections)
    is_dry: bool = False
    elapsed_s: float = 0.0

    @property
    def papers(self) -> int:
        """Papers that the corpus holds."""
        return self.quality["papers"]

    @property
    def rows_in(self) -> int:
        """Records read, over all files."""
        return sum(file.rows_in for file in self.files)

    @property
    def rows_loaded(self) -> int:
        """Records accepted, over all files."""
        return sum(file.rows_loaded for file in self.files)

    @property
    def rows_rejected(self) -> int:
        """Records rejected, over all files."""
        return sum(file.rows_rejected for file in self.files)

    @property
    def rejected_share(self) -> float:
        """Rejected records as a share of all that the files hold, whichever load read them."""
        rows_in = self.rows_in + sum(file.rows_in_before for file in self.files)
        rejected = self.rows_rejected + sum(file.rows_rejected_before for file in self.files)
        return rejected / rows_in if rows_in else 0.0

    def require_few_rejected(self, most: float) -> None:
        """Raise `LoadError` where more than this share of the records was rejected; the others are in."""
        if self.rejected_share > most:
            raise LoadError(
                f"{self.rejected_share:.2%} of the files' records were rejected, more than --max-rejects "
                f"{most} allows; the table rejected_rows says why. What was accepted is in."
            )


def summarise_load(
    database: Database,
    corpus: str,
    loaded: Loaded,
    resolved: Resolved,
    corrections: Corrections,
) -> LoadSummary:
    """The summary of a load into the corpus of that name."""
    with database.read() as session:
        quality = count_quality(session, loaded.owner[0])
        stale = session.rows(_STALE, {"corpus": corpus})
        unread = read_unread(session, loaded.owner)
        left_out = _list_left_out(session, loaded.identities)
    rejections = loaded.rejections
    return LoadSummary(
        corpus,
        loaded.files,
        dict(sorted(rejections.counts.items())),
        quality,
        resolved,
        stale,
        rejections.first,
        loaded.files_read,
        unread,
        left_out,
        corrections,
    )


def count_quality(session: Session, corpus_id: int) -> dict[str, int]:
    """What a corpus holds and lacks: measure -> count.

    A year is odd before `FIRST_YEAR` and after the year of the newest load. A citation dangles where the
    cited work is no paper that we hold; it is pending where the citing paper is not there either.
    """
    blocks = read_blocks("pinakes.load", "sql", "quality.sql")
    counted: dict[str, int] = {}
    with session.joined_in_order():
        for block in blocks.values():
            row = session.rows(block, {"corpus_id": corpus_id, "first_year": FIRST_YEAR})[0]
            counted |= {name: int(value) for name, value in row.items()}
    return counted


def store_report(session: Session, loaded: Loaded, summary: LoadSummary) -> None:
    """Keep what became of the files, over all loads of them, and what the corpus then held.

    One report for each set of files: loading them again without anything new leaves it as it is.
    """
    corpus_id, loader, _ = loaded.owner
    known = [dict(identity) for identity in loaded.identities]
    digest = hashlib.sha256(orjson.dumps(known, option=orjson.OPT_SORT_KEYS)).hexdigest()
    same = (load_reports.c.corpus_id == corpus_id, load_reports.c.files_digest == digest)
    newest = sa.select(sa.func.coalesce(sa.func.max(load_batches.c.batch_id), 0)).where(
        load_batches.c.corpus_id == corpus_id
    )
    last_batch_id = int(session.scalar(newest))
    stored = session.first(sa.select(load_reports.c.last_batch_id).where(*same).limit(1))
    changed = summary.resolved.any or summary.corrections.is_changed
    if stored is not None and stored["last_batch_id"] == last_batch_id and not changed:
        return
    session.execute(sa.delete(load_reports).where(*same))
    shared = {
        "corpus_id": corpus_id,
        "files_digest": digest,
        "loader": loader,
        "last_batch_id": last_batch_id,
    }
    left_out = {f"left_out.{row['kind']}.{row['reason']}": row["items"] for row in summary.left_out}
    counts = {**_count_rows(session, known), **left_out, **summary.quality}
    rows = [{**shared, "measure": measure, "row_count": count} for measure, count in counts.items()]
    session.insert(load_reports, pa.Table.from_pylist(rows))


def _list_left_out(session: Session, identities: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The items of these files' records of which no row was made, over all loads of them."""
    items = sa.func.sum(left_out_items.c.item_count).label("items")
    with _staged(session, identities) as same:
        batches = sa.join(left_out_items, load_batches, load_batches.c.batch_id == left_out_items.c.batch_id)
        kinds = (left_out_items.c.kind, left_out_items.c.reason)
        counted = session.rows(sa.select(*kinds, items).select_from(batches.join(*same)).group_by(*kinds))
    left_out = [{"kind": row["kind"], "reason": row["reason"], "items": int(row["items"])} for row in counted]
    return sorted(left_out, key=lambda one: (one["kind"], one["reason"]))


def _count_rows(session: Session, identities: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    sums = [sa.func.coalesce(sa.func.sum(load_batches.c[name]), 0).label(name) for name in _COUNTS]
    rejected = sa.func.count().label("rows")
    with _staged(session, identities) as same:
        (total,) = session.rows(sa.select(*sums).select_from(load_batches.join(*same)))
        batches = sa.join(rejected_rows, load_batches, load_batches.c.batch_id == rejected_rows.c.batch_id)
        reasons = sa.select(rejected_rows.c.reason, rejected).select_from(batches.join(*same))
        found = session.rows(reasons.group_by(rejected_rows.c.reason))
    counts = {name: int(total[name]) for name in _COUNTS}
    rejections = {f"rejected.{row['reason']}": int(row["rows"]) for row in found}
    return dict(sorted({**counts, **rejections}.items()))


@contextmanager
def _staged(
    session: Session, identities: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[sa.TableClause, sa.ColumnElement[bool]]]:
    """A table of the files, those of the same content once, and which batches are theirs."""
    types = {name: load_batches.c[name].type for name in IDENTITY}
    staged = sa.table("staged_identities", *(sa.column(name, type_) for name, type_ in types.items()))
    given = list({tuple(one[name] for name in types): one for one in identities}.values())
    columns = {
        name: pa.array(
            [one[name] for one in given], pa.int64() if isinstance(type_, sa.Integer) else pa.string()
        )
        for name, type_ in types.items()
    }
    with session.staged({staged.name: pa.table(columns)}):
        yield staged, sa.and_(*(load_batches.c[name] == staged.c[name] for name in types))
