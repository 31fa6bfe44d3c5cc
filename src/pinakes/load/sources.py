"""The datasets that `pinakes fetch` knows, as `loaders/sources.toml` lists them."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

import pinakes.loaders
from pinakes.errors import FetchError, UnknownNameError

_DIGEST_LENGTHS: Final = {"sha256": 64, "md5": 32}
_NAME: Final = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_+.-]*(?:/[A-Za-z0-9_+][A-Za-z0-9_+.-]*)*")
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a dataset.

    Attributes:
        name: what it is called below the folder that it is fetched to.
        size: in bytes, where it is published.
        algorithm: `sha256` or `md5`; None where nobody publishes a digest.
        digest: in hex.
    """

    name: str
    url: str
    size: int | None = None
    algorithm: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset: what it is, under which licence, which loader reads it, and its files.

    `manual` says how a person gets it, where a program cannot.
    """

    name: str
    title: str
    licence: str
    page: str
    loader: str
    files: tuple[SourceFile, ...] = ()
    manual: str | None = None


def list_sources(path: Path | None = None) -> list[Source]:
    """The known datasets, by name, or those of another list; `FetchError` where it is no such list."""
    listed = path or Path(pinakes.loaders.__file__).parent / "sources.toml"
    try:
        tables = tomllib.loads(listed.read_text(encoding="utf-8"))
        return [_read_source(name, tables[name]) for name in sorted(tables)]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise FetchError(f"{listed.name} is not a list of datasets: {error}.") from error


def find_source(name: str, path: Path | None = None) -> Source:
    """The dataset of that name; `UnknownNameError` lists the known ones."""
    known = {source.name: source for source in list_sources(path)}
    if name not in known:
        raise UnknownNameError("dataset", name, list(known))
    return known[name]


def _read_source(name: str, table: Mapping[str, Any]) -> Source:
    texts = {key: str(table[key]) for key in ("title", "licence", "page", "loader")}
    files = tuple(_read_file(entry) for entry in table.get("files", ()))
    manual = table.get("manual")
    if bool(files) == bool(manual):
        raise ValueError(f"{name} has to have either files or manual")
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        raise ValueError(f"{name} names a file twice")
    return Source(name, **texts, files=files, manual=manual)


def _read_file(entry: Mapping[str, Any]) -> SourceFile:
    name, url = str(entry["name"]), str(entry["url"])
    if not _NAME.fullmatch(name) or ".." in PurePosixPath(name).parts:
        raise ValueError(f"{name!r} is no name of a file below a folder")
    check_url(url)
    found = [algorithm for algorithm in _DIGEST_LENGTHS if algorithm in entry]
    if len(found) + ("checksum" in entry) != 1 or entry.get("checksum", "unpublished") != "unpublished":
        raise ValueError(f'{name} has to have a sha256, an md5 or checksum = "unpublished"')
    if not found:
        return SourceFile(name, url, entry.get("size"))
    digest = str(entry[found[0]])
    if not re.fullmatch(rf"[0-9a-f]{{{_DIGEST_LENGTHS[found[0]]}}}", digest):
        raise ValueError(f"the {found[0]} of {name} is no digest in hex")
    return SourceFile(name, url, int(entry["size"]), found[0], digest)


def check_url(url: str) -> None:
    """Raise `ValueError` for what is not https; http is good enough for this machine alone."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOCAL):
        raise ValueError(f"{url} is not an https address")
