"""The package ir_datasets, imported when a dataset is asked for; what it raises, in words."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from pinakes.errors import InputError, LoadError

NEAR: Final = 5
_FAILURES: Final = (OSError, RuntimeError, ImportError, ValueError, LookupError, AttributeError, TypeError)
"""what the package raises where it cannot download, open or parse; requests' errors are of OSError"""


def _import_package() -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise InputError(
            f"the package ir_datasets is not here ({error}); bring it with `pip install 'pinakes[ir]'`."
        ) from error
    return ir_datasets


def read_version() -> str:
    """Which ir_datasets it is."""
    _import_package()
    return f"ir_datasets {version('ir_datasets')}"


def open_dataset(name: str) -> Any:
    """The dataset of that name.

    Raises `InputError` where the package is not installed, or has no such dataset: it names near ones.
    """
    package = _import_package()
    try:
        return package.load(name)
    except KeyError as error:
        near = get_close_matches(name, list(package.registry), NEAR, cutoff=0.5)
        meant = f"; near: {', '.join(near)}" if near else ""
        raise InputError(
            f"{read_version()} has no dataset {name!r}{meant}. `ir_datasets list` names them all."
        ) from error


@lru_cache(maxsize=64)
def find_parent(name: str) -> str:
    """The dataset that the documents are of: `beir/scifact` of `beir/scifact/test`; without any, itself."""
    return str(_import_package().docs_parent_id(name)) if "docs" in list_entities(name) else name


def list_entities(name: str) -> list[str]:
    """What a dataset holds, in the package's words: docs, queries, qrels, scoreddocs, docpairs, qlogs."""
    dataset = open_dataset(name)
    return [kind.value for kind in _import_package().EntityType if dataset.has(kind)]


def read_metadata(name: str, entity: str) -> Mapping[str, Any]:
    """What the package publishes of it, such as its `count`; empty for a dataset of a user's own."""
    found: Mapping[str, Any] = getattr(open_dataset(name), f"{entity}_metadata")()
    return found


def iterate(name: str, entity: str) -> Iterator[Any]:
    """The things of one kind that a dataset holds, downloaded first where they are not on this machine.

    Raises `LoadError` where the package cannot bring or read them; those before are given.
    """
    dataset = open_dataset(name)
    with _explain(name, entity):
        yield from getattr(dataset, f"{entity}_iter")()


@contextmanager
def _explain(name: str, entity: str) -> Iterator[None]:
    try:
        yield
    except _FAILURES as error:
        said = str(error.args[0] if error.args else error)[:500]
        home = os.environ.get("IR_DATASETS_HOME") or Path.home() / ".ir_datasets"
        raise LoadError(
            f"ir_datasets cannot give the {entity} of {name}: {type(error).__name__}: {said}. It "
            f"downloads what it lacks into {home}; where this machine has no network, bring that folder "
            "here, and start the load again."
        ) from error
