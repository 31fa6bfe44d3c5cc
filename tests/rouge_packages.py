"""ROUGE by the packages themselves, and the loop that scores whole summaries with them: references for tests."""

import functools
from collections.abc import Callable, Sequence

from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

from pinakes.indexers.rouge.greedy import Augmentation, GreedySettings

PIP_NAMES = {"rouge1": "rouge-1", "rouge2": "rouge-2", "rougeL": "rouge-l"}


@functools.cache
def _make_scorer(metric: str, stemmed: bool) -> RougeScorer:
    return RougeScorer([metric], use_stemmer=stemmed)


@functools.cache
def _make_rouge(metric: str) -> Rouge:
    return Rouge(metrics=[PIP_NAMES[metric]])


def score_with_package(metric: str, stat: str, semantics: str, hypothesis: str, reference: str) -> float:
    """What the package says; 0 where rouge 1.0.1 raises for want of a segment."""
    if semantics == "rouge":
        try:
            scores = _make_rouge(metric).get_scores(hypothesis, reference)[0]
        except ValueError:
            return 0.0
        return float(scores[PIP_NAMES[metric]]["f" if stat == "f" else "r"])
    score = _make_scorer(metric, semantics == "rouge_score").score(reference, hypothesis)[metric]
    return float(score.fmeasure if stat == "f" else score.recall)


def augment_naively(
    query: str,
    sentences: Sequence[str],
    cited: str | None,
    settings: GreedySettings,
    score: Callable[[str, str, str, str, str], float] = score_with_package,
) -> Augmentation:
    """The published loop: the whole summary is scored with every remaining sentence."""

    def rate(texts: list[str]) -> float:
        return score(settings.metric, settings.stat, settings.semantics, " ".join(texts), query)

    summary = [] if cited is None else [cited]
    own = rate(summary) if summary else 0.0
    current = start = own if settings.start == "citing" else 0.0
    remaining = list(range(len(sentences)))
    picks: list[int] = []
    scores: list[float] = []
    published = None
    while remaining:
        rated = [rate([*summary, sentences[number]]) for number in remaining]
        published = max(rated)
        if not published > current:
            break
        best = remaining.pop(rated.index(published))
        summary.append(sentences[best])
        picks.append(best)
        scores.append(current := published)
    return Augmentation(picks, scores, start, scores[-1] if scores else own, published)
