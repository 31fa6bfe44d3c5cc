"""Vectors in a folder of Parquet files: id, text_digest and embedding, each file whole or not there.

The files are numbered, hold as many rows each, and know in their metadata what made them.
"""

import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.faults import told_as
from pinakes.indexers.side_folder import describe_file, hold_folder
from pinakes.matrices import to_lists, to_matrix

MANIFEST_FILE: Final = "manifest.json"
_SETTINGS_KEY: Final = b"pinakes_encoder"
_REPLACED: Final = ".replaced-"


@dataclass(frozen=True, slots=True, eq=False)
class ShardRows:
    """The rows of a shard: `ids` (an Arrow array or values), their texts' digests, and vectors (n, d)."""

    ids: Any
    digests: Sequence[str]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WrittenShard:
    """A file that is whole and has no shard's name yet; `described` is what `describe_file` says of it."""

    number: int
    name: str
    described: Mapping[str, Any]


class VectorShards:
    """The shards of one folder, which only one process may hold; made by `hold_shards`."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], dimensions: int) -> None:
        self.folder = folder
        self._dimensions = dimensions
        self._settings = json.dumps(settings, sort_keys=True)
        self._places: dict[bytes, tuple[Path, int]] = {}
        self._described: dict[Path, dict[str, Any]] = {}
        for path in sorted([*folder.glob("shard-*.parquet"), *folder.glob(f"{_REPLACED}*")]):
            digests = self._read(path, ["text_digest"])["text_digest"].to_pylist()
            self._places |= {_pack(digest): (path, row) for row, digest in enumerate(digests)}

    def holds(self, number: int, ids: Sequence[Any], digests: Sequence[str]) -> bool:
        """Whether shard `number` is there with exactly these rows."""
        path = self._path(number)
        if not path.exists():
            return False
        stored = self._read(path, ["id", "text_digest"])
        found = [stored["id"].to_pylist(), stored["text_digest"].to_pylist()]
        return found == [list(ids), list(digests)]

    def find(self, digests: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of those of the texts that are in any shard."""
        wanted: dict[Path, list[tuple[str, int]]] = {}
        for digest in dict.fromkeys(digests):
            place = self._places.get(_pack(digest))
            if place is not None:
                wanted.setdefault(place[0], []).append((digest, place[1]))
        found: dict[str, NDArray[np.float32]] = {}
        for path, rows in wanted.items():
            vectors = to_matrix(self._read(path, ["embedding"])["embedding"])
            found |= {digest: vectors[row].copy() for digest, row in rows}
        return found

    def write(self, number: int, ids: pa.Array, digests: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Write shard `number`; one that has other rows is kept aside until `finish`, for its vectors."""
        rows = ShardRows(ids, digests, vectors)
        self.take(write_shard(self.folder, number, rows, self._settings), digests)

    def take(self, written: WrittenShard, digests: Sequence[str], *, aside: bool = False) -> None:
        """Give a written file the name of its shard; or keep it aside until `finish`, for its vectors.

        Raises IndexingError where the file is not there.
        """
        writing = self.folder / written.name
        if not writing.exists():
            raise IndexingError(f"{writing} is not there; expected a folder that all machines share")
        (self.folder / MANIFEST_FILE).unlink(missing_ok=True)
        path = self._aside(written.described) if aside else self._path(written.number)
        if not aside:
            self._set_aside(path)
        writing.rename(path)
        self._described[path] = dict(written.described)
        self._places |= {_pack(digest): (path, row) for row, digest in enumerate(digests)}

    @property
    def settings(self) -> str:
        """What made the vectors, as each shard says it."""
        return self._settings

    def finish(self, shards: int, facts: Mapping[str, Any]) -> None:
        """Remove what is no part of the first `shards` shards, and write the manifest."""
        files = [self._path(number) for number in range(shards)]
        manifest = {
            **json.loads(self._settings),
            **facts,
            "files": {path.name: self._described.get(path) or describe_file(path) for path in files},
        }
        writing = self.folder / f".{MANIFEST_FILE}.writing"
        writing.write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        _sync(writing)
        writing.rename(self.folder / MANIFEST_FILE)
        for path in [*self.folder.glob("shard-*.parquet"), *self.folder.glob(".*.parquet*")]:
            if path not in files:
                path.unlink()

    def read_finished(self) -> dict[str, Any] | None:
        """The manifest, if the folder was finished and nothing was written since."""
        path = self.folder / MANIFEST_FILE
        if not path.exists():
            return None
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def _path(self, number: int) -> Path:
        return self.folder / name_shard(number)

    def _aside(self, described: Mapping[str, Any]) -> Path:
        return self.folder / f"{_REPLACED}{described['sha256'][:16]}.parquet"

    def _read(self, path: Path, columns: list[str]) -> pa.Table:
        try:
            rows = pq.read_table(path, columns=columns, page_checksum_verification=True)
        except (OSError, ValueError) as error:
            raise IndexingError(
                f"{path} is damaged ({error}); expected a shard as it was written. Delete it and start "
                "again: its texts alone are encoded again"
            ) from error
        made_by = (rows.schema.metadata or {}).get(_SETTINGS_KEY, b"null").decode()
        if made_by != self._settings:
            raise IndexingError(
                f"{path} holds vectors that were made by {made_by}; expected {self._settings}. Encode into "
                "another folder, or delete this one"
            )
        return rows

    def _set_aside(self, path: Path) -> None:
        if not path.exists():
            return
        aside = self._aside(describe_file(path))
        path.rename(aside)
        for digest, (place, row) in self._places.items():
            if place == path:
                self._places[digest] = (aside, row)


def name_shard(number: int) -> str:
    """The name of a shard's file.

    >>> name_shard(7)
    'shard-00007.parquet'
    """
    return f"shard-{number:05}.parquet"


def write_shard(folder: Path, number: int, rows: ShardRows, settings: str) -> WrittenShard:
    """Write the rows to a file of a name that nobody else has; what made the vectors is in its metadata."""
    table = pa.table(
        {
            "id": pa.array(rows.ids),
            "text_digest": pa.array(rows.digests, pa.string()),
            "embedding": to_lists(rows.vectors),
        }
    ).replace_schema_metadata({_SETTINGS_KEY: settings})
    path = folder / f".{name_shard(number)}.{uuid.uuid4().hex}.writing"
    with told_as(IndexingError, f"{folder} cannot be written; the shards that it has stay"):
        # Vectors do not compress; checksums let a reader notice a damaged page.
        pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
        _sync(path)
        return WrittenShard(number, path.name, describe_file(path))


@contextmanager
def hold_shards(folder: Path, settings: Mapping[str, Any], dimensions: int) -> Iterator[VectorShards]:
    """The shards of `folder`, which is made where it is not there; `settings` say what makes the vectors.

    Raises IndexingError for a folder that another process holds, for shards of other settings and for
    damaged ones.
    """
    written = f"{folder} cannot be written; the shards that it has stay"
    with told_as(IndexingError, written):
        folder.mkdir(parents=True, exist_ok=True)
    with told_as(IndexingError, written), hold_folder(folder, f"{folder} is being written"):
        for path in folder.glob(".*.writing"):
            path.unlink()
        yield VectorShards(folder, settings, dimensions)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _pack(digest: str) -> bytes:
    return bytes.fromhex(digest.replace("-", ""))
