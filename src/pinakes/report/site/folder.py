"""The folder of a site: files that are replaced whole, left where they are the same, removed when they go.

`site-files.txt` in it lists what the site made, so that nothing else is ever overwritten or removed.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from pinakes.errors import InputError
from pinakes.faults import told_as

LIST: Final = "site-files.txt"
FIRST: Final = "index.html"
_UNFINISHED: Final = ".site-unfinished"
_HEAD: Final = "# Files of a site that pinakes made; it replaces and removes these and no others."


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
        """Make the folder and read its list.

        Raises:
            InputError: it cannot be read or written, is no folder, or has a first page that no site made.
        """
        self.folder = folder
        self.count = Written()
        with told_as(InputError, f"the site cannot be written to {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            self._known = _read_list(folder / LIST)
            self._refuse_foreign(FIRST)
            _remove_unfinished(folder)
            self._made: set[str] = set()
            self._parents: set[Path] = set()
            self._list = (folder / LIST).open("a", encoding="utf-8", newline="\n")
            if not self._known:
                self._list.write(f"{_HEAD}\n")

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file whose name may have folders, unless it has these bytes already.

        Raises:
            InputError: it cannot be written, or there is a file of the name that no site made.
        """
        content = text.encode("utf-8") if isinstance(text, str) else text
        path = self.folder / name
        self._made.add(name)
        self.count.total_bytes += len(content)
        with told_as(InputError, f"{path} cannot be written"):
            self._refuse_foreign(name)
            before = _read(path)
            if before == content:
                self.count.unchanged += 1
                return
            if name not in self._known:  # listed first, so that a site that is stopped here still owns it
                self._known.add(name)
                self._list.write(f"{name}\n")
                self._list.flush()
            self._replace(path, content)
        self.count.written += 1

    def _refuse_foreign(self, name: str) -> None:
        path = self.folder / name
        if name not in self._known and os.path.lexists(path):
            raise InputError(
                f"{path} is there and of no site that pinakes made; move it away, or choose another folder."
            )

    def _replace(self, path: Path, content: bytes) -> None:
        if path.parent not in self._parents:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._parents.add(path.parent)
        unfinished = self.folder / f"{_UNFINISHED}.{os.getpid()}"
        try:
            unfinished.write_bytes(content)
            unfinished.replace(path)
        except OSError:
            with suppress(OSError):
                unfinished.unlink()
            raise

    def keep(self, prefix: str) -> None:
        """Leave the files as they are whose names begin so: their pages could not be made again."""
        self._made |= {name for name in self._known if name.startswith(prefix)}

    def finish(self) -> Written:
        """Remove the site's files that were not written again, and say what became of all.

        Raises:
            InputError: one cannot be removed.
        """
        with told_as(InputError, f"an old page cannot be removed from {self.folder}"):
            for name in sorted(self._known - self._made):
                path = self.folder / name
                if path.is_file() and not path.is_symlink():
                    path.unlink()
                    self.count.removed += 1
                _remove_empty(path.parent, self.folder)
            self._list.close()
            lines = "".join(f"{name}\n" for name in (_HEAD, *sorted(self._made)))
            if _read(self.folder / LIST) != lines.encode():
                self._replace(self.folder / LIST, lines.encode())
        return self.count

    def close(self) -> None:
        """Let go of the list, where the site was not finished."""
        self._list.close()

    def __enter__(self) -> "SiteFolder":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _read_list(path: Path) -> set[str]:
    """The names in a list that lead to nothing outside the folder."""
    content = _read(path) or b""
    return {line for line in content.decode("utf-8", "replace").splitlines() if _is_inside(line)}


def _is_inside(name: str) -> bool:
    """Whether a name is of a file within the folder, as we write it.

    >>> [_is_inside(name) for name in ("index.html", "a/b.html", "../x", "/etc/x", "a//b", "# x", "")]
    [True, True, False, False, False, False, False]
    """
    parts: Iterable[str] = PurePosixPath(name).parts
    plain = all(part not in ("..", "/") and ":" not in part and "\\" not in part for part in parts)
    return bool(name) and name == "/".join(parts) and plain and not name.startswith(("#", "."))


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
