"""Files on an object store, as DuckDB reads them in place: by Arrow's file system, to be read alone.

DuckDB's own extension for S3 would have to be downloaded. It takes a file system that is written in Python
instead (`register_filesystem`), for names that begin with `pinakes://`. Such a name has the whole address of
a folder, quoted, and then the name of a file in it, whose content never changes.
"""

import threading
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, unquote

from fsspec import AbstractFileSystem  # type: ignore[import-untyped]

from pinakes.errors import PinakesError, show
from pinakes.writing.folders import Folder, is_address, open_folder

PROTOCOL: Final = "pinakes"
_START: Final = f"{PROTOCOL}://"
_GONE: Final = ("NO_SUCH_KEY", "RESOURCE_NOT_FOUND")
"""what Arrow says of a file that was opened and is no longer there"""
_NEVER_CHANGED: Final = datetime(2000, 1, 1, tzinfo=UTC)


class StoredFileError(PinakesError):
    """A file that is read in place cannot be read; DuckDB makes a text with a traceback of it.

    `driver_errors` finds it there by its name.
    """


class StoredFiles(AbstractFileSystem):  # type: ignore[misc]
    """The files of folders on object stores. Each is opened once, and stays open."""

    protocol = PROTOCOL
    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self._folders: dict[str, Folder] = {}
        self._opened: dict[str, _Content] = {}

    def open(self, path: str, mode: str = "rb", **_: object) -> "_OpenFile":
        """A file to be read. DuckDB opens one several times in a query, in several threads.

        Raises:
            StoredFileError: it is to be written, is not there, or the store does not answer.
        """
        if mode != "rb":
            raise StoredFileError("files that are read in place cannot be written.")
        return _OpenFile(self._find(path))

    def glob(self, path: str, **_: object) -> list[str]:
        """The file of that very name: no character of it stands for others."""
        return [path]

    def exists(self, path: str, **_: object) -> bool:
        """Whether the file can be read."""
        return self._find(path).size >= 0

    def info(self, path: str, **_: object) -> dict[str, Any]:
        """Name, kind and size in bytes."""
        return {"name": path, "type": "file", "size": self._find(path).size}

    def modified(self, path: str) -> datetime:
        """A constant: what DuckDB remembers of a file stays true."""
        return _NEVER_CHANGED

    def _find(self, path: str) -> "_Content":
        # Without a lock, so that files are opened at once: of two threads that open one, the first counts.
        found = self._opened.get(path)
        return self._opened.setdefault(path, self._open_content(path)) if found is None else found

    def _open_content(self, path: str) -> "_Content":
        quoted, _, name = path.removeprefix(_START).partition("/")
        is_plain = path.startswith(_START) and not {"", ".", ".."} & set(name.split("/"))
        if not is_plain or not is_address(unquote(quoted)):
            raise StoredFileError(f"{show(path)} names no file that is read in place.")
        try:
            folder = self._folders.get(quoted)
            if folder is None:  # a client of its own, which looks for credentials
                folder = self._folders.setdefault(quoted, open_folder(unquote(quoted)))
            return _Content(folder, name)
        except FileNotFoundError as error:
            raise StoredFileError(_tell_gone(unquote(quoted), name)) from error
        except PinakesError as error:
            raise StoredFileError(str(error)) from error


class _Content:
    """The bytes of one file, for any number of threads."""

    def __init__(self, folder: Folder, name: str) -> None:
        self._folder, self._name, self._file = folder, name, folder.open_file(name)
        self.size: int = self._file.size()

    def read(self, size: int, start: int) -> bytes:
        try:
            with self._folder.telling():
                return bytes(self._file.read_at(size, start))
        except PinakesError as error:
            gone = any(word in str(error) for word in _GONE)
            raise StoredFileError(
                _tell_gone(self._folder.address, self._name) if gone else str(error)
            ) from error


class _OpenFile:
    """A file with a place in it for each thread: DuckDB moves and reads one from several at once."""

    def __init__(self, content: _Content) -> None:
        self._content = content
        self._place = threading.local()

    def seek(self, offset: int, whence: int = 0) -> int:
        self._place.value = offset + {0: 0, 1: self.tell(), 2: self._content.size}[whence]
        return self.tell()

    def tell(self) -> int:
        return int(getattr(self._place, "value", 0))

    def read(self, size: int) -> bytes:
        found = self._content.read(size, self.tell())
        self._place.value = self.tell() + len(found)
        return found

    def close(self) -> None:
        """Nothing: the content stays open for the next one."""


def name_folder(address: str) -> str:
    """What begins DuckDB's names of the files of a folder on a store.

    >>> name_folder("s3://bucket/papers?scheme=http")
    'pinakes://s3%3A%2F%2Fbucket%2Fpapers%3Fscheme%3Dhttp/'
    """
    return f"{_START}{quote(address, safe='')}/"


def _tell_gone(address: str, name: str) -> str:
    return (
        f"{name} is no longer in {address}. If the corpora were exported again, `pinakes init --over` reads "
        "those of now."
    )
