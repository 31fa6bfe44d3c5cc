"""What the environment says: one frozen record, read when asked for, never at import."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_DATABASE_URL = "duckdb:///pinakes.duckdb"


@dataclass(frozen=True)
class Settings:
    """The settings of one process.

    Attributes:
        database_url: a SQLAlchemy URL or a DuckDB file's path (`PINAKES_DATABASE_URL`); not checked here.
        index_folder: where side indexes lie (`PINAKES_INDEX_FOLDER`); None: beside a DuckDB file.
        shared_folder: where the machines of a cluster find what they share, a path or an address
            (`PINAKES_SHARED_FOLDER`); None: in the index folder.
        benchmark_folders: folders of benchmarks besides the bundled ones (`PINAKES_BENCHMARKS`,
            separated by the system's path separator).
        memory: how much a command may take (`PINAKES_MEMORY`); not checked here (`memory.read_memory` does).
        log: how what is said stands on stderr (`PINAKES_LOG`); not checked here (`--log` does).
    """

    database_url: str = DEFAULT_DATABASE_URL
    index_folder: Path | None = None
    shared_folder: str | None = None
    benchmark_folders: tuple[Path, ...] = ()
    memory: str | None = None
    log: str = "off"


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings that the environment gives, with defaults for the rest.

    >>> read_settings({}).database_url
    'duckdb:///pinakes.duckdb'
    >>> read_settings({"PINAKES_BENCHMARKS": "/a" + os.pathsep + "/b"}).benchmark_folders[1].name
    'b'
    """
    given = os.environ if environment is None else environment
    index_folder = given.get("PINAKES_INDEX_FOLDER")
    folders = given.get("PINAKES_BENCHMARKS", "")
    return Settings(
        database_url=given.get("PINAKES_DATABASE_URL", DEFAULT_DATABASE_URL),
        index_folder=Path(index_folder) if index_folder else None,
        shared_folder=given.get("PINAKES_SHARED_FOLDER") or None,
        benchmark_folders=tuple(Path(part) for part in folders.split(os.pathsep) if part),
        memory=given.get("PINAKES_MEMORY") or None,
        log=given.get("PINAKES_LOG") or "off",
    )
