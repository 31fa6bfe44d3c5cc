"""The files of a load that a cluster reads: which those are, and where its workers put what they read."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from pinakes.cluster.loading import (
    ReadTask,
    StagedFiles,
    State,
    hold_staging,
    look_at,
    remove_staging,
    stage_files,
)
from pinakes.database import Database
from pinakes.load.batches import FilePlan
from pinakes.load.corpus import LoadRequest
from pinakes.load.unread import Owner
from pinakes.loaders import staging
from pinakes.loaders.base import Loader, Options
from pinakes.loaders.staging import Chunk
from pinakes.version import VERSION
from pinakes.workload.benchmark import find_index_folder

__all__ = ["Reading", "States", "can_share", "look_at", "name_staging", "read_on_cluster"]

FOLDER: Final = "staged"
"""below the folder of side indexes"""

States = Mapping[str, State]
"""name of an input file -> what it looked like before it was digested"""


def _forget(_row: int) -> None:
    """Nobody keeps what was read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The chunks of a file, and who is told up to which record they are stored."""

    chunks: Iterator[Chunk]
    stored: Callable[[int], None] = _forget


def can_share(
    loader: Loader, request: LoadRequest, free: Sequence[FilePlan], tell: Callable[[str], None]
) -> bool:
    """Whether a cluster reads files of this load; `free` are those that need nothing of the database.

    Where it does not, the user is told why.
    """
    why = ""
    if loader.reads_here:
        why = f"{loader.name} reads what this machine has"
    elif request.limit is not None:
        why = "a load with --limit reads little"
    elif not free:
        why = "what is to be read needs the ids that are loaded"
    if why:
        tell(f"{why}; the cluster {request.on} is not used.")
    return not why


@contextmanager
def read_on_cluster(
    on: str,
    folder: Path,
    loader: Loader,
    options: Options,
    plans: Sequence[FilePlan],
    states: States,
    tell: Callable[[str], None],
) -> Iterator[Iterator[Reading]]:
    """The files of the plans, one after the other, as workers read them.

    What they have read lies in the folder (`name_staging`) until it is stored, also when the load is stopped.
    """
    with hold_staging(folder):
        tasks = [_build_task(folder, plan, states) for plan in plans]
        remove_staging(folder, keep={Path(task.folder).name for task in tasks})
        with stage_files(on, loader, options, tasks, tell) as staged:
            yield _read_each(staged, len(tasks))
        remove_staging(folder)


def _read_each(staged: StagedFiles, count: int) -> Iterator[Reading]:
    for number in range(count):
        yield Reading(staged.take(number), lambda row, number=number: staged.release(number, row))  # type: ignore[misc]


def name_staging(database: Database, owner: Owner, request: LoadRequest) -> Path:
    """The folder of a load's parts: one for each database, corpus, loader, source and options."""
    corpus_id, loader, _ = owner
    source = None if request.source is None else str(request.source.resolve())
    url = database.url.render_as_string(hide_password=True)
    said = [url, corpus_id, loader, source, dict(request.options)]
    digest = hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return find_index_folder(database).resolve() / FOLDER / digest[:32]


def _build_task(folder: Path, plan: FilePlan, states: States) -> ReadTask:
    file, digest = plan.file, str(plan.identity["file_digest"])
    sizes = (staging.CHUNK_ROWS, staging.CHUNK_BYTES, staging.BULK_CHUNK_ROWS)
    said = [file.name, file.role, digest, plan.identity["round"], VERSION, sizes]
    name = hashlib.sha256(orjson.dumps(said)).hexdigest()[:32]
    is_whole = file.path is not None and file.digest is None and file.member is None and not file.documents
    return ReadTask(file, str(folder / name), digest if is_whole else None, states[file.name], plan.first_row)
