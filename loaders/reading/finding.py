"""The files that a source holds: by the ends of their names, by their roles, in folders and in archives.

And what names say: of a source, what its corpus is called; of a benchmark's file, its split.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from pinakes.errors import InputError, OtherContentError
from pinakes.loaders.base import FindFiles, InputFile, Options, UnreadFile
from pinakes.loaders.reading.archives import is_archive, is_hidden, list_members
from pinakes.loaders.reading.compression import COMPRESSIONS, find_compression, strip_compression

LINES: Final = (".jsonl", ".json", ".ndjson")
_SPLITS: Final = {
    "train": "train",
    "training": "train",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "dev": "dev",
    "test": "test",
}
_SUFFIXES: Final = re.compile(
    r"(?:\.(?:nxml|xml|tei|grobid|bib|zip|tar|tgz|taz|gz|zst|bz2|xz|z))+$", re.IGNORECASE
)


def name_corpus(source: Path | None, default: str) -> str:
    """A corpus's name from that of its folder, archive or document; the default without a source.

    >>> name_corpus(Path("pone.0217.nxml.gz"), "jats"), name_corpus(Path("pmc.tar.gz"), "jats")
    ('pone.0217', 'pmc')
    """
    if source is None:
        return default
    name = source.resolve().name
    return name if source.is_dir() else _SUFFIXES.sub("", name) or default


def list_files(source: Path | None, expected: str) -> list[tuple[str, Path]]:
    """The source, or the files below it in the order of their names; hidden ones are left to the load."""
    if source is None or not source.exists():
        raise InputError(f"there is no file or folder {source}; expected {expected}.")
    if source.is_file():
        return [(source.name, source)]
    named = [(path.relative_to(source).as_posix(), path) for path in source.rglob("*") if path.is_file()]
    return sorted((name, path) for name, path in named if not re.search(r"(?:^|/)[._]", name))


def list_folder(source: Path | None, expected: str) -> list[Path]:
    """The file, or the files directly in the folder, by name, without hidden and empty ones."""
    if source is None or not source.exists():
        raise InputError(f"there is no file or folder {source}; expected {expected}.")
    if not source.is_dir():
        return [source]
    found = (path for path in source.iterdir() if path.is_file() and not is_hidden(path.name))
    # An empty file that should be compressed is cut short, which is said when it is opened.
    paths = sorted(path for path in found if path.stat().st_size or find_compression(path.name))
    if not paths:
        raise InputError(f"the folder {source} is empty; expected {expected}.")
    return paths


def find_roles(
    source: Path | None, find_role: Callable[[str], str | None], expected: str, order: tuple[str, ...]
) -> list[InputFile]:
    """The source's files, each with its role, roles in the given order.

    `find_role` gets a file's name, lowered and without a compression's suffix; None passes the file over.
    """
    found = [
        InputFile(path, name, role)
        for name, path in list_files(source, expected)
        if (role := find_role(strip_compression(name.lower()))) is not None
    ]
    if not found:
        raise InputError(f"{source} holds none of the files that were expected: {expected}.")
    return sorted(found, key=lambda file: (order.index(file.role), file.name))


def take_of_format(
    files: Iterable[InputFile],
    identify: Callable[[InputFile], InputFile | None],
    found: Iterable[InputFile] = (),
) -> list[InputFile]:
    """What is found already, and what `identify` makes of each file; those of other content are told.

    Raises:
        OtherContentError: no file is of the format.
    """
    taken = list(found)
    others: list[tuple[InputFile, OtherContentError]] = []
    for file in files:
        try:
            made = identify(file)
        except OtherContentError as error:
            others.append((file, error))
        else:
            taken += [] if made is None else [made]
    if others and not taken:
        raise others[0][1]
    unread = tuple(explain_other(file, error) for file, error in others)
    return [replace(file, unread=file.unread + unread) for file in taken[:1]] + taken[1:]


def explain_other(file: InputFile, error: OtherContentError) -> UnreadFile:
    """The file as one that is not read because of its content."""
    is_empty = file.member is None and file.path is not None and file.path.stat().st_size == 0
    return UnreadFile(file.name, "empty" if is_empty else "other_content", str(error))


def find_by_name(expected: str, **roles: str) -> FindFiles:
    """A loader's `find_files`: the files whose names match the pattern of a role, in the order of the roles.

    Patterns are searched for as `find_roles` says of `find_role`.
    """

    def find_role(name: str) -> str | None:
        return next((role for role, pattern in roles.items() if re.search(pattern, name)), None)

    def find_files(source: Path | None, _options: Options) -> list[InputFile]:
        return find_roles(source, find_role, expected, tuple(roles))

    return find_files


def find_line_entries(source: Path | None, *suffixes: str, role: str) -> list[InputFile]:
    """The files with a suffix, plain or compressed, and such entries of archives, each by itself."""
    found = find_line_files(source, role=role, suffixes=suffixes)
    return [entry for file in found for entry in _split_archive(file)]


def _split_archive(file: InputFile) -> list[InputFile]:
    if not file.documents:
        return [file]
    return [
        InputFile(file.path, f"{file.name}/{name}", file.role, member=name) for name in sorted(file.documents)
    ]


def find_line_files(
    source: Path | None, *, role: str = "papers", suffixes: tuple[str, ...] = LINES
) -> list[InputFile]:
    """The files with lines below the source, in the order of their names, and archives with such entries.

    Args:
        source: a file, which is taken whatever its name; an archive; or a folder with either.
        role: the role of each.
        suffixes: how the names of a folder's or an archive's files end, before `.gz` and the like.
    """
    if source is None or not source.exists():
        raise InputError(f"there is no {source}; expected a file with JSON lines, an archive or a folder.")
    paths = [("", source)]
    if source.is_dir():
        below = (path for path in source.rglob("*") if path.is_file())
        paths = sorted((path.relative_to(source).as_posix(), path) for path in below)
    files = (InputFile(path, name or path.name, role) for name, path in paths if not is_hidden(name))
    found = take_of_format(files, partial(_take_lines, suffixes, source.is_file()))
    if not found:
        raise InputError(f"{source} has no file ending in {', '.join(suffixes)}, plain or compressed.")
    return found


def _take_lines(suffixes: tuple[str, ...], is_alone: bool, file: InputFile) -> InputFile | None:
    """The file, an archive with its entries; None where there is nothing in it to read."""
    path = file.expect_path()
    if not is_archive(path):
        return file if is_alone or is_line_file(file.name, suffixes) else None
    entries = tuple(name for name in list_members(path) if is_line_file(name, suffixes))
    return replace(file, documents=entries) if entries else None


def is_line_file(name: str, suffixes: tuple[str, ...]) -> bool:
    """Whether the name of a file is that of one with JSON lines.

    >>> is_line_file("2212/a.jsonl.gz", (".jsonl",)), is_line_file(".cache/a.jsonl", (".jsonl",))
    (True, False)
    """
    return not is_hidden(name) and PurePosixPath(name).name.endswith(
        tuple(f"{end}{packed}" for end in suffixes for packed in ("", *COMPRESSIONS))
    )


def name_split(name: str, default: str) -> str:
    """The split that a file's own name says, or else the default.

    >>> name_split("mdcr_val.json", "test"), name_split("train/meta.jsonl", "all")
    ('dev', 'all')
    """
    words = re.split(r"[^a-z]+", name.rsplit("/", 1)[-1].lower())
    return next((_SPLITS[word] for word in words if word in _SPLITS), default)
