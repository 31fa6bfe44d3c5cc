"""ROUGE of one text, equal to the packages rouge-score 0.1.2 and rouge 1.0.1 to the last digit.

rougeL of `rouge_score` is the plain longest common subsequence of all tokens; that of `rouge` is the number
of different tokens in the union of the longest common subsequences of all pairs of segments.
"""

from collections import Counter
from collections.abc import Sequence

from pinakes.indexers.rouge.formulas import ORDERS, Metric, Stat, check_measure, compute_scores
from pinakes.indexers.rouge.semantics import find_semantics, split_segments
from pinakes.indexers.rouge.subsequences import Segments, extend_row, mask_all, mask_tokens, measure_row


def score_rouge(metric: Metric, stat: Stat, semantics: str, hypothesis: str, reference: str) -> float:
    """ROUGE-1, -2 or -L, F1 or recall, from 0 to 1.

    Trap: rouge 1.0.1 raises where a text has no segment, and at a few hundred tokens without a full stop,
    where its recursion ends; here the first is 0 and the second is computed.

    >>> score_rouge("rouge2", "f", "rouge", "a b. c d", "a b c d")
    0.999999995

    Raises:
        UnknownNameError: metric, stat or semantics is none of those known.
    """
    check_measure(metric, stat)
    chosen = find_semantics(semantics)
    if metric == "rougeL" and chosen.distinct:
        counts = _count_union(split_segments(hypothesis), split_segments(reference))
    else:
        texts = chosen.tokens(hypothesis), chosen.tokens(reference)
        if metric == "rougeL":
            counts = _count_subsequence(*texts)
        elif chosen.distinct:
            counts = _count_different(*(set(list_grams(tokens, ORDERS[metric])) for tokens in texts))
        else:
            counts = _count_all(*(Counter(list_grams(tokens, ORDERS[metric])) for tokens in texts))
    return float(compute_scores(*counts, stat, distinct=chosen.distinct))


def list_grams(tokens: Sequence[str], order: int) -> list[tuple[str, ...]]:
    """All n-grams of `order` tokens, in their order.

    >>> list_grams(["a", "b", "c"], 2)
    [('a', 'b'), ('b', 'c')]
    """
    return list(zip(*(tokens[first:] for first in range(order)), strict=False))


def _count_different(
    hypothesis: set[tuple[str, ...]], reference: set[tuple[str, ...]]
) -> tuple[int, int, int]:
    return len(hypothesis & reference), len(hypothesis), len(reference)


def _count_all(
    hypothesis: Counter[tuple[str, ...]], reference: Counter[tuple[str, ...]]
) -> tuple[int, int, int]:
    return (hypothesis & reference).total(), hypothesis.total(), reference.total()


def _count_subsequence(hypothesis: Sequence[str], reference: Sequence[str]) -> tuple[int, int, int]:
    length = len(reference)
    row = extend_row((1 << length) - 1, mask_all(hypothesis, mask_tokens(reference)))
    return measure_row(row, length), len(hypothesis), length


def _count_union(hypothesis: list[list[str]], reference: list[list[str]]) -> tuple[int, int, int]:
    segments = Segments(reference)
    covered = 0
    for segment in hypothesis:
        covered |= segments.cover(segments.keep(segment))
    different = {token for segment in hypothesis for token in segment}
    return covered.bit_count(), len(different), len(segments.tokens)
