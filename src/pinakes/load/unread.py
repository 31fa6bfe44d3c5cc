"""Files that were handed in and are not read: found before the load, met while it reads, kept, and told.

Files handed in = files read + files not read. A folder's files of which no input file of the loader says
anything are not read because of their names; the loaders tell the rest.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Loader, Options, UnreadFile
from pinakes.loaders.reading.archives import is_archive, is_hidden, list_entries
from pinakes.loaders.reading.breaks import explain_break
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.staging import UnreadReason, show_raw
from pinakes.schema import load_batches, unread_files

Owner = tuple[int, str, str]
"""corpus_id, loader, and the name of the source: whose unread files are kept"""

_STAGED: Final = sa.table("staged_unread", sa.column("file", sa.Text))


def find_files(loader: Loader, source: Path | None, options: Options) -> list[InputFile]:
    """The input files of the source.

    Raises:
        InputError: the source is not what the loader reads.
        LoadError: it may be that, but is an archive that breaks off.
    """
    try:
        return loader.find_files(source, options)
    except InputError:
        if source is not None and source.is_file() and is_archive(source):
            damage = list_entries(source).damage  # which may be why something is missing
            if damage is not None:
                raise damage from None
        raise


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files that were handed in, by their names below the source; an entry's follows its archive's.

    Attributes:
        read: name of an input file -> the files that it stands for.
        unread: the files that no input file reads, by name.
    """

    read: dict[str, set[str]]
    unread: list[UnreadFile]

    def count_read(self, without: Collection[str] = ()) -> int:
        """How many files are read, without those of the input files of these names."""
        kept = (names for name, names in self.read.items() if name not in without)
        return len(set().union(*kept))


def find_handed_in(source: Path | None, files: Sequence[InputFile]) -> FoundFiles:
    """Which files of the source the input files read, and which none does: each file once, and on one side.

    An archive that is read stands for its entries; one of which no entry is read is one file.

    Raises:
        InputError: the source is an archive, and the loader would read it as it stands.
    """
    if source is not None and source.is_file() and is_archive(source) and source not in _list_archives(files):
        raise InputError(
            f"the loader does not look into archives: unpack {source.name}, and load its folder."
        )
    folder = source if source is not None and source.is_dir() else None
    read: dict[str, set[str]] = {}
    for file in files:
        read.setdefault(file.name, set()).update(_list_read(folder, file))
    all_read = set().union(*read.values())
    handed_in = dict(_list_handed_in(folder, files))
    told = {one.name: one for one in _list_told(folder, files, handed_in) if one.name not in all_read}
    plain = {strip_compression(name): name for name in sorted(all_read)}
    for name in handed_in.keys() - all_read:
        found = UnreadFile(name, *_explain(name, handed_in[name], plain))
        if name not in told or found.reason in ("hidden", "empty"):
            told[name] = found
    return FoundFiles(read, [told[name] for name in sorted(told)])


def _list_told(
    folder: Path | None, files: Iterable[InputFile], handed_in: Collection[str]
) -> Iterator[UnreadFile]:
    """What `find_files` says of files that are not read; an entry may be named as its archive names it."""
    for file in files:
        for one in file.unread:
            entry = "" if file.path is None else f"{_name(folder, file.path)}/{_clean(one.name)}"
            yield replace(one, name=entry) if entry in handed_in and one.name not in handed_in else one


def _list_read(folder: Path | None, file: InputFile) -> Iterator[str]:
    if file.path is None:
        return
    beside = [path for path in file.beside if folder is not None and path.is_relative_to(folder)]
    yield from (_name(folder, path) for path in beside)
    entries = (file.member,) if file.member is not None else file.documents
    if not entries:
        yield _name(folder, file.path)
    for entry in entries:
        is_folder = file.path.is_dir()
        yield _name(folder, file.path / entry) if is_folder else f"{_name(folder, file.path)}/{_clean(entry)}"


def _name(folder: Path | None, path: Path) -> str:
    return path.name if folder is None else Path(os.path.relpath(path, folder)).as_posix()


def _clean(entry: str) -> str:
    return str(PurePosixPath(entry))


def _list_handed_in(folder: Path | None, files: Iterable[InputFile]) -> Iterator[tuple[str, int | None]]:
    """Names and sizes in bytes; no size where a file cannot be looked at."""
    opened = set(_list_archives(files))
    for path in opened:
        for entry in list_entries(path).entries:
            yield f"{_name(folder, path)}/{_clean(entry.name)}", entry.size
    for parent, _, names in os.walk(folder) if folder is not None else ():
        for path in (Path(parent, name) for name in names):
            if path not in opened:
                yield _name(folder, path), _measure(path)


def _list_archives(files: Iterable[InputFile]) -> Iterator[Path]:
    for file in files:
        if file.path is not None and (file.member is not None or file.documents) and is_archive(file.path):
            yield file.path


def _measure(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _explain(name: str, size: int | None, plain: Mapping[str, str]) -> tuple[UnreadReason, str]:
    if is_hidden(name):
        return "hidden", ""
    if size == 0:
        return "empty", ""
    if size is None:
        return "unknown_name", "it cannot be looked at"
    copy = plain.get(strip_compression(name))
    return ("unknown_name", "") if copy is None else ("copy", copy)


def check_archives(files: Iterable[InputFile]) -> None:
    """Raise `LoadError` where an archive breaks off, although all that is known of it could be read."""
    for path in _list_archives(files):
        listing = list_entries(path)
        if listing.damage is not None:
            raise explain_break(listing.damage, f"after the entry {show_raw(listing.entries[-1].name)}")


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
    ordered = kept.where(*_match(owner)).order_by(unread_files.c.reason, unread_files.c.file)
    return [
        {"file": file, "reason": reason, "message": message}
        for file, reason, message in session.stream_rows(ordered)
    ]


def _match(owner: Owner) -> list[sa.ColumnElement[bool]]:
    columns = (unread_files.c.corpus_id, unread_files.c.loader, unread_files.c.source)
    return [column == value for column, value in zip(columns, owner, strict=True)]
