"""Which records of a file are in: its batches, found before it is read and written with every chunk.

A file is known by its digest, its role, the loader and the loader's options. One that comes back after a
newer version of it was loaded is loaded again, as its next round.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
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

IDENTITY: Final = ("corpus_id", "loader", "role", "file_digest", "options_digest", "round")
"""columns of `load_batches` that say whose a batch is"""


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


def plan_files(
    database: Database, files: Sequence[InputFile], identities: Sequence[Mapping[str, Any]]
) -> list[FilePlan]:
    """How much of each file is in, in its newest round; `identities` are those of the files.

    Two files of one load that are called alike are no versions of each other.
    """
    if not files:
        return []
    digests = {str(identity["file_digest"]) for identity in identities}
    with database.read() as session:
        held = _find_batches(session, identities[0], "file_digest", identities)
        named = [{"role": file.role, "file": file.name} for file in files]
        alike = _find_batches(session, identities[0], "file", named)
    plans: dict[tuple[Any, ...], FilePlan] = {}
    planned = []
    for file, identity in zip(files, identities, strict=True):
        key = tuple(identity.values())
        if key in plans:
            planned.append(FilePlan(file, plans[key].identity, [], is_repeated=True))
            continue
        batches = [row for row in held[file.role, identity["file_digest"]] if _has_options(row, identity)]
        plans[key] = _plan_file(file, identity, batches, alike[file.role, file.name], digests)
        planned.append(plans[key])
    return planned


def _find_batches(
    session: Session, shared: Mapping[str, Any], column: str, wanted: Sequence[Mapping[str, Any]]
) -> defaultdict[tuple[str, str], list[dict[str, Any]]]:
    """The batches of the corpus and loader by their role and a column that says one of those wanted."""
    distinct = {(one["role"], one[column]) for one in wanted}
    roles, values = ([*part] for part in zip(*distinct, strict=True))
    staged = sa.table("staged_files", sa.column("role", sa.Text), sa.column("said", sa.Text))
    query = (
        sa.select(load_batches)
        .join(staged, sa.and_(load_batches.c.role == staged.c.role, load_batches.c[column] == staged.c.said))
        .where(*(load_batches.c[name] == shared[name] for name in ("corpus_id", "loader")))
        .order_by(load_batches.c.round, load_batches.c.first_row)
    )
    found: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    with session.staged({staged.name: pa.table({"role": roles, "said": values})}):
        for row in session.rows(query):
            found[row["role"], row[column]].append(row)
    return found


def _has_options(batch: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    return bool(batch["options_digest"] == identity["options_digest"])


def _plan_file(
    file: InputFile,
    identity: Mapping[str, Any],
    batches: list[dict[str, Any]],
    alike: list[dict[str, Any]],
    digests: Collection[str],
) -> FilePlan:
    """The plan of a file with these batches, by round and row, where files of its name have those `alike`.

    Another content of the name is another version, unless it is of the same load, or of other options: a
    split that an option names, for example. The file's own older rounds are older versions too.
    """
    versions = [row for row in alike if _has_options(row, identity) and row["file_digest"] not in digests]
    newest = batches[-1]["round"] if batches else 1
    known = [batch for batch in batches if batch["round"] == newest]
    if known and any(row["batch_id"] > known[-1]["batch_id"] for row in versions):
        newest, known = newest + 1, []  # another content was loaded since
    own = [row for row in alike if row["file_digest"] == identity["file_digest"]]
    older = {row["batch_id"] for row in [*own, *versions]}
    if known:
        older = {batch for batch in older if batch < known[0]["batch_id"]}
    return FilePlan(file, {**identity, "round": newest}, known, older=frozenset(older))


def refuse_second_loader(session: Session, plan: FilePlan, first_row: int) -> None:
    """Raise `LoadError` where the batch that begins with this record was written since the load began."""
    same = [load_batches.c[name] == value for name, value in plan.identity.items()]
    found = sa.select(load_batches.c.batch_id).where(*same, load_batches.c.first_row == first_row)
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
