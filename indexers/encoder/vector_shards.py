"""Vectors in a folder of Parquet files: id, text_digest and embedding, each file whole or not there.

The files are numbered, hold as many rows each, and know in their metadata what made them. On an object store,
where nothing takes another name, a file's sha256 is part of its name.
"""

import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.faults import told_as
from pinakes.indexers.side_folder import describe_file, describe_stream, hold_folder
from pinakes.matrices import to_lists, to_matrix
from pinakes.writing.folders import Folder, LocalFolder, open_folder

MANIFEST_FILE: Final = "manifest.json"
_SETTINGS_KEY: Final = b"pinakes_encoder"
_REPLACED: Final = ".replaced-"
_SHARD: Final = re.compile(r"shard-(\d{5,})(-[0-9a-f]{16})?\.parquet")
_OURS: Final = re.compile(r"shard-[^/]*\.parquet|\.[^/]*\.parquet[^/]*")


@dataclass(frozen=True, slots=True, eq=False)
class ShardRows:
    """The rows of a shard: `ids` (an Arrow array or values), their texts' digests, and vectors (n, d)."""

    ids: Any
    digests: Sequence[str]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WrittenShard:
    """A file that is whole, and where files are renamed has no shard's name yet.

    `described` is what `describe_file` says of it.
    """

    number: int
    name: str
    described: Mapping[str, Any]


class VectorShards:
    """The shards of one folder, made by `hold_shards`; of a file system, one process alone may hold it."""

    def __init__(self, folder: Folder, settings: Mapping[str, Any], dimensions: int) -> None:
        self._folder = folder
        self._dimensions = dimensions
        self._settings = json.dumps(settings, sort_keys=True)
        self._places: dict[bytes, tuple[str, int]] = {}
        self._described: dict[str, dict[str, Any]] = {}
        self._numbered: dict[int, list[str]] = {}
        for name in folder.list_files():
            shard = _SHARD.fullmatch(name)
            if shard is None and not name.startswith(_REPLACED):
                continue
            if not folder.renames and not self._has_end(name):
                folder.remove(name)
                continue
            if shard is not None:
                self._numbered.setdefault(int(shard[1]), []).append(name)
            self._note_places(name, self._read(name, ["text_digest"])["text_digest"].to_pylist())

    def holds(self, number: int, ids: Sequence[Any], digests: Sequence[str]) -> bool:
        """Whether shard `number` is there with exactly these rows."""
        for name in self._numbered.get(number, ()):
            stored = self._read(name, ["id", "text_digest"])
            found = [stored["id"].to_pylist(), stored["text_digest"].to_pylist()]
            if found == [list(ids), list(digests)]:
                self._numbered[number] = [name]
                return True
        return False

    def find(self, digests: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of those of the texts that are in any shard."""
        wanted: dict[str, list[tuple[str, int]]] = {}
        for digest in dict.fromkeys(digests):
            place = self._places.get(_pack(digest))
            if place is not None:
                wanted.setdefault(place[0], []).append((digest, place[1]))
        found: dict[str, NDArray[np.float32]] = {}
        for name, rows in wanted.items():
            vectors = to_matrix(self._read(name, ["embedding"])["embedding"])
            found |= {digest: vectors[row].copy() for digest, row in rows}
        return found

    def write(self, number: int, ids: pa.Array, digests: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Write shard `number`; one that has other rows is kept aside until `finish`, for its vectors."""
        rows = ShardRows(ids, digests, vectors)
        self.take(write_shard(self.address, number, rows, self._settings), digests)

    def take(self, written: WrittenShard, digests: Sequence[str], *, aside: bool = False) -> None:
        """Give a written file the name of its shard; or keep it aside until `finish`, for its vectors.

        Raises IndexingError where the file is not there.
        """
        self._folder.remove(MANIFEST_FILE)
        if isinstance(self._folder, LocalFolder):
            name = self._rename(self._folder.path, written, aside=aside)
        else:
            name = written.name
        if not aside:
            self._numbered[written.number] = [name]
        self._described[name] = dict(written.described)
        self._note_places(name, digests)

    @property
    def settings(self) -> str:
        """What made the vectors, as each shard says it."""
        return self._settings

    @property
    def address(self) -> str:
        """The path or the address of the folder."""
        return self._folder.address

    def finish(self, shards: int, facts: Mapping[str, Any]) -> None:
        """Remove what is no part of the first `shards` shards, and write the manifest.

        Raises IndexingError where another process has removed a shard, on an object store.
        """
        names = [self._numbered[number][0] for number in range(shards)]
        files = {name: self._described.get(name) or self._describe(name) for name in names}
        found = self._folder.list_files()
        if any(found.get(name) != described["bytes"] for name, described in files.items()):
            raise IndexingError(
                f"another process has written to {self.address} meanwhile; wait for it to end, then start "
                "again"
            )
        manifest = {**json.loads(self._settings), **facts, "files": files}
        content = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        self._folder.write_file(MANIFEST_FILE, content.encode())
        for name in found:
            if _OURS.fullmatch(name) and name not in files:
                self._folder.remove(name)

    def read_finished(self) -> dict[str, Any] | None:
        """The manifest, if the folder was finished and nothing was written since."""
        try:
            found: dict[str, Any] = json.loads(self._folder.read_file(MANIFEST_FILE))
        except FileNotFoundError:
            return None
        return found

    def _rename(self, folder: Path, written: WrittenShard, *, aside: bool) -> str:
        writing = folder / written.name
        if not writing.exists():
            raise IndexingError(f"{writing} is not there; expected a folder that all machines share")
        if aside:
            name = _name_aside(written.described)
        else:
            name = name_shard(written.number)
            self._set_aside(folder, name)
        writing.rename(folder / name)
        return name

    def _set_aside(self, folder: Path, name: str) -> None:
        path = folder / name
        if not path.exists():
            return
        aside = _name_aside(describe_file(path))
        path.rename(folder / aside)
        for digest, (place, row) in self._places.items():
            if place == name:
                self._places[digest] = (aside, row)

    def _note_places(self, name: str, digests: Sequence[str]) -> None:
        self._places |= {_pack(digest): (name, row) for row, digest in enumerate(digests)}

    def _describe(self, name: str) -> dict[str, Any]:
        with self._folder.telling(), self._folder.open_file(name) as stream:
            return describe_stream(stream)

    def _has_end(self, name: str) -> bool:
        """Whether a file has all that was to be sent: Parquet's footer comes last."""
        try:
            with self._folder.telling(), self._folder.open_file(name) as stream:
                pq.read_metadata(stream)
        except (OSError, pa.ArrowException):
            return False
        return True

    def _read(self, name: str, columns: list[str]) -> pa.Table:
        try:
            with self._folder.telling(), self._folder.open_file(name) as stream:
                rows = pq.read_table(stream, columns=columns, page_checksum_verification=True)
        except (OSError, ValueError) as error:
            raise IndexingError(
                f"{self.address}/{name} is damaged ({error}); expected a shard as it was written. Delete it "
                "and start again: its texts alone are encoded again"
            ) from error
        made_by = (rows.schema.metadata or {}).get(_SETTINGS_KEY, b"null").decode()
        if made_by != self._settings:
            raise IndexingError(
                f"{self.address}/{name} holds vectors that were made by {made_by}; expected {self._settings}"
                ". Encode into another folder, or delete this one"
            )
        return rows


def name_shard(number: int) -> str:
    """The name of a shard's file.

    >>> name_shard(7)
    'shard-00007.parquet'
    """
    return f"shard-{number:05}.parquet"


def write_shard(
    place: str, number: int, rows: ShardRows, settings: str, *, aside: bool = False
) -> WrittenShard:
    """Write the rows to a file of a name that nobody else has, or only for the same bytes.

    What made the vectors is in its metadata. `aside`: the rows are for other shards to take.
    """
    table = pa.table(
        {
            "id": pa.array(rows.ids),
            "text_digest": pa.array(rows.digests, pa.string()),
            "embedding": to_lists(rows.vectors),
        }
    ).replace_schema_metadata({_SETTINGS_KEY: settings})
    folder = open_folder(place)
    with told_as(IndexingError, f"{place} cannot be written; the shards that it has stay"):
        if isinstance(folder, LocalFolder):
            name = f".{name_shard(number)}.{uuid.uuid4().hex}.writing"
            _write_table(table, folder.path / name)
            folder.sync(name)
            return WrittenShard(number, name, describe_file(folder.path / name))
        with folder.make_file(name_shard(number)) as made:
            _write_table(table, made)
            described = describe_file(made)
            shard = name_shard(number).replace(".", f"-{described['sha256'][:16]}.")
            name = _name_aside(described) if aside else shard
            folder.put(made, name)
            return WrittenShard(number, name, described)


def _write_table(table: pa.Table, path: Path) -> None:
    # Vectors do not compress; checksums let a reader notice a damaged page.
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)


@contextmanager
def hold_shards(place: str | Path, settings: Mapping[str, Any], dimensions: int) -> Iterator[VectorShards]:
    """The shards at a path or an address; a folder is made where there is none.

    `settings` say what makes the vectors. Two who write to one object store at once do the same work; what
    the last manifest names counts. Raises IndexingError for a folder that another process holds, for shards
    of other settings and for damaged ones.
    """
    folder = open_folder(place)
    written = f"{place} cannot be written; the shards that it has stay"
    with told_as(IndexingError, written):
        folder.prepare()
    held = (
        hold_folder(folder.path, f"{place} is being written")
        if isinstance(folder, LocalFolder)
        else nullcontext()
    )
    with told_as(IndexingError, written), held:
        if folder.renames:
            folder.remove_writing()
        yield VectorShards(folder, settings, dimensions)


def _name_aside(described: Mapping[str, Any]) -> str:
    return f"{_REPLACED}{described['sha256'][:16]}.parquet"


def _pack(digest: str) -> bytes:
    return bytes.fromhex(digest.replace("-", ""))
