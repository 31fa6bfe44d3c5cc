"""A score of sparse BM25, term by term."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from pinakes.indexers.analysis import Word
from pinakes.indexers.sparse_bm25.index import SparseBm25Index, check_tuning
from pinakes.indexers.sparse_bm25.postings import read_document
from pinakes.indexers.sparse_bm25.score_parts import DroppedWord, ScoreParts, TermScore
from pinakes.indexers.sparse_bm25.search import Tuning
from pinakes.indexers.sparse_bm25.weights import normalise_lengths


def explain_score(index: SparseBm25Index, text: str, paper_id: int, k1: float, b: float) -> ScoreParts:
    """The score of a paper for a text, and its parts in 64-bit floats.

    The parts are those that a search rounds to 32 bits, one by one, and adds up: their sum differs from the
    score by at most (terms + 1) / 2 ** 24 of it. Raises IndexingError for a paper that the index lacks.
    """
    tuning = check_tuning(k1, b)
    row = index.find_row(paper_id)
    length, average = int(index.postings.lengths[row]), index.collection.average_length
    words = index.analysis.read_words(text)
    terms = _weigh_terms(index, text, words, row, tuning)
    total = math.fsum(term.score for term in terms)
    shared = [replace(term, share=term.score / total if total else 0.0) for term in terms]
    return ScoreParts(
        float(index.score_pool(text, np.array([paper_id]), *tuning)[0]),
        total,
        length,
        average,
        index.collection.row_count,
        tuple(sorted(shared, key=lambda term: (-term.score, term.term))),
        tuple(dict.fromkeys(DroppedWord(word.text, word.why_not) for word in words if word.term is None)),
    )


def _weigh_terms(
    index: SparseBm25Index, text: str, words: list[Word], row: int, tuning: Tuning
) -> list[TermScore]:
    """Each term of the query once, as the words come; no shares."""
    kept = [word for word in words if word.term is not None]
    (ids,) = index.read_queries([text])
    numbers = {str(word.term): int(number) for word, number in zip(kept, ids, strict=True)}
    times = Counter(word.term for word in kept)
    held = read_document(index.postings, row)
    counts = dict(zip(held.term_ids.tolist(), held.counts.tolist(), strict=True))
    length, average = index.postings.lengths[row : row + 1], index.collection.average_length
    norm = float(normalise_lengths(length, average, *tuning)[0])
    found = []
    for term, number in numbers.items():
        known, frequency = number >= 0, int(counts.get(number, 0))
        idf = float(index.weigh_terms(np.array([number], np.int32))[0]) if known else 0.0
        weight = idf * (tuning.k1 + 1.0) * frequency / (frequency + norm) if frequency else 0.0
        frequency_of_all = int(index.collection.frequencies[number]) if known else 0
        spelt = tuple(dict.fromkeys(word.text for word in kept if word.term == term))
        score = times[term] * weight
        found.append(
            TermScore(term, spelt, times[term], frequency, frequency_of_all, idf, norm, weight, score, 0.0)
        )
    return found
