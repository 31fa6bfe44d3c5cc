"""The measures of trec_eval: over arrays where there is a kernel, else by trec_eval's own code.

Order is trec_eval's (versions 9): scores as 32-bit floats, descending; equal scores by the paper's id,
byte-wise descending; the order in which the ranking is given plays no part. A paper without a judgment
counts as not relevant, except where `judged_only=True` removes it. `IPrec` takes the recall level's
number of papers as int(level * relevant + 0.9), where version 10 rounds.

Traps: the `beta` of `SetF` is trec_eval's, (beta + 1) P R / (R + beta P), where the textbook squares it.
`judged_only` removes papers of a grade below 0 too, which trec_eval's code reads as not judged.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pinakes.evaluators.array_measures import KERNELS, Kernel, exponential_gain
from pinakes.evaluators.base import Evaluated, Family, Floats, Measure
from pinakes.evaluators.judged_ranks import keep_judged

_LEVEL: Final[dict[str, Any]] = {"rel": 1}
_JUDGED: Final[dict[str, Any]] = {"judged_only": False}
_OWN: Final = frozenset({"rel", "judged_only", "dcg"})
"""parameters that kernels know"""


def find_kernel(measure: Measure) -> Kernel | None:
    """What computes a measure of trec_eval over arrays; None where its parameters need trec_eval's own code.

    >>> from pinakes.evaluators.registry import parse_measure
    >>> [find_kernel(parse_measure(name)) is None for name in ("AP(rel=2)", "nDCG(gains={1:2})", "infAP")]
    [False, True, True]
    """
    if not measure.parameters.keys() <= _OWN:
        return None
    return exponential_gain if "dcg" in measure.parameters else KERNELS.get(measure.family.base)


def score_queries(measures: Sequence[Measure], evaluated: Evaluated) -> Mapping[str, Floats]:
    """Measure name -> the value of each judged query."""
    values: dict[str, Floats] = {}
    others = []
    for measure in measures:
        kernel = find_kernel(measure)
        if kernel is None:
            others.append(measure)
        else:
            is_cut = "judged_only" in measure.parameters
            ranks = keep_judged(evaluated.ranks) if is_cut else evaluated.ranks
            values[measure.name] = kernel(ranks, measure.parameters.get("rel", 1), measure.rank_cutoff)
    if others:
        # imported where it is needed: most benchmarks name no such measure, and it takes 0.1 s
        from pinakes.evaluators.trec_eval import compute_by_trec_eval

        values |= compute_by_trec_eval(others, evaluated)
    return values


def _find_two_gains(parameters: Mapping[str, Any]) -> str:
    both = parameters["gains"] is not None and parameters["dcg"] != "log2"
    return "gains and dcg='exp-log2' both say what a grade gains; give one" if both else ""


AP: Final = Family("AP", score_queries, "optional_rank", _LEVEL | _JUDGED)
BPREF: Final = Family("Bpref", score_queries, parameters=_LEVEL)
INF_AP: Final = Family("infAP", score_queries, parameters=_LEVEL)
IPREC: Final = Family("IPrec", score_queries, "recall", _LEVEL | _JUDGED)
NDCG: Final = Family(
    "nDCG",
    score_queries,
    "optional_rank",
    {"gains": None, "dcg": "log2"} | _JUDGED,
    find_conflict=_find_two_gains,
)
NUM_REL: Final = Family("NumRel", score_queries, parameters=_LEVEL, is_count=True)
NUM_RET: Final = Family("NumRet", score_queries, parameters={"rel": None}, is_count=True)
P: Final = Family("P", score_queries, "rank", _LEVEL | _JUDGED)
R: Final = Family("R", score_queries, "rank", _LEVEL | _JUDGED)
RPREC: Final = Family("Rprec", score_queries, parameters=_LEVEL | _JUDGED)
RR: Final = Family("RR", score_queries, "optional_rank", _LEVEL | _JUDGED)
SET_AP: Final = Family("SetAP", score_queries, parameters=_LEVEL | _JUDGED)
SET_F: Final = Family("SetF", score_queries, parameters=_LEVEL | _JUDGED | {"beta": 1.0})
SET_P: Final = Family("SetP", score_queries, parameters=_LEVEL | _JUDGED | {"relative": False})
SET_R: Final = Family("SetR", score_queries, parameters=_LEVEL)
SUCCESS: Final = Family("Success", score_queries, "rank", _LEVEL | _JUDGED)
