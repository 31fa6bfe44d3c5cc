"""The files of S2AND's datasets, and those that are read together with a dataset's signatures."""

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile, Options
from pinakes.loaders.reading.finding import find_by_name
from pinakes.loaders.reading.streams import digest_files, find_file

_find_parts: Final = find_by_name(
    "signatures.json, clusters.json and papers.json",
    papers=r"papers\.json$",
    authorships=r"signatures\.json$",
)


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """The papers, then the signatures, below the source."""
    return [_digest_with_siblings(file) for file in _find_parts(source, options)]


def _digest_with_siblings(file: InputFile) -> InputFile:
    if file.role == "papers":
        return file
    parts = (file, find_sibling(file, "clusters"), find_sibling(file, "papers"), find_splits(file))
    paths = [part.path for part in parts if part is not None and part.path is not None]
    return replace(file, digest=digest_files(*paths), beside=tuple(paths[1:]))


def find_sibling(file: InputFile, kind: str) -> InputFile | None:
    """The dataset's file of another kind; None where it is not published."""
    return _find_beside(file, f"{_find_prefix(file)}{kind}.json")


def find_splits(file: InputFile) -> InputFile | None:
    """The file that says which blocks of the dataset are for what; None where it is not published."""
    name = f"block_sigs_{name_dataset(file) or file.expect_path().parent.name}.json"
    return _find_beside(file, name) or _find_beside(file, name, "..", "blocks")


def _find_beside(file: InputFile, name: str, *folders: str) -> InputFile | None:
    try:
        path = find_file(file.expect_path().parent.joinpath(*folders), name)
    except InputError:
        return None
    return InputFile(path, path.name, name)


def _find_prefix(file: InputFile) -> str:
    """What the name of a dataset's files begins with, as `aminer_`; empty where it is nothing."""
    own = file.expect_path().name
    return own[: own.lower().rindex("signatures")]


def name_dataset(file: InputFile) -> str:
    """The dataset: its folder within the source, or what its files' names begin with, or nothing."""
    return PurePosixPath(file.name).parent.name or _find_prefix(file).rstrip("_.-")
