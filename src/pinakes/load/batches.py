"""Which records of a file are in: its batches, found before it is read and written with every chunk.

A file is known by its digest, its role, the loader and the loader's options. One that comes back after a
newer version of it was loaded is loaded again, as its next round.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.streams import digest_file
from pinakes.loaders.staging import Rejected
from pinakes.schema import load_batches


@dataclass(frozen=True, slots=True)
class FilePlan:
    """A file of a load, and how much of it is in.

    Attributes:
        identity: column of `load_batches` -> value, the same for all batches of the file's round.
        known: the batches that are in, in their order.
        is_repeated: whether an earlier file of the same load has the same content.
        older: the batches of the file's older versions: of its name with other content or other options.
    """

    file: InputFile
    identity: Mapping[str, Any]
    known: list[dict[str, Any]]
    is_repeated: bool = False
    older: frozenset[int] = frozenset()

    @property
    def is_complete(self) -> bool:
        """Whether the whole file is in."""
        return self.is_repeated or (bool(self.known) and bool(self.known[-1]["is_last"]))

    @property
    def first_row(self) -> int:
        """The number of the first record that is not in."""
        return int(self.known[-1]["last_row"]) + 1 if self.known else 1


def identify_file(corpus_id: int, loader: str, options: Mapping[str, str], file: InputFile) -> dict[str, Any]:
    """What makes a file's batches the same file's: column of `load_batches` -> value."""
    given = orjson.dumps(dict(options), option=orjson.OPT_SORT_KEYS)
    return {
        "corpus_id": corpus_id,
        "loader": loader,
        "role": file.role,
        "file_digest": file.digest or _digest(file),
        "options_digest": hashlib.sha256(given).hexdigest(),
    }


def _digest(file: InputFile) -> str:
    if file.path is None:
        raise InputError(f"{file.name} is neither a file nor has it a digest.")
    digest = digest_file(file.path)
    return f"{digest}:{file.member}" if file.member else digest


def plan_file(
    database: Database, file: InputFile, identity: Mapping[str, Any], digests: Collection[str]
) -> FilePlan:
    """How much of a file is in, in its newest round.

    `digests` are those of all files of the load: two that are called alike are no versions of each other.
    """
    with database.read() as session:
        same = _match(identity)
        batches = session.rows(
            sa.select(load_batches).where(*same).order_by(load_batches.c.round, load_batches.c.first_row)
        )
        newest = batches[-1]["round"] if batches else 1
        known = [batch for batch in batches if batch["round"] == newest]
        if known and _is_overtaken(session, file, identity, known[-1]["batch_id"], digests):
            newest, known = newest + 1, []
        older = _find_older(session, file, identity, known, digests)
        return FilePlan(file, {**identity, "round": newest}, known, older=older)


def _match(values: Mapping[str, Any]) -> list[sa.ColumnElement[bool]]:
    return [load_batches.c[name] == value for name, value in values.items()]


def _is_overtaken(
    session: Session,
    file: InputFile,
    identity: Mapping[str, Any],
    batch_id: int,
    digests: Collection[str],
) -> bool:
    """Whether another content of the file of that name was loaded since."""
    found = _list_called_alike(session, file, identity)
    options = identity["options_digest"]
    return any(
        row["options_digest"] == options and row["file_digest"] not in digests and row["batch_id"] > batch_id
        for row in found
    )


def _find_older(
    session: Session,
    file: InputFile,
    identity: Mapping[str, Any],
    known: list[dict[str, Any]],
    digests: Collection[str],
) -> frozenset[int]:
    """The batches of the file's older versions, those of its own older rounds too.

    Another content under other options is another file: a split that an option names, for example.
    """
    before = known[0]["batch_id"] if known else None
    return frozenset(
        row["batch_id"]
        for row in _list_called_alike(session, file, identity)
        if before is None or row["batch_id"] < before
        if row["file_digest"] == identity["file_digest"]
        or (row["options_digest"] == identity["options_digest"] and row["file_digest"] not in digests)
    )


def _list_called_alike(
    session: Session, file: InputFile, identity: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The batches of files of that name and role: few, so that a load's many digests are no parameters."""
    same = {name: identity[name] for name in ("corpus_id", "loader", "role")}
    columns = (load_batches.c.batch_id, load_batches.c.file_digest, load_batches.c.options_digest)
    return session.rows(sa.select(*columns).where(*_match({**same, "file": file.name})))


def refuse_second_loader(session: Session, plan: FilePlan, first_row: int) -> None:
    """Raise `LoadError` where the batch that begins with this record was written since the load began."""
    found = sa.select(load_batches.c.batch_id).where(*_match({**plan.identity, "first_row": first_row}))
    if session.rows(found):
        raise LoadError(
            f"another process is loading {plan.file.name} into this corpus. Wait for it, then start the same "
            "load again; what is in already is passed over."
        )


def build_rejected(batch_id: int, rejected: list[Rejected]) -> pa.Table:
    """The rejected records of a batch, as rows of `rejected_rows`."""
    names = ("row_number", "location", "reason", "message", "raw")
    columns = {name: [getattr(row, name) for row in rejected] for name in names}
    return pa.table({"batch_id": [batch_id] * len(rejected), **columns})


def build_left_out(batch_id: int, left_out: Mapping[tuple[str, str], int]) -> pa.Table:
    """The items of a batch's accepted records that no row was made of, as rows of `left_out_items`."""
    columns = {
        "kind": pa.array([kind for kind, _ in left_out], pa.string()),
        "reason": pa.array([reason for _, reason in left_out], pa.string()),
        "item_count": pa.array(left_out.values(), pa.int64()),
    }
    return pa.table({"batch_id": pa.array([batch_id] * len(left_out), pa.int64()), **columns})
