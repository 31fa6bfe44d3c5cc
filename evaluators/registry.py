"""Which measures exist: name -> where its family stands, imported when asked for."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluators.base import Family, Measure
from pinakes.evaluators.naming import build_measure, split_name

FAMILIES: Final[dict[str, str]] = {
    "AP": "pinakes.evaluators.standard:AP",
    "Bpref": "pinakes.evaluators.standard:BPREF",
    "IPrec": "pinakes.evaluators.standard:IPREC",
    "NumRel": "pinakes.evaluators.standard:NUM_REL",
    "NumRet": "pinakes.evaluators.standard:NUM_RET",
    "P": "pinakes.evaluators.standard:P",
    "R": "pinakes.evaluators.standard:R",
    "RR": "pinakes.evaluators.standard:RR",
    "Rprec": "pinakes.evaluators.standard:RPREC",
    "SetAP": "pinakes.evaluators.standard:SET_AP",
    "SetF": "pinakes.evaluators.standard:SET_F",
    "SetP": "pinakes.evaluators.standard:SET_P",
    "SetR": "pinakes.evaluators.standard:SET_R",
    "Success": "pinakes.evaluators.standard:SUCCESS",
    "infAP": "pinakes.evaluators.standard:INF_AP",
    "nDCG": "pinakes.evaluators.standard:NDCG",
    "nDCG%": "pinakes.evaluators.given_order:NDCG_SHARE",
    "CSFCube.AP": "pinakes.evaluators.csfcube:AP",
    "CSFCube.F1": "pinakes.evaluators.csfcube:F1",
    "CSFCube.P": "pinakes.evaluators.csfcube:P",
    "CSFCube.R": "pinakes.evaluators.csfcube:R",
    "CSFCube.RP": "pinakes.evaluators.csfcube:RP",
    "CSFCube.RR": "pinakes.evaluators.csfcube:RR",
    "CSFCube.nDCG": "pinakes.evaluators.csfcube:NDCG",
    "CSFCube.nDCG%": "pinakes.evaluators.csfcube:NDCG_SHARE",
}
"""base name, with % where the cutoff is a share of the pool -> "module:object" of a `Family`"""

ALIASES: Final[dict[str, tuple[str, Mapping[str, Any]]]] = {
    "MAP": ("AP", {}),
    "MRR": ("RR", {}),
    "NDCG": ("nDCG", {}),
    "NumRelRet": ("NumRet", {"rel": 1}),
    "Precision": ("P", {}),
    "RPrec": ("Rprec", {}),
    "Recall": ("R", {}),
    "SetRelP": ("SetP", {"relative": True}),
}
"""another name of ir-measures -> the base and the parameters that it stands for"""


def find_family(key: str) -> Family:
    """The family of a base name; `UnknownNameError` lists the known ones."""
    if key not in FAMILIES:
        raise UnknownNameError("measure", key, [*FAMILIES, *ALIASES])
    module, _, name = FAMILIES[key].partition(":")
    family: Family = getattr(import_module(module), name)
    return family


def parse_measure(name: str) -> Measure:
    """The measure that a name stands for.

    Scores and reports carry the canonical name, so that two spellings of one measure are one.
    Raises `UnknownNameError` for an unknown base, `EvaluationError` for parameters that it does not take.

    >>> parse_measure("NumRelRet").name
    'NumRet(rel=1)'
    >>> parse_measure("P(judged_only=False, rel=2)@20").name
    'P(rel=2)@20'
    """
    written = split_name(name)
    key, implied = ALIASES.get(written.key, (written.key, {}))
    return build_measure(find_family(key), {**implied, **written.parameters}, written.cutoff)


def parse_measures(names: Iterable[str]) -> list[Measure]:
    """The measures that names stand for, each once, in their order; errors as of `parse_measure`."""
    return list({measure.name: measure for measure in map(parse_measure, names)}.values())


@lru_cache(maxsize=512)
def is_count(name: str) -> bool:
    """Whether the queries of a measure add up instead of being averaged; another task's measure does not.

    >>> is_count("NumRet"), is_count("AP"), is_count("Accuracy")
    (True, False, False)
    """
    try:
        return parse_measure(name).family.is_count
    except (EvaluationError, UnknownNameError):
        return False
