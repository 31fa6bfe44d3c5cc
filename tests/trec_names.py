"""trec_eval's names of measures and ours.

Leaves out what pytrec_eval or ir-measures does not give: 11pt_avg, G, binG, gm_bpref, gm_map, ndcg_rel,
Rndcg, Rprec_mult, rbp, relative_P, relstring, runid, unj, utility, num_nonrel_judged_ret; and num_q,
which is the number of owed queries.
"""

import re
from typing import Final

from pinakes.errors import UnknownNameError

TREC_NAMES: Final[dict[str, str]] = {
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "infAP": "infAP",
    "map": "AP",
    "ndcg": "nDCG",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRet(rel=1)",
    "num_ret": "NumRet",
    "recip_rank": "RR",
    "set_F": "SetF",
    "set_P": "SetP",
    "set_map": "SetAP",
    "set_recall": "SetR",
    "set_relative_P": "SetP(relative=True)",
    "P_*": "P@{}",
    "iprec_at_recall_*": "IPrec@{}",
    "map_cut_*": "AP@{}",
    "ndcg_cut_*": "nDCG@{}",
    "recall_*": "R@{}",
    "success_*": "Success@{}",
}
"""trec_eval's name, * for its cutoff -> ours, {} for the same cutoff"""


def translate_trec_name(name: str) -> str:
    """Our name of a measure of trec_eval; `UnknownNameError` where we do not have it.

    >>> [translate_trec_name(name) for name in ("map", "ndcg_cut_10", "iprec_at_recall_0.10")]
    ['AP', 'nDCG@10', 'IPrec@0.1']
    """
    if name in TREC_NAMES and not name.endswith("*"):
        return TREC_NAMES[name]
    match = re.fullmatch(r"(?P<base>.+_)(?P<cutoff>\d+|\d\.\d+)", name)
    if match is None or f"{match['base']}*" not in TREC_NAMES:
        raise UnknownNameError("measure of trec_eval", name, list(TREC_NAMES))
    cutoff = match["cutoff"]
    return TREC_NAMES[f"{match['base']}*"].format(float(cutoff) if "." in cutoff else int(cutoff))
