"""Other names of measures: of ir-measures, of trec_eval, and what BEIR, MTEB and ranx write; and refusals.

A name that is no family's is looked for here: as it is written, then with a cutoff taken off its end (`P_5`,
`ndcg_cut.10`, `mrr_at_10`), then in other letters (`map@100`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

OtherName = tuple[str, Mapping[str, Any]]
"""the base and the parameters that a name stands for"""

ALIASES: Final[dict[str, OtherName]] = {
    "BPref": ("Bpref", {}),
    "Hit": ("Success", {}),
    "HitRate": ("Success", {}),
    "MAP": ("AP", {}),
    "MRR": ("RR", {}),
    "NDCG": ("nDCG", {}),
    "NumRelRet": ("NumRet", {"rel": 1}),
    "Precision": ("P", {}),
    "RPrec": ("Rprec", {}),
    "Recall": ("R", {}),
    "SetRelP": ("SetP", {"relative": True}),
    "hit_rate": ("Success", {}),
    "iprec_at_recall": ("IPrec", {}),
    "map_cut": ("AP", {}),
    "ndcg_burges": ("nDCG", {"dcg": "exp-log2"}),
    "ndcg_cut": ("nDCG", {}),
    "num_q": ("NumQ", {}),
    "num_rel": ("NumRel", {}),
    "num_rel_ret": ("NumRet", {"rel": 1}),
    "num_ret": ("NumRet", {}),
    "r-precision": ("Rprec", {}),
    "recip_rank": ("RR", {}),
    "set_F": ("SetF", {}),
    "set_P": ("SetP", {}),
    "set_map": ("SetAP", {}),
    "set_recall": ("SetR", {}),
    "set_relative_P": ("SetP", {"relative": True}),
}
"""another name -> what it stands for; it takes the cutoff and the parameters of its family"""

_BY_SUBTOPIC: Final = "it needs judgments of each subtopic of a query, which benchmarks here do not have"
_GEOMETRIC: Final = "it is a geometric mean over queries, and scores here are arithmetic means"
REFUSED: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("ERR_IA", "nERR_IA", "alpha_DCG", "α_DCG", "alpha_nDCG", "α_nDCG", "NRBP", "nNRBP", "AP_IA"),
        _BY_SUBTOPIC,
    ),
    **dict.fromkeys(("MAP_IA", "P_IA", "StRecall"), _BY_SUBTOPIC),
    **dict.fromkeys(("gm_map", "gm_bpref"), _GEOMETRIC),
    "11pt_avg": "it is the mean of IPrec@0.0, IPrec@0.1 … IPrec@1.0; name these",
}
"""a measure that is known and not computed -> why"""

_CUT: Final = re.compile(r"(?P<base>.+?)(?:_at)?[_.](?P<cutoff>\d+(?:\.\d+)?)")


def find_other_name(key: str, families: Iterable[str]) -> tuple[OtherName, str | None] | None:
    """What a name stands for, with the cutoff that is part of it; None where it is no other name.

    >>> find_other_name("ndcg_cut_10", ["nDCG"])
    (('nDCG', {}), '10')
    >>> find_other_name("mrr_at_10", ["RR"]), find_other_name("p.5", ["P"])
    ((('RR', {}), '10'), (('P', {}), '5'))
    """
    known = {**{name: (name, {}) for name in families}, **ALIASES}
    in_other_letters = {name.casefold(): stands_for for name, stands_for in known.items()}
    cut = _CUT.fullmatch(key)
    candidates = [(key, None), *([(cut["base"], cut["cutoff"])] if cut else [])]
    for base, cutoff in candidates:
        found = known.get(base) or in_other_letters.get(base.casefold())
        if found is not None:
            return found, cutoff
    return None


def explain_refusal(key: str) -> str:
    """Why a measure of another package is not computed; empty where the name is not known.

    >>> explain_refusal("gm_map")
    'it is a geometric mean over queries, and scores here are arithmetic means'
    """
    return REFUSED.get(key, "")
