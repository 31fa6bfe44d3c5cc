"""A summary that grows by the sentence which raises its ROUGE against a query most, as long as one does.

The sentences are those that a loop over whole summaries picks (the first of the best; a score must be strictly
better); the work is a fraction. Whole tokens are read once. For n-grams each occurrence in a candidate is looked at once
in the whole run, when it stops counting, and a step costs a few array operations over the candidates. For
rougeL of `rouge_score` a step costs a few operations a candidate's token that the query has, whatever the
summary's length. For rougeL of `rouge` a step costs the words of the covered sets, and, where the summary's
last segment is open, that segment's row and the candidates' heads. Memory is linear in the tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.rouge.document import OPEN, START, Document, Piece, read_document
from pinakes.indexers.rouge.formulas import ORDERS, Metric, Stat, check_measure, compute_scores
from pinakes.indexers.rouge.longest import Subsequence, UnionSubsequence
from pinakes.indexers.rouge.scores import score_rouge
from pinakes.indexers.rouge.semantics import SemanticsName, find_semantics, split_segments
from pinakes.indexers.rouge.tallies import DistinctGrams, SharedGrams, State, Tally, TokenCount

Start = Literal["zero", "citing"]
STARTS: tuple[str, ...] = ("zero", "citing")


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
        score: that of the returned summary: the seed's own where nothing was picked, 0 where there is no seed.
        published_score: that of the last step which was computed, accepted or not: what the published code
            returns, mostly the score of a rejected sentence. None where no sentence was left to score.
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
    >>> augment("a new model ranks papers", ["a new model.", "thanks to all.", "it ranks papers."], None, settings)
    Augmentation(picks=[0, 2], scores=[...

    Raises:
        InputError: the document was read in another semantics.
    """
    document = _find_document(sentences, settings.semantics)
    seed = None if cited is None else document.read_piece(cited)
    size, overlap_of, size_of = _make_tallies(document, query, settings)
    own = 0.0
    if cited is not None:
        own = score_rouge(settings.metric, settings.stat, settings.semantics, cited, query)
    start = own if settings.start == "citing" else 0.0
    state = State(START if document.semantics.distinct else OPEN, -1, np.ones(len(document.pieces), bool))
    tallies = [tally for tally in (overlap_of, size_of) if tally is not None]
    if seed is not None:
        _take(seed, tallies, state)
    picks: list[int] = []
    scores: list[float] = []
    current, published = start, None
    while state.remaining.any():
        sizes = 0 if size_of is None else size_of.extend(state)
        rated = compute_scores(
            overlap_of.extend(state), sizes, size, settings.stat, distinct=document.semantics.distinct
        )
        best = int(np.argmax(np.where(state.remaining, rated, -1.0)))
        published = float(rated[best])
        if not published > current:
            break
        current = published
        picks.append(best)
        scores.append(current)
        state.remaining[best] = False
        _take(document.pieces[best], tallies, state)
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


def _take(piece: Piece, tallies: Sequence[Tally], state: State) -> None:
    for tally in tallies:
        tally.take(piece, state)
    kept = piece.list_kept(state.end)
    state.last = kept[-1] if kept else state.last
    state.end = piece.end_after(state.end)


def _make_tallies(
    document: Document, query: str, settings: GreedySettings
) -> tuple[int, Tally, Tally | None]:
    """The size of the query, what a summary shares with it, and a summary's size where the score needs it."""
    order, distinct = ORDERS[settings.metric], document.semantics.distinct
    numbering = document.numbering
    segments = [numbering.number(words) for words in _split(query, document)]
    tokens = [token for segment in segments for token in segment]
    overlap: Tally
    if settings.metric != "rougeL":
        overlap = SharedGrams(document, tokens, order, distinct=distinct)
    elif distinct:
        overlap = UnionSubsequence(document, segments)
    else:
        overlap = Subsequence(document, tokens)
    grams = list(zip(*(tokens[first:] for first in range(order)), strict=False))
    size = len(set(grams)) if distinct else len(grams)
    if settings.stat == "recall":
        return size, overlap, None
    return size, overlap, DistinctGrams(document, order) if distinct else TokenCount(document, order)


def _split(query: str, document: Document) -> list[list[str]]:
    return split_segments(query) if document.semantics.distinct else [document.semantics.split(query)]
