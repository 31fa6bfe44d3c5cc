"""Files by name in a folder: a path, or an address on an S3-compatible object store.

A file is whole when it has its name. A local one takes it by renaming. On an object store there is no
renaming: a file appears when all of it is there, and counts once a list names it that is written last.
"""

import os
import re
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from pinakes.errors import InputError, PinakesError, show

ADDRESSES: Final = "a folder, or s3://BUCKET/PREFIX?endpoint_override=HOST:PORT&scheme=http&region=REGION"
CONNECT_S: Final = 3
FIRST_ANSWER_S: Final = 3
"""how long a store has to answer the first question, twice"""
ANSWER_S: Final = 30
"""how long it may send and take nothing later on"""
ATTEMPTS: Final = 3
_WRITING: Final = re.compile(r"\..*\.writing")
_OPTIONS: Final = {"endpoint_override", "scheme", "region"}
_REFUSED: Final = (
    (
        r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE|INVALID_CLIENT_TOKEN|UNRECOGNIZED_CLIENT|"
        r"EXPIRED_TOKEN|INVALID_TOKEN|HTTP response code 40[13]|Forbidden",
        "the store refuses the credentials. Give others in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    (r"NO_SUCH_BUCKET", "there is no such bucket. Make it, or name another"),
    (
        r"NETWORK_CONNECTION|REQUEST_TIMEOUT|curlCode|No response body",
        "nothing that speaks S3 answers there. Look at endpoint_override and scheme",
    ),
)
"""what pyarrow says of an error -> what is wrong and what helps"""


class Folder(ABC):
    """Files by name; those of folders below it have names with `/`. Made by `open_folder`."""

    address: str
    renames: bool
    """whether a file can take another name"""

    @abstractmethod
    def list_files(self) -> dict[str, int]:
        """name -> bytes of each file here and below; none where there is no such folder."""

    @abstractmethod
    def open_file(self, name: str) -> pa.NativeFile:
        """The file for reading at any place; FileNotFoundError where it is not there."""

    @abstractmethod
    @contextmanager
    def make_file(self, name: str) -> Iterator[Path]:
        """A local file that is to become `name` by `put`, to be written; removed where it does not."""
        yield Path()

    @abstractmethod
    def put(self, made: Path, name: str) -> None:
        """Give what was written to a file of `make_file` its name."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    @abstractmethod
    def sync(self, name: str) -> None:
        """Wait until the file would outlast a power cut."""

    @abstractmethod
    def prepare(self) -> None:
        """Make the folder where it is missing; on an object store, look whether the bucket is there."""

    @abstractmethod
    @contextmanager
    def telling(self) -> Iterator[None]:
        """What a store refuses while a file is read, in words; damage stays the reader's error."""
        yield

    @abstractmethod
    def below(self, name: str) -> "Folder":
        """The folder of that name in this one."""

    def read_file(self, name: str) -> bytes:
        """All of a file; FileNotFoundError where it is not there."""
        with self.open_file(name) as stream:
            return bytes(stream.read())

    def write_file(self, name: str, content: bytes) -> None:
        """Write a whole file, in place of one that has the name."""
        with self.make_file(name) as made:
            made.write_bytes(content)
            with made.open("rb") as file:
                os.fsync(file.fileno())
            self.put(made, name)

    def remove_writing(self) -> None:
        """Remove what was being written when its writer ended."""
        for name in self.list_files():
            if _WRITING.fullmatch(name):
                self.remove(name)


class LocalFolder(Folder):
    """A folder of a file system; a file takes its name by renaming."""

    renames = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.address = str(path)

    def list_files(self) -> dict[str, int]:  # noqa: D102 (as all below: see Folder)
        found = (path for path in self.path.rglob("*") if path.is_file())
        return {path.relative_to(self.path).as_posix(): path.stat().st_size for path in sorted(found)}

    def open_file(self, name: str) -> pa.NativeFile:  # noqa: D102
        return pa.OSFile(str(self.path / name), "rb")

    @contextmanager
    def make_file(self, name: str) -> Iterator[Path]:  # noqa: D102
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        made = target.with_name(f".{target.name}.{uuid.uuid4().hex}.writing")
        try:
            yield made
        finally:
            with suppress(OSError):  # what stopped the writing says more
                made.unlink()

    def put(self, made: Path, name: str) -> None:  # noqa: D102
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        made.replace(target)

    def remove(self, name: str) -> None:  # noqa: D102
        (self.path / name).unlink(missing_ok=True)

    def sync(self, name: str) -> None:  # noqa: D102
        with (self.path / name).open("rb") as file:
            os.fsync(file.fileno())

    def prepare(self) -> None:  # noqa: D102
        self.path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def telling(self) -> Iterator[None]:  # noqa: D102
        yield

    def below(self, name: str) -> "Folder":  # noqa: D102
        return LocalFolder(self.path / name)


class StoredFolder(Folder):
    """A prefix of keys in a bucket; files are written on a local disk first, then sent."""

    renames = False

    def __init__(self, bucket: str, prefix: str, options: dict[str, str], address: str) -> None:
        self._bucket, self._prefix, self._options = bucket, prefix, options
        self.address = address
        with self.telling():
            self._files = self._connect(ANSWER_S, ATTEMPTS)

    def list_files(self) -> dict[str, int]:  # noqa: D102
        with self.telling():
            chosen = pafs.FileSelector(self._root(), allow_not_found=True, recursive=True)
            found = self._files.get_file_info(chosen)
        start = len(self._root()) + 1
        return {one.path[start:]: one.size for one in sorted(found, key=lambda one: one.path) if one.is_file}

    def open_file(self, name: str) -> pa.NativeFile:  # noqa: D102
        with self.telling():
            return self._files.open_input_file(self._key(name))

    @contextmanager
    def make_file(self, name: str) -> Iterator[Path]:  # noqa: D102
        with tempfile.TemporaryDirectory(prefix="pinakes-") as folder:
            yield Path(folder) / "file"

    def put(self, made: Path, name: str) -> None:  # noqa: D102
        # In a thread, which no signal interrupts: a stream that is left half-way, even before its first byte,
        # ends its upload as if it were whole. Arrow's `copy_files` tells of no upload that failed.
        with self.telling(), pa.memory_map(str(made)) as file, ThreadPoolExecutor(1) as sender:
            sender.submit(self._send, file.read_buffer(), name).result()

    def _send(self, content: pa.Buffer, name: str) -> None:
        stream = self._files.open_output_stream(self._key(name), buffer_size=0)
        stream.write(content)
        stream.close()

    def remove(self, name: str) -> None:  # noqa: D102
        with suppress(FileNotFoundError), self.telling():
            self._files.delete_file(self._key(name))

    def sync(self, name: str) -> None:
        """Nothing: a store answers when it has the file."""

    def prepare(self) -> None:  # noqa: D102
        with self.telling():
            # Asked so that a store that is not there is found within seconds.
            found = self._connect(FIRST_ANSWER_S, 2).get_file_info(self._bucket)
        if found.type == pafs.FileType.NotFound:
            raise self._refuse("NO_SUCH_BUCKET")

    @contextmanager
    def telling(self) -> Iterator[None]:  # noqa: D102
        try:
            yield
        except OSError as error:
            if "AWS Error" not in str(error):  # of the local file, damage, or what is not there
                raise
            raise self._refuse(str(error)) from error

    def below(self, name: str) -> "Folder":  # noqa: D102
        return open_folder(join_address(self.address, name))

    def _connect(self, answer_s: int, attempts: int) -> Any:
        options: dict[str, Any] = dict(self._options)
        if "endpoint_override" in options:
            options.setdefault("region", os.environ.get("AWS_DEFAULT_REGION") or "us-east-1")
        return pafs.S3FileSystem(
            **options,
            connect_timeout=CONNECT_S,
            request_timeout=answer_s,
            retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=attempts),
        )

    def _root(self) -> str:
        return f"{self._bucket}/{self._prefix}" if self._prefix else self._bucket

    def _key(self, name: str) -> str:
        return f"{self._root()}/{name}"

    def _refuse(self, words: str) -> PinakesError:
        told = next((told for found, told in _REFUSED if re.search(found, words)), None)
        said = words.split(" (Request ID")[0].strip()
        return PinakesError(
            f"{self.address} cannot be used: {told} ({said}). Then start the same command again."
            if told
            else f"{self.address} cannot be used: the store says: {said}."
        )


def is_address(place: str | Path) -> bool:
    """Whether a place is an address on an object store, and no path.

    >>> is_address("s3://bucket/prefix"), is_address("a/b"), is_address(Path("s3:/b"))
    (True, False, False)
    """
    return isinstance(place, str) and "://" in place


def open_folder(place: str | Path) -> Folder:
    """The folder at a path or an address; nothing is asked of it yet.

    Raises:
        InputError: no such address can be.
    """
    if not is_address(place):
        return LocalFolder(Path(place))
    bucket, prefix, options = _read_address(str(place))
    return StoredFolder(bucket, prefix, options, str(place))


def join_address(place: str, name: str) -> str:
    """The place of a file or folder of that name below another; a name may have `/`.

    >>> join_address("s3://b/p?scheme=http", "a b"), join_address("/x", "a")
    ('s3://b/p/a%20b?scheme=http', '/x/a')
    """
    if not is_address(place):
        return str(Path(place) / name)
    start, mark, options = place.partition("?")
    return f"{start.rstrip('/')}/{quote(name)}{mark}{options}"


def split_address(place: str) -> tuple[str, str]:
    """The folder of a file, and its name there: what `join_address` puts together.

    >>> split_address("s3://b/p/a%20b?scheme=http"), split_address("/x/a")
    (('s3://b/p?scheme=http', 'a b'), ('/x', 'a'))
    """
    if not is_address(place):
        return str(Path(place).parent), Path(place).name
    start, mark, options = place.partition("?")
    folder, _, name = start.rpartition("/")
    return f"{folder}{mark}{options}", unquote(name)


def _read_address(address: str) -> tuple[str, str, dict[str, str]]:
    """Bucket, prefix and options of an address."""
    parts = urlsplit(address)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    prefix = unquote(parts.path).strip("/")
    if "@" in parts.netloc:
        raise InputError(
            "an address of an object store has no credentials, since it is stored and printed; give them in "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    wrong = (
        parts.scheme != "s3"
        or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", parts.netloc)
        or parts.fragment
        or not options.keys() <= _OPTIONS
        or (bool(prefix) and any(part in {"", ".", ".."} for part in prefix.split("/")))
        or options.get("scheme", "https") not in {"http", "https"}
    )
    if wrong:
        raise InputError(f"{show(address)} is no address of an object store; expected {ADDRESSES}.")
    return parts.netloc, prefix, options
