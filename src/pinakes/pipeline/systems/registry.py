"""Systems by name: the lexical ones, every encoder by preset, folder or hub id, and combinations of these."""

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
COMBINED: Final = {
    "mean": "pinakes.pipeline.systems.dense:make_ensemble",
    "rrf": "pinakes.pipeline.systems.fusion:make_fusion",
    "sum": "pinakes.pipeline.systems.fusion:make_fusion",
}
"""what stands before the colon of a name such as rrf:bm25,minilm"""

PRECISIONS: Final = ("auto", "fp32", "bf16", "fp16")
DISTANCES: Final = ("cosine", "l2", "inner_product")


def list_systems() -> list[str]:
    """The names that `find_system` knows, besides folders and hub ids."""
    combined = [f"{kind}:SYSTEM,SYSTEM" for kind in COMBINED]
    return sorted([*LEXICAL, *PRESETS, *combined])


def find_system(name: str, options: SystemOptions) -> System:
    """The system of that name: a lexical one, a preset, a model's folder, a hub id, or a combination.

    Raises:
        UnknownNameError: it is none of these; the message lists the known names.
        IndexingError: the folder holds no model that can be used.
    """
    _check("precision", options.precision, PRECISIONS)
    _check("distance", options.distance or DISTANCES[0], DISTANCES)
    kind, colon, _ = name.partition(":")
    target = COMBINED.get(kind) if colon else LEXICAL.get(name)
    target = target or DENSE
    if target == DENSE and name not in PRESETS and "/" not in name:
        raise UnknownNameError("system", name, list_systems(), "Or give a model's folder, or a hub id.")
    module, member = target.split(":")
    make: Callable[[str, SystemOptions], System] = getattr(import_module(module), member)
    return make(name, options)


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise InputError(f"unknown {what} {given!r}; expected one of {', '.join(known)}.")
