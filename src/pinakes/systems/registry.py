"""Systems by name: lexical and trained ones, encoders by preset, folder or hub id, and combinations of these.

A named baseline is one of the first two with fixed options (`named`).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.encoder.presets import PRESETS, find_preset
from pinakes.systems.base import System, SystemOptions
from pinakes.systems.named import NAMED

LEXICAL: Final = {
    "bm25": "pinakes.systems.lexical:make_bm25",
    "sparse_bm25": "pinakes.systems.sparse:make_sparse_bm25",
    "tfidf": "pinakes.systems.lexical:make_tfidf",
}
TRAINED: Final = {
    "word2vec": "pinakes.systems.word2vec:make_word2vec",
}
DENSE: Final = "pinakes.systems.dense:make_dense"
COMBINED: Final = {
    "mean": "pinakes.systems.dense:make_ensemble",
    "rrf": "pinakes.systems.fusion:make_fusion",
    "sentences": "pinakes.systems.sentences:make_sentences",
    "sum": "pinakes.systems.fusion:make_fusion",
    "transport": "pinakes.systems.transport:make_transport",
}
"""what stands before the colon of a name such as rrf:bm25,minilm"""
SENTENCES: Final = "sentences"
TRANSPORT: Final = "transport"

PRECISIONS: Final = ("auto", "fp32", "bf16", "fp16")
DISTANCES: Final = ("cosine", "l2", "inner_product")


def list_systems() -> list[str]:
    """The names that `find_system` knows, besides folders and hub ids."""
    combined = [
        f"{kind}:SYSTEM" if kind in (SENTENCES, TRANSPORT) else f"{kind}:SYSTEM,SYSTEM" for kind in COMBINED
    ]
    return sorted([*LEXICAL, *TRAINED, *NAMED, *PRESETS, *combined])


def is_lexical(name: str) -> bool:
    """Whether a system, or the one that a named baseline is, compares terms.

    >>> is_lexical("bm25"), is_lexical("fabs_tfidf"), is_lexical("fabs_cbow200"), is_lexical("minilm")
    (True, True, False, False)
    """
    return (NAMED[name].system if name in NAMED else name) in LEXICAL


def expand_name(name: str) -> str:
    """What a system is called in its runs: a preset that was published for sentences compares sentences.

    >>> expand_name("simcse_sup"), expand_name("ot_aspire_cs"), expand_name("minilm")
    ('sentences:simcse_sup', 'transport:ot_aspire_cs', 'minilm')
    """
    preset = find_preset(name)
    if preset is None or not preset.sentence_level:
        return name
    return f"{TRANSPORT if preset.transport else SENTENCES}:{name}"


def find_system(name: str, options: SystemOptions) -> System:
    """The system of that name: a lexical one, a baseline, a preset, a folder, a hub id, or a combination.

    A preset that was published for sentences is one that compares sentences, by transport where it says so.

    Raises:
        UnknownNameError: it is none of these; the message lists the known names.
        IndexingError: the folder holds no model that can be used.
        InputError: an option cannot be what it is.
    """
    _check("precision", options.precision, PRECISIONS)
    _check("distance", options.distance or DISTANCES[0], DISTANCES)
    preset, name = find_preset(name), expand_name(name)
    kind, colon, _ = name.partition(":")
    if name in NAMED:
        kind, options = NAMED[name].system, NAMED[name].fix(name, options)
    known = COMBINED if colon else {**LEXICAL, **TRAINED}
    target = known.get(kind, DENSE)
    if target == DENSE and preset is None and "/" not in name:
        raise UnknownNameError("system", name, list_systems(), "Or give a model's folder, or a hub id.")
    module, member = target.split(":")
    make: Callable[[str, SystemOptions], System] = getattr(import_module(module), member)
    return make(name, options)


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise InputError(f"unknown {what} {given!r}; expected one of {', '.join(known)}.")
