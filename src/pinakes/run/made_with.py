"""What a run is computed with: versions of Python, libraries and database, operating system and processor."""

import os
import platform
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import orjson

from pinakes.database import Session
from pinakes.systems.base import SystemOptions

LIBRARIES: Final[Mapping[str, str]] = {
    "duckdb": "duckdb",
    "faiss": "faiss-cpu",
    "gensim": "gensim",
    "nltk": "nltk",
    "numba": "numba",
    "numpy": "numpy",
    "ot": "POT",
    "pgvector": "pgvector",
    "psycopg": "psycopg",
    "pyarrow": "pyarrow",
    "rouge_score": "rouge-score",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "sqlalchemy": "SQLAlchemy",
    "tantivy": "tantivy",
    "textblob": "textblob",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "transformers": "transformers",
}
"""package as it is imported -> distribution: those whose version can decide an answer"""
HEADER: Final = "ir_metadata"
"""the key of `runs.made_with` that has the header of an imported file, a line a line"""


def describe_request(system: str, options: SystemOptions | None) -> dict[str, Any]:
    """What a user asked of a run: the system as it was typed, and the options that were given."""
    if options is None:
        return {"system": system}
    given = {
        "distance": options.distance,
        "format": options.format,
        "options": dict(options.parameters),
    }
    return {"system": system, **{name: value for name, value in given.items() if value}}


def describe_made_with(session: Session, asked: Mapping[str, Any]) -> str:
    """`runs.made_with` of a run that was computed now: the libraries are those that are loaded."""
    return orjson.dumps(
        {
            "asked": asked,
            "python": platform.python_version(),
            "libraries": list_loaded(),
            "database": str(session.scalar("SELECT version()")),
            **describe_machine(),
        },
        option=orjson.OPT_SORT_KEYS,
    ).decode()


def describe_machine() -> dict[str, Any]:
    """The operating system, the processor, its cores and the memory in GiB; no name of the machine."""
    return {
        "system": platform.platform(),
        "distribution": _read_distribution(),
        "processor": _read_processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3, 1),
    }


def list_libraries(loaded: Iterable[str]) -> dict[str, str]:
    """Distribution -> version of those of `LIBRARIES` that are among the names of loaded modules.

    >>> list(list_libraries(["numpy", "json"]))
    ['numpy']
    """
    names = set(loaded)
    found = {}
    for module, distribution in LIBRARIES.items():
        if module in names:
            try:
                found[distribution] = version(distribution)
            except PackageNotFoundError:  # as faiss-gpu gives the module faiss
                found[distribution] = str(getattr(sys.modules[module], "__version__", "unknown"))
    return found


def list_loaded() -> dict[str, str]:
    """Distribution -> version of those of `LIBRARIES` that are loaded now."""
    return list_libraries(sys.modules)


def read_made_with(stored: str | None) -> dict[str, Any]:
    """`runs.made_with` as an object; empty where nothing is recorded."""
    found: dict[str, Any] = {} if stored is None else orjson.loads(stored)
    return found


def _read_distribution() -> str:
    try:
        return str(platform.freedesktop_os_release()["PRETTY_NAME"])
    except (OSError, KeyError):
        return platform.system()


def _read_processor() -> str:
    """The processor's name as Linux has it, else as Python knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
