"""Which records of a file are in: its batches, found before it is read and written with every chunk.

A file is known by its digest, its role, the loader and the loader's options. One that comes back after a
newer version of it was loaded is loaded again, as its next round.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.streams import digest_file
from pinakes.loaders.staging import Rejected
from pinakes.schema import load_batches

_IDENTITY: Final = ("corpus_id", "loader", "role", "file_digest", "options_digest")


@dataclass(frozen=True, slots=True)
class FilePlan:
    """A file of a load, and how much of it is in.

    Attributes:
        identity: column of `load_batches` -> value, the same for all batches of the file's round.
        known: the batches that are in, in their order.
        is_repeated: whether an earlier file of the same load has the same content.
    """

    file: InputFile
    identity: Mapping[str, Any]
    known: list[dict[str, Any]]
    is_repeated: bool = False

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
            return FilePlan(file, {**identity, "round": newest + 1}, [])
        return FilePlan(file, {**identity, "round": newest}, known)


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
    same = {name: identity[name] for name in _IDENTITY if name != "file_digest"}
    query = sa.select(load_batches.c.batch_id).where(
        *_match({**same, "file": file.name}),
        load_batches.c.file_digest.not_in(digests),
        load_batches.c.batch_id > batch_id,
    )
    return session.first(query.limit(1)) is not None


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
