"""The files of a benchmark collection: which there are, what each holds, and the split that its name says."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.compression import strip_compression

_SPLITS: Final = {
    "train": "train",
    "training": "train",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "dev": "dev",
    "test": "test",
}


def list_files(source: Path | None, expected: str) -> list[tuple[str, Path]]:
    """The source, or the files below it in the order of their names; hidden ones are passed over.

    Args:
        source: a file or a folder.
        expected: what messages say the source should be.

    Raises:
        InputError: there is no such file or folder.
    """
    if source is None or not source.exists():
        raise InputError(f"there is no file or folder {source}; expected {expected}.")
    if source.is_file():
        return [(source.name, source)]
    named = [(path.relative_to(source).as_posix(), path) for path in source.rglob("*") if path.is_file()]
    return sorted((name, path) for name, path in named if not re.search(r"(?:^|/)[._]", name))


def find_roles(
    source: Path | None, find_role: Callable[[str], str | None], expected: str, order: tuple[str, ...]
) -> list[InputFile]:
    """The source's files, each with its role, roles in the given order.

    Args:
        source: a file or a folder.
        find_role: a file's role by its name, lowered and without a compression's suffix; None passes it over.
        expected: what messages say the source should be.
        order: the roles, first what others name.

    Raises:
        InputError: there is no such file or folder, or no file has a role.
    """
    found = [
        InputFile(path, name, role)
        for name, path in list_files(source, expected)
        if (role := find_role(strip_compression(name.lower()))) is not None
    ]
    if not found:
        raise InputError(f"{source} holds none of the files that were expected: {expected}.")
    return sorted(found, key=lambda file: (order.index(file.role), file.name))


def name_split(name: str, default: str) -> str:
    """The split that a file's own name says, or else the default.

    >>> name_split("mdcr_val.json", "test"), name_split("train/meta.jsonl", "all")
    ('dev', 'all')
    """
    words = re.split(r"[^a-z]+", name.rsplit("/", 1)[-1].lower())
    return next((_SPLITS[word] for word in words if word in _SPLITS), default)
