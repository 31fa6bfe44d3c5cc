"""A summary that grows by the sentence which raises its ROUGE against a query most, as long as one does.

The picks and scores are those of a loop that scores whole summaries: the first of the best sentences, and
only if it is strictly better. Only changes are computed. N-grams: each occurrence in a candidate is looked at
once in a whole run, when it stops counting, and a step costs a few array operations over the candidates.
rougeL of `rouge_score`: a step costs a few operations for each token of a candidate that the query has,
whatever the summary's length. rougeL of `rouge`: a step costs the words of the covered sets, and, where the
summary's last segment is open, the heads of the candidates, which continue it. Memory is linear in the
tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.rouge.document import OPEN, START, Document, Piece, read_document
from pinakes.indexers.rouge.formulas import ORDERS, Metric, Stat, check_measure, compute_scores
from pinakes.indexers.rouge.longest import Subsequence, UnionSubsequence
from pinakes.indexers.rouge.scores import score_rouge
from pinakes.indexers.rouge.semantics import SemanticsName, find_semantics, split_segments
from pinakes.indexers.rouge.tallies import (
    DistinctGrams,
    SharedGrams,
    State,
    Tally,
    TokenCount,
    make_keys,
)

Start = Literal["zero", "citing"]
STARTS: Final[tuple[str, ...]] = ("zero", "citing")


@dataclass(frozen=True, slots=True)
class GreedySettings:
    """What is raised, and from where.

    Attributes:
        start: the score that the first pick must exceed: `zero`, as published, so that a first pick may even
            lower the seed's score; or `citing`, the seed's own.

    Raises:
        UnknownNameError: a value is none of those known.
    """

    metric: Metric = "rouge2"
    stat: Stat = "f"
    semantics: SemanticsName = "rouge_score"
    start: Start = "citing"

    def __post_init__(self) -> None:
        check_measure(self.metric, self.stat)
        find_semantics(self.semantics)
        if self.start not in STARTS:
            raise UnknownNameError("start of augmentation", self.start, list(STARTS))


@dataclass(frozen=True, slots=True)
class Augmentation:
    """What was picked.

    Attributes:
        picks: numbers of sentences, in the order of their steps.
        scores: the summary's score after each step.
        start_score: what the first step had to exceed.
        score: that of the returned summary; the seed's own where nothing was picked, 0 without a seed.
        published_score: that of the last step which was computed, accepted or not: what the published code
            returns, mostly the score of a rejected sentence. None where there is no sentence.
    """

    picks: list[int]
    scores: list[float]
    start_score: float
    score: float
    published_score: float | None


def augment(
    query: str, sentences: Sequence[str] | Document, cited: str | None, settings: GreedySettings
) -> Augmentation:
    """The sentences that raise the seed's ROUGE against the query, greedily.

    The seed `cited` heads the summary, as one element, and is never dropped; None: the summary starts empty.
    For several queries over one document hand in what `read_document` gives. A query or summary without
    tokens scores 0, so that an empty document, or a query without words, has no picks.

    >>> settings = GreedySettings("rouge2", "f", "rouge", "zero")
    >>> sentences = ["A model.", "We thank everyone.", "the model ranks papers."]
    >>> augment("the new model ranks papers", sentences, None, settings).picks
    [2]

    Raises:
        InputError: the document was read in another semantics.
    """
    document = _find_document(sentences, settings.semantics)
    seed = None if cited is None else document.read_piece(cited)
    run = _Run(document, query, settings)
    own = 0.0
    if cited is not None and seed is not None:
        own = score_rouge(settings.metric, settings.stat, settings.semantics, cited, query)
        run.take(seed)
    start = own if settings.start == "citing" else 0.0
    picks: list[int] = []
    scores: list[float] = []
    published = None
    while run.state.remaining.any():
        best, published = run.find_best()
        if not published > (scores[-1] if scores else start):
            break
        picks.append(best)
        scores.append(published)
        run.state.remaining[best] = False
        run.take(document.find_piece(best))
    return Augmentation(picks, scores, start, scores[-1] if scores else own, published)


def _find_document(sentences: Sequence[str] | Document, semantics: str) -> Document:
    if not isinstance(sentences, Document):
        return read_document(sentences, semantics)
    if sentences.semantics.name != semantics:
        raise InputError(
            f"the document was read in the semantics {sentences.semantics.name}; "
            f"expected {semantics}; read it again."
        )
    return sentences


class _Run:
    """One query's counts over a document."""

    def __init__(self, document: Document, query: str, settings: GreedySettings) -> None:
        self._stat, self._distinct = settings.stat, document.semantics.distinct
        end = START if self._distinct else OPEN
        self.state = State(end, -1, np.ones(len(document.texts), bool))
        order = ORDERS[settings.metric]
        words = split_segments(query) if self._distinct else [document.semantics.split(query)]
        segments = list(map(document.numbering.number, words))
        tokens = [token for segment in segments for token in segment]
        keys = make_keys(-1, tokens, order)
        self._query_size = len(set(keys)) if self._distinct else len(keys)
        self._shared: Tally
        if settings.metric != "rougeL":
            self._shared = SharedGrams(document, keys, order, distinct=self._distinct)
        elif self._distinct:
            self._shared = UnionSubsequence(document, segments)
        else:
            self._shared = Subsequence(document, tokens)
        self._size: Tally | None = None  # recall does without
        if settings.stat == "f":
            self._size = (DistinctGrams if self._distinct else TokenCount)(document, order)

    def find_best(self) -> tuple[int, float]:
        """The first of the best remaining candidates, and the score of the summary with it."""
        sizes = 0 if self._size is None else self._size.extend(self.state)
        shared = self._shared.extend(self.state)
        rated = compute_scores(shared, sizes, self._query_size, self._stat, distinct=self._distinct)
        best = int(np.argmax(np.where(self.state.remaining, rated, -1.0)))
        return best, float(rated[best])

    def take(self, piece: Piece) -> None:
        """Join a candidate or the seed to the summary."""
        self._shared.take(piece, self.state)
        if self._size is not None:
            self._size.take(piece, self.state)
        kept = piece.list_kept(self.state.end)
        self.state.last = kept[-1] if kept else self.state.last
        self.state.end = piece.end_after(self.state.end)
