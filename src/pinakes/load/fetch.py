"""A known dataset's files brought to a folder, each as it is published; what is there already stays."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pinakes.errors import FetchError
from pinakes.faults import told_as
from pinakes.load.download import Connection, Opener, digest_file, download, make_opener
from pinakes.load.sources import Source, SourceFile, find_source, list_sources
from pinakes.progress import Progress, Silent

__all__ = ["FetchSummary", "FetchedFile", "Source", "fetch", "find_source", "list_sources"]


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """What became of one file.

    Attributes:
        existing: whether it was there already, and right.
        is_vouched: whether its digest is published; else `sha256` is what came at the first fetch.
    """

    name: str
    path: Path
    size: int
    sha256: str
    existing: bool
    is_vouched: bool


@dataclass(frozen=True, slots=True)
class FetchSummary:
    """What was fetched: the dataset with its licence and loader, and its files."""

    source: Source
    folder: Path
    files: tuple[FetchedFile, ...]


def fetch(
    name: str,
    folder: Path,
    *,
    opener: Opener | None = None,
    sleep: Callable[[float], None] = time.sleep,
    progress: Progress | None = None,
    sources: Path | None = None,
) -> FetchSummary:
    """Bring the dataset's files to the folder; what was begun is gone on with, what is there is checked.

    Without an `opener`, requests go over https and by the proxies that the environment names; `sources` is
    another list of datasets than the bundled one.

    Raises:
        UnknownNameError: no such dataset.
        FetchError: a person has to get the dataset; a file cannot be fetched, or is not what is published.
    """
    source = find_source(name, sources)
    if source.manual:
        raise FetchError(
            f"{source.title} cannot be fetched by a program. {source.manual} Page: {source.page}. "
            f"Licence: {source.licence}. Then: pinakes load {source.loader} PATH"
        )
    connection = Connection(opener or make_opener(), sleep, progress or Silent())
    with told_as(FetchError, f"{folder} cannot be written"):
        files = tuple(_fetch_file(file, folder, connection) for file in source.files)
    return FetchSummary(source, folder, files)


def _fetch_file(file: SourceFile, folder: Path, connection: Connection) -> FetchedFile:
    target = folder / file.name
    kept = _read_kept(target) if file.digest is None else None
    expected = file if kept is None else replace(file, algorithm="sha256", digest=kept)
    existing = target.exists()
    if existing:
        _check_present(expected, target)
    else:
        _download_as_before(expected, target, connection, is_kept=kept is not None)
    sha256 = digest_file(target, "sha256")
    if file.digest is None and kept is None:
        _keep(target, sha256)
    return FetchedFile(
        file.name, target, target.stat().st_size, sha256, existing, is_vouched=file.digest is not None
    )


def _check_present(file: SourceFile, target: Path) -> None:
    """Refuse a file that is there and is not what would be fetched: it may be somebody's work."""
    if file.algorithm is None:
        raise FetchError(
            f"{target} is there, and neither a published digest nor {target.name}.sha256 beside it says "
            "whether it is whole. Move it away and fetch again."
        )
    found = digest_file(target, file.algorithm)
    if found != file.digest:
        raise FetchError(
            f"{target} is there, but its {file.algorithm} is {found}, expected {file.digest}. "
            "Move it away and fetch again."
        )


def _download_as_before(file: SourceFile, target: Path, connection: Connection, *, is_kept: bool) -> None:
    try:
        download(file, target, connection)
    except FetchError as error:
        if not is_kept:
            raise
        raise FetchError(
            f"{error} What was expected is what came at the first fetch; if the dataset may change, remove "
            f"{target.name}.sha256 and fetch again."
        ) from error


def _kept_path(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")


def _read_kept(target: Path) -> str | None:
    """The sha256 that came at the first fetch, as `sha256sum` writes it."""
    kept = _kept_path(target)
    if not kept.exists():
        return None
    digest = kept.read_text(encoding="utf-8", errors="replace").split(" ")[0].strip()
    if len(digest) != 64:
        raise FetchError(f"{kept} holds no sha256; expected a line as sha256sum writes it. Remove it.")
    return digest


def _keep(target: Path, sha256: str) -> None:
    written = target.with_name(f"{target.name}.sha256.part")
    written.write_text(f"{sha256}  {target.name}\n", encoding="utf-8")
    os.replace(written, _kept_path(target))
