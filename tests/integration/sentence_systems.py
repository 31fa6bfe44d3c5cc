"""What the tests of systems that compare sentences share: making one of a toy encoder, and its scores."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.encoder.sentences import SENTENCE_MARK, encode_sentences
from pinakes.indexers.exact.scores import Vectors
from pinakes.progress import Silent
from pinakes.queries.definition import read_benchmark
from pinakes.systems.base import Ranking, System, SystemOptions
from pinakes.systems.registry import find_system
from pinakes.workload.workload import Workload, read_workload
from tests.benching import ABSTRACTS, POOLS

Scores = dict[str, dict[str, float]]
"""query -> candidate -> score"""

SentencesOf = dict[tuple[str, int], Vectors]
"""the vector of (paper, number of the sentence, from 0)"""


def make(folder: str, tmp_path: Path, kind: str = "sentences", **parameters: str) -> System:
    """A system of the encoder in a folder; `distance` is its distance, the rest are its options."""
    distance = parameters.pop("distance", None)
    options = SystemOptions(
        tmp_path, device="cpu", precision="fp32", distance=distance, parameters=parameters
    )
    return find_system(f"{kind}:{folder}", options)


def read(database: Database, benchmark: str = "csfcube") -> Workload:
    """What a benchmark asks."""
    return read_workload(database, read_benchmark(benchmark))


def rank(system: System, database: Database, workload: Workload) -> Scores:
    """The scores of every ranking, each of which must be in order."""
    rankings: list[Ranking] = list(system.rank(database, workload, Silent()))
    for ranking in rankings:
        order = np.lexsort((workload.tie_order[ranking.rows], -ranking.scores))
        assert order.tolist() == list(range(len(order)))
    return {
        ranking.query_id: {
            workload.source_ids[row]: float(score)
            for row, score in zip(ranking.rows, ranking.scores, strict=True)
        }
        for ranking in rankings
    }


def encode_alone(folder: str) -> SentencesOf:
    """The vectors of the small CSFCube's sentences, each a text of its own."""
    encoder = load_encoder(resolve_model(folder), "fp32")
    return {
        (paper, number): encoder.embed(encoder.tokenize([text]))[0]
        for paper, sentences in ABSTRACTS.items()
        for number, (_, text) in enumerate(sentences)
    }


def encode_in_context(folder: str) -> SentencesOf:
    """The vectors of the small CSFCube's sentences, each within its paper."""
    encoder = load_encoder(resolve_model(folder), "fp32", pooling="mean")
    texts = [
        (paper, f"Title {paper} [SEP] {SENTENCE_MARK.join(text for _, text in sentences)}")
        for paper, sentences in ABSTRACTS.items()
        if sentences
    ]
    return {
        (key, int(position) - 1): vector
        for batch in encode_sentences(encoder, texts)
        for key, position, vector in zip(batch.keys, batch.positions, batch.vectors, strict=True)
    }


def expect(vector_of: SentencesOf, score: Callable[[Vectors, Vectors], float], *, of_facet: bool) -> Scores:
    """What each candidate of the small CSFCube scores, by a function of two arrays of vectors.

    `of_facet`: from its sentences of the query's facet alone.
    """
    expected: Scores = {}
    for facet, pools in POOLS.items():
        for query, pool in pools.items():
            requested = [n for n, (of, _) in enumerate(ABSTRACTS[query]) if of == facet]
            scores = {}
            for paper in pool:
                held = [n for n, (of, _) in enumerate(ABSTRACTS[paper]) if of == facet or not of_facet]
                if requested and held and paper != query:
                    left = np.stack([vector_of[query, n] for n in requested])
                    scores[paper] = score(left, np.stack([vector_of[paper, n] for n in held]))
            if scores:
                expected[f"{query}_{facet}"] = scores
    return expected


def require_close(found: Scores, expected: Scores) -> None:
    """The same candidates of the same queries, with scores that differ by rounding at most."""
    assert {query: scores.keys() for query, scores in found.items()} == {
        query: scores.keys() for query, scores in expected.items()
    }
    for query, scores in expected.items():
        for paper, score in scores.items():
            assert found[query][paper] == pytest.approx(score, abs=1e-5)
