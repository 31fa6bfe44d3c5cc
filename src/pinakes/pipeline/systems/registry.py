"""Systems by name: the lexical ones, and every encoder by preset, folder or hub id."""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.presets import PRESETS
from pinakes.pipeline.systems.base import System, SystemOptions

LEXICAL: Final = {
    "bm25": "pinakes.pipeline.systems.lexical:make_bm25",
    "tfidf": "pinakes.pipeline.systems.lexical:make_tfidf",
}
DENSE: Final = "pinakes.pipeline.systems.dense:make_dense"

PRECISIONS: Final = ("auto", "fp32", "bf16")
DISTANCES: Final = ("cosine", "l2", "inner_product")


def list_systems() -> list[str]:
    """The names that `find_system` knows, besides folders and hub ids."""
    return sorted([*LEXICAL, *PRESETS])


def find_system(name: str, options: SystemOptions) -> System:
    """The system of that name: `bm25`, `tfidf`, a preset, a model's folder, or a hub id.

    Raises:
        UnknownNameError: it is none of these; the message lists the known names.
        IndexingError: the folder holds no model that can be used.
    """
    _check("precision", options.precision, PRECISIONS)
    _check("distance", options.distance, DISTANCES)
    target = LEXICAL.get(name, DENSE)
    if target == DENSE and name not in PRESETS and "/" not in name:
        raise UnknownNameError("system", name, list_systems(), "Or give a model's folder, or a hub id.")
    module, member = target.split(":")
    make: Callable[[str, SystemOptions], System] = getattr(import_module(module), member)
    return make(name, options)


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise InputError(f"unknown {what} {given!r}; expected one of {', '.join(known)}.")
