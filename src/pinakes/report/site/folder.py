"""The folder of a site: files that are replaced whole, left where they are the same, removed when they go.

`site-files.txt` in it is its record: nothing that it does not list is ever overwritten or removed, and a part
of the site that it knows to be whole is not made again.
"""

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.faults import told_as
from pinakes.report.site.record import Part, Record, read_record, write_lines, write_record

LIST: Final = "site-files.txt"
FIRST: Final = "index.html"
_UNFINISHED: Final = ".site-unfinished"


@dataclass(slots=True)
class Written:
    """How many files were written, were there already with the same bytes, and were removed."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    total_bytes: int = 0


class SiteFolder:
    """A folder that a site is written into. `finish` removes what was there and is no longer."""

    def __init__(self, folder: Path) -> None:
        """Make the folder and read its record.

        Raises:
            InputError: it cannot be read or written, is no folder, or has a first page that no site made.
        """
        self.folder = folder
        self.count = Written()
        self._made = Record()
        self._parents: set[str] = set()
        with told_as(InputError, f"the site cannot be written to {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            lines = _read(str(folder / LIST)) or b""
            self._known = read_record(lines)
            self._refuse_foreign(FIRST)
            _remove_unfinished(folder)
            self._list = (folder / LIST).open("ab", buffering=0)
            if lines and not lines.endswith(b"\n"):  # of a process that was killed
                self._list.write(b"\n")

    @property
    def looks(self) -> Mapping[str, int]:
        """The numbers of the looks that systems had."""
        return self._known.looks

    def keep_looks(self, looks: Mapping[str, int]) -> None:
        """Remember the numbers of the looks of systems."""
        self._made.looks = dict(looks)
        if self._made.looks != self._known.looks:
            self._append(*(["look", *one] for one in looks.items()))

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file whose name may have folders, unless it has these bytes already.

        Raises:
            InputError: it cannot be written, or there is a file of the name that no site made.
        """
        content = text.encode("utf-8") if isinstance(text, str) else text
        path = f"{self.folder}/{name}"
        self._made.files[name] = digest(content)
        self.count.total_bytes += len(content)
        with told_as(InputError, f"{path} cannot be written"):
            self._refuse_foreign(name)
            is_known = name in self._known.files
            if is_known and _read(path) == content:
                self.count.unchanged += 1
                return
            if not is_known:  # listed first, so that a site that is stopped here still owns it
                self._known.files[name] = ""
                self._append(["file", name, ""])
            self._replace(path, content)
        self.count.written += 1

    def _append(self, *lines: list[Any]) -> None:
        self._list.write(write_lines(*lines))

    def _refuse_foreign(self, name: str) -> None:
        path = f"{self.folder}/{name}"
        if name not in self._known.files and os.path.lexists(path):
            raise InputError(
                f"{path} is there and of no site that pinakes made; move it away, or choose another folder."
            )

    def _replace(self, path: str, content: bytes) -> None:
        parent = os.path.dirname(path)
        if parent not in self._parents:
            os.makedirs(parent, exist_ok=True)
            self._parents.add(parent)
        unfinished = f"{self.folder}/{_UNFINISHED}.{os.getpid()}"
        try:
            with open(unfinished, "wb", buffering=0) as stream:
                rest = memoryview(content)
                while rest:
                    rest = rest[stream.write(rest) :]
            os.replace(unfinished, path)
        except OSError:
            with suppress(OSError):
                os.unlink(unfinished)
            raise

    def find_part(self, prefix: str) -> Part | None:
        """The whole part whose files begin so; None where there was none, or a file is not as it was.

        Raises:
            InputError: a file of it cannot be read.
        """
        part = self._known.parts.get(prefix)
        with told_as(InputError, f"the site in {self.folder} cannot be read"):
            for name, known in self._known.list_files(prefix).items():
                content = _read(f"{self.folder}/{name}") if part is not None else None
                if content is None or digest(content) != known:
                    return None
        return part

    def keep_part(self, prefix: str) -> None:
        """Leave a part as it is: the files whose names begin so, and what is known of it."""
        if prefix in self._known.parts:
            self._made.parts[prefix] = self._known.parts[prefix]
        for name, known in self._known.list_files(prefix).items():
            self._made.files[name] = known
            with suppress(OSError):
                self.count.total_bytes += os.stat(f"{self.folder}/{name}").st_size
                self.count.unchanged += 1

    def end_part(self, prefix: str, part: Part) -> None:
        """Remember that a part is whole, and remove its files that were not written again.

        Raises:
            InputError: one cannot be removed.
        """
        self._remove_gone(prefix)
        files = self._made.list_files(prefix)
        self._made.parts[prefix] = part
        if self._known.parts.get(prefix) != part or self._known.list_files(prefix) != files:
            self._append(*(["file", *one] for one in files.items()), ["part", prefix, part.key, part.said])

    def _remove_gone(self, prefix: str) -> None:
        with told_as(InputError, f"an old page cannot be removed from {self.folder}"):
            for name in sorted(self._known.list_files(prefix).keys() - self._made.files.keys()):
                path = self.folder / name
                if path.is_file() and not path.is_symlink():
                    path.unlink()
                    self.count.removed += 1
                _remove_empty(path.parent, self.folder)
                del self._known.files[name]
                self._append(["gone", name])

    def finish(self) -> Written:
        """Remove the site's files that were not written again, and say what became of all.

        Raises:
            InputError: one cannot be removed.
        """
        self._remove_gone("")
        with told_as(InputError, f"the list of files cannot be written to {self.folder}"):
            self._list.close()
            lines = write_record(self._made)
            if _read(f"{self.folder}/{LIST}") != lines:
                self._replace(f"{self.folder}/{LIST}", lines)
        return self.count

    def close(self) -> None:
        """Let go of the list, where the site was not finished."""
        self._list.close()

    def __enter__(self) -> "SiteFolder":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def digest(content: bytes) -> str:
    """A digest of the content of a file."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _remove_unfinished(folder: Path) -> None:
    """Remove what processes left that were killed while they wrote."""
    for path in folder.glob(f"{_UNFINISHED}.*"):
        number = path.suffix[1:]
        if number.isdecimal() and not _is_running(int(number)):
            path.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's, or no number of a process
        return True
    return True


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove a folder of the site, and those above it, as far as they are empty."""
    with suppress(OSError):
        while folder != top:
            folder.rmdir()
            folder = folder.parent
