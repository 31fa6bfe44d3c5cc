"""A score of sparse BM25, term by term."""

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from pinakes.indexers.analysis import Word
from pinakes.indexers.sparse_bm25.index import SparseBm25Index, check_tuning
from pinakes.indexers.sparse_bm25.postings import read_document
from pinakes.indexers.sparse_bm25.search import Tuning
from pinakes.indexers.sparse_bm25.weights import normalise_lengths


@dataclass(frozen=True, slots=True)
class TermScore:
    """What a term of a query adds to the score of a paper.

    Attributes:
        term: as the analysis makes it.
        words: the query's words that it stands for, each once.
        times: how often the query has it.
        frequency: how often the paper has it; 0 where it lacks the term.
        document_frequency: papers that hold it; 0 where none does.
        idf: its inverse document frequency.
        length_norm: k1 * (1 - b + b * length / average length), the same for all terms.
        weight: idf * frequency * (k1 + 1) / (frequency + length_norm).
        score: times * weight.
        share: of the sum of all; 0 where that is 0.
    """

    term: str
    words: tuple[str, ...]
    times: int
    frequency: int
    document_frequency: int
    idf: float
    length_norm: float
    weight: float
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """A score and what it is made of.

    Attributes:
        score: as the ranking has it, a 32-bit float.
        total: the sum of the parts.
        length: of the paper, in terms.
        average_length, papers: of the collection that terms are counted in.
        terms: the query's, the greatest part first, then by spelling.
        dropped: the query's words that are no terms, each once, with why.
    """

    score: float
    total: float
    length: int
    average_length: float
    papers: int
    terms: tuple[TermScore, ...]
    dropped: tuple[Word, ...]


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
        tuple(dict.fromkeys(word for word in words if word.term is None)),
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
            TermScore(
                term, spelt, times[term], frequency, frequency_of_all, idf, norm, weight, score, 0.0
            )
        )
    return found
