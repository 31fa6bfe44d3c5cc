"""What the scores of alternative-self retrieval are called, and how their values are printed."""

from typing import Final

CATEGORIES: Final = ("LL-HS", "LO-HS", "LL-PS", "LO-PS", "LO-DS")
"""as Table 5 of the paper orders them: the most alike first"""
OWN: Final = "own"
"""the category of a user's own codes"""
READINGS: Final = ("all", "without_own", "without_pair")
"""which candidates an overlap counts; reports lead with the first, the paper's set as it is written"""
READING: Final = READINGS[0]
ORIGINAL: Final = "T_A"
TITLE: Final = "T"
ROBUSTNESS: Final = "robustness"
_SHARES: Final = ("MRR", ROBUSTNESS)
"""measures that papers print as a share; the others are printed per cent"""

CATEGORY_WORDS: Final = {
    "LL-HS": "lossless, highly similar",
    "LO-HS": "lossy, highly similar",
    "LL-PS": "lossless, partially similar",
    "LO-PS": "lossy, partially similar",
    "LO-DS": "lossy, dissimilar",
    OWN: "your own",
}


def name_overlap(k: int, reading: str = READING) -> str:
    """The measure of the overlap of the k nearest.

    >>> name_overlap(10), name_overlap(20, "without_pair")
    ('AOP@10[all]', 'AOP@20[without_pair]')
    """
    return f"AOP@{k}[{reading}]"


def split_published(subset: str) -> tuple[str, str]:
    """The corpus and the subset of scores that a published figure is of; no corpus: all of the paper's.

    >>> split_published("ICLR/category=LO-HS"), split_published("ACL-ANTH/task=I/vectors=l2")
    (('ICLR', 'category=LO-HS'), ('ACL-ANTH', 'task=I/vectors=l2'))
    >>> split_published("category=LL-HS"), split_published("all/category=LL-HS")
    (('', 'category=LL-HS'), ('', 'category=LL-HS'))
    """
    corpus, _, rest = subset.partition("/")
    if "=" in corpus or not rest:
        return "", subset
    return ("" if corpus == "all" else corpus), rest


def format_quantity(measure: str, value: float) -> str:
    """A value as the paper prints its kind: three decimals, or per cent with one.

    >>> format_quantity("MRR", 0.59649), format_quantity("T100", 0.90449), format_quantity("AOP@10[all]", 1)
    ('0.596', '90.4', '100.0')
    """
    if measure in _SHARES:
        return f"{value:.3f}"
    return f"{100 * value:.1f}"
