"""Files that were handed in and are not read: found before the load, met while it reads, kept, and told.

Files handed in = files read + files not read. A folder's files of which no input file of the loader says
anything are not read because of their names; the loaders tell the rest.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.loaders.base import InputFile, UnreadFile
from pinakes.loaders.staging import UnreadReason, show_raw
from pinakes.schema import load_batches, unread_files

Owner = tuple[int, str, str]
"""corpus_id, loader, and the name of the source: whose unread files are kept"""

_STAGED: Final = sa.table("staged_unread", sa.column("file", sa.Text))


def count_read(files: Iterable[InputFile]) -> int:
    """How many files the input files stand for: documents one by one, entries of archives too."""
    return sum(len(file.documents) or 1 for file in files)


def find_unread(source: Path | None, files: Sequence[InputFile]) -> list[UnreadFile]:
    """The files of the source that no input file reads, each once, by name."""
    told = {unread.name: unread for file in files for unread in file.unread}
    if source is not None and source.is_dir():
        read = set(_list_read(source, files))
        for name in _list_names(source):
            if name not in read and name not in told:
                told[name] = UnreadFile(name, *_explain(source, name))
    return [told[name] for name in sorted(told)]


def _list_read(source: Path, files: Iterable[InputFile]) -> Iterator[str]:
    for file in files:
        if file.path is None:
            continue
        is_folder = file.path.is_dir()
        for path in (file.path / name for name in file.documents) if is_folder else [file.path]:
            yield os.path.relpath(path, source)


def _list_names(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(parent, name), folder)


def _explain(source: Path, name: str) -> tuple[UnreadReason, str]:
    if any(part.startswith((".", "__MACOSX")) for part in Path(name).parts):
        return "hidden", ""
    try:
        size = (source / name).stat().st_size
    except OSError as error:
        return "unknown_name", error.strerror or ""
    return ("empty", "") if size == 0 else ("unknown_name", "")


def keep_unread(
    session: Session,
    owner: Owner,
    unread: Iterable[UnreadFile],
    batch_id: int | None = None,
) -> None:
    """Store the files under their owner, in place of what was said of them."""
    named = {show_raw(os.fsencode(one.name)): one for one in unread}
    if not named:
        return
    columns = {
        "file": pa.array(named, pa.string()),
        "reason": pa.array([one.reason for one in named.values()], pa.string()),
        "message": pa.array([show_raw(one.message) for one in named.values()], pa.string()),
    }
    with session.staged({_STAGED.name: pa.table({"file": columns["file"]})}):
        session.execute(
            sa.delete(unread_files).where(*_match(owner), unread_files.c.file.in_(sa.select(_STAGED.c.file)))
        )
    constant = {
        "corpus_id": pa.array([owner[0]] * len(named), pa.int32()),
        "loader": pa.array([owner[1]] * len(named), pa.string()),
        "source": pa.array([owner[2]] * len(named), pa.string()),
        "batch_id": pa.array([batch_id] * len(named), pa.int64()),
    }
    session.insert(unread_files, pa.table({**columns, **constant}))


def forget_unread(session: Session, owner: Owner, files: Collection[str]) -> None:
    """Remove what an earlier load of the source said, but for entries of archives that are still there."""
    batches = sa.select(load_batches.c.batch_id).where(load_batches.c.file.in_(files))
    of_gone = sa.or_(unread_files.c.batch_id.is_(None), unread_files.c.batch_id.not_in(batches))
    session.execute(sa.delete(unread_files).where(*_match(owner), of_gone))


def read_unread(session: Session, owner: Owner) -> list[dict[str, str]]:
    """What is kept of the source: file, reason and message, by reason and name."""
    kept = sa.select(unread_files.c.file, unread_files.c.reason, unread_files.c.message)
    return session.rows(kept.where(*_match(owner)).order_by(unread_files.c.reason, unread_files.c.file))


def _match(owner: Owner) -> list[sa.ColumnElement[bool]]:
    columns = (unread_files.c.corpus_id, unread_files.c.loader, unread_files.c.source)
    return [column == value for column, value in zip(columns, owner, strict=True)]
