"""Files of text that a person opens while they are written anew."""

import os
from collections.abc import Mapping
from pathlib import Path

from pinakes.errors import InputError


def write_files(folder: Path, contents: Mapping[str, str]) -> list[Path]:
    """Write texts under their names into a folder, which is made; the paths, in the given order.

    Raises:
        InputError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_write(folder / name, text) for name, text in contents.items()]
    except OSError as error:
        raise InputError(f"the report cannot be written to {folder}: {error}.") from error


def _write(path: Path, text: str) -> Path:
    """Write beside the path and rename, so that a reader never sees half a file."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    return unfinished.replace(path)
