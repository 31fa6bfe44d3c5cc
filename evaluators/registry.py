"""Which measures exist: name -> where its family stands, imported when asked for."""

from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Final

from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluators.base import Family, Measure
from pinakes.evaluators.naming import WrittenName, build_measure, read_cutoff, split_name
from pinakes.evaluators.other_names import ALIASES, explain_refusal, find_other_name

FAMILIES: Final[dict[str, str]] = {
    "AP": "pinakes.evaluators.standard:AP",
    "Accuracy": "pinakes.evaluators.further:ACCURACY",
    "BPM": "pinakes.evaluators.user_models:BPM",
    "Bpref": "pinakes.evaluators.standard:BPREF",
    "Compat": "pinakes.evaluators.compatibility:COMPAT",
    "ERR": "pinakes.evaluators.further:ERR",
    "INSQ": "pinakes.evaluators.user_models:INSQ",
    "INST": "pinakes.evaluators.user_models:INST",
    "IPrec": "pinakes.evaluators.standard:IPREC",
    "Judged": "pinakes.evaluators.further:JUDGED",
    "NERR10": "pinakes.evaluators.user_models:NERR10",
    "NERR11": "pinakes.evaluators.user_models:NERR11",
    "NERR8": "pinakes.evaluators.user_models:NERR8",
    "NERR9": "pinakes.evaluators.user_models:NERR9",
    "NumQ": "pinakes.evaluators.further:NUM_Q",
    "NumRel": "pinakes.evaluators.standard:NUM_REL",
    "NumRet": "pinakes.evaluators.standard:NUM_RET",
    "P": "pinakes.evaluators.standard:P",
    "R": "pinakes.evaluators.standard:R",
    "RBP": "pinakes.evaluators.user_models:RBP",
    "RR": "pinakes.evaluators.standard:RR",
    "Rprec": "pinakes.evaluators.standard:RPREC",
    "SDCG": "pinakes.evaluators.user_models:SDCG",
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
    Raises `UnknownNameError` for an unknown base, `EvaluationError` for parameters that it does not take, and
    for a measure that is known and not computed here.

    >>> parse_measure("NumRelRet").name
    'NumRet(rel=1)'
    >>> parse_measure("P(judged_only=False, rel=2)@20").name
    'P(rel=2)@20'
    >>> parse_measure("ndcg_cut_10").name
    'nDCG@10'
    """
    written = split_name(name)
    if written.key in FAMILIES:
        return build_measure(find_family(written.key), written.parameters, written.cutoff)
    return _parse_other(written)


def _parse_other(written: WrittenName) -> Measure:
    found = find_other_name(written.key, FAMILIES)
    if found is None:
        reason = explain_refusal(written.key)
        if reason:
            raise EvaluationError(f"measure {written.key} is not computed here: {reason}.")
        raise UnknownNameError("measure", written.key, [*FAMILIES, *ALIASES])
    (key, implied), part_of_name = found
    if part_of_name is not None and written.cutoff is not None:
        raise EvaluationError(f"{written.key!r} has a cutoff already; leave out @{written.cutoff}")
    cutoff = written.cutoff if part_of_name is None else read_cutoff(part_of_name)
    return build_measure(find_family(key), {**implied, **written.parameters}, cutoff)


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
