"""ROUGE of the sentences that a run takes to be the best of each example."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.rouge.scores import score_rouge
from pinakes.tasks.extraction.measures import RougeMeasure
from pinakes.tasks.extraction.stored import Stored

SEMANTICS: Final = {"corrected": "rouge_score", "published": "rouge"}
"""mode -> whose ROUGE: rouge-score with stemming, or pip rouge 1.0.1"""


def score_summaries(stored: Stored, measures: Sequence[RougeMeasure]) -> dict[str, NDArray[np.float64]]:
    """Measure -> the F1 of each test example's best sentences (m,); 0 without an answer."""
    questions = stored.questions
    semantics = SEMANTICS[questions.benchmark.mode]
    found = {measure.name: np.zeros(len(stored.query_ids)) for measure in measures}
    ends = np.searchsorted(stored.groups, np.arange(len(stored.query_ids) + 1))
    for number, example in enumerate(questions.test):
        if not stored.answered[number]:
            continue
        sentences = questions.documents[example.document].sentences
        scores = stored.scores[ends[number] : ends[number + 1]]
        references = {"query": example.query, "cited": example.cited}
        for measure in measures:
            summary = " ".join(sentences[place] for place in choose_best(scores, measure.k))
            found[measure.name][number] = score_rouge(
                measure.metric, "f", semantics, summary, references[measure.reference]
            )
    return found


def choose_best(scores: NDArray[np.float64], k: int) -> list[int]:
    """The places of the `k` best sentences in the paper's order; of equal ones the first.

    >>> choose_best(np.array([0.1, 0.5, 0.5, 0.9]), 2)
    [1, 3]
    """
    best = np.argsort(-scores, kind="stable")[:k]
    return sorted(best[scores[best] > -np.inf].tolist())
