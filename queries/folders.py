"""The folders of benchmarks and suites: where they are, what may name them, and their files."""

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from pinakes.errors import BenchmarkError
from pinakes.queries.tasks import TaskViews

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,48}")
_RESERVED: Final = frozenset(
    {"information_schema", "main", "memory", "public", "system", "temp", "templates"}
)


def find_folders(file: str, folders: Sequence[Path]) -> dict[str, Any]:
    """The bundled folders and those in the given ones that have that file, by name.

    A given folder that is not there holds none: `tell_missing` says so where a name is not found.
    """
    found: dict[str, Any] = {}
    for parent in (files("pinakes.queries"), *folders):
        for folder in parent.iterdir() if parent.is_dir() else ():
            if folder.joinpath(file).is_file():
                _check_name(folder.name)
                found[folder.name] = folder
    return found


def tell_missing(folders: Sequence[Path]) -> str:
    """Which of the given folders are not there, in words; empty where all are."""
    missing = [folder for folder in folders if not folder.is_dir()]
    said = [f"{folder.absolute()} is {'a file' if folder.exists() else 'not there'}" for folder in missing]
    return f"of the folders that PINAKES_BENCHMARKS names, {'; '.join(said)}." if missing else ""


def hint_folders(folders: Sequence[Path]) -> str:
    """Where more benchmarks are looked for, and which of these folders are not there."""
    missing = tell_missing(folders)
    return f"More folders: PINAKES_BENCHMARKS{'; ' + missing if missing else '.'}"


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name in _RESERVED or name.startswith("pg_"):
        raise BenchmarkError(
            f"{name!r} cannot name a benchmark: it becomes a schema of the database. Expected a lower-case "
            f"letter, then letters, digits or underscores, and none of {', '.join(sorted(_RESERVED))}."
        )


def list_own_views(folder: Any, task: TaskViews) -> list[str]:
    """The SQL files of the folder `views`, as paths within the benchmark's folder."""
    views = folder.joinpath("views")
    if not views.is_dir():
        return []
    names = sorted(entry.name for entry in views.iterdir() if entry.name.endswith(".sql"))
    for name in names:
        stem = name.removesuffix(".sql")
        if not _NAME.fullmatch(stem) or stem in task.views:
            raise BenchmarkError(
                f"{folder.name}/views/{name} cannot name a view: expected a lower-case letter, then letters, "
                f"digits or underscores, and none of {', '.join(task.views)}."
            )
    return [f"views/{name}" for name in names]


def read_file(folder: Any, name: str) -> str:
    """The text of a folder's file; `BenchmarkError` where there is none, or it is not UTF-8."""
    try:
        text: str = folder.joinpath(*name.split("/")).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise BenchmarkError(f"the benchmark {folder.name} has no {name}.") from error
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{folder.name}/{name} is not UTF-8 (byte {error.start}).") from error
    return text
