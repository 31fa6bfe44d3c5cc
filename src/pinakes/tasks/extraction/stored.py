"""The stored scores of a run's sentences beside the labels as they are now."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.schema import runs, sentence_scores
from pinakes.workload.summaries import SummaryQuestions

AskedOf = tuple[str, str, tuple[str, ...]]
"""mode, corpus and producers"""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """The test examples, their sentences, and what a run says of each.

    Attributes:
        query_ids: the test examples, by query id.
        answered: whether the run has a score of any of its sentences (m,).
        papers: the number of its paper, among those of the test examples (m,).
        groups: the example of each sentence, ascending (n,).
        scores: of each sentence; minus infinity where there is none (n,).
        labels: whether each is relevant (n,).
    """

    questions: SummaryQuestions
    query_ids: tuple[str, ...]
    answered: NDArray[np.bool_]
    papers: NDArray[np.intp]
    groups: NDArray[np.intp]
    scores: NDArray[np.float64]
    labels: NDArray[np.bool_]


def find_asked(database: Database, run_id: int) -> AskedOf:
    """What a run was asked. Raises `EvaluationError` where it does not say."""
    query = sa.select(runs.c.mode, runs.c.corpus, runs.c.variants).where(runs.c.run_id == run_id)
    with database.read() as session:
        row = session.first(query)
    if row is None or row["corpus"] is None:
        raise EvaluationError(f"run {run_id} names no corpus; run the benchmark again.")
    return str(row["mode"]), str(row["corpus"]), tuple(str(row["variants"] or "").split("\n"))


def read_stored(database: Database, run_id: int, questions: SummaryQuestions) -> Stored:
    """The scores of a run, placed. Raises `EvaluationError` for one of a sentence that is not asked."""
    columns = ("query_id", "section_number", "position", "score")
    query = sa.select(*(sentence_scores.c[name] for name in columns))
    with database.read() as session:
        found = session.fetch_arrow(query.where(sentence_scores.c.run_id == run_id))
    test = questions.test
    documents = [questions.documents[example.document] for example in test]
    lengths = np.array([len(document.sentences) for document in documents], dtype=np.intp)
    groups = np.repeat(np.arange(len(test)), lengths)
    scores = _place(run_id, found, questions, groups)
    answered = np.zeros(len(test), dtype=bool)
    answered[groups[scores > -np.inf]] = True
    _places, papers = np.unique([example.document for example in test], return_inverse=True)
    labels = np.concatenate([example.labels for example in test] or [np.zeros(0, bool)])
    query_ids = tuple(example.query_id for example in test)
    return Stored(questions, query_ids, answered, papers.astype(np.intp), groups, scores, labels)


def _place(
    run_id: int, found: pa.Table, questions: SummaryQuestions, groups: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The score of each sentence that is asked (n,); minus infinity where there is none."""
    test = questions.test
    documents = [questions.documents[example.document] for example in test]
    names = pa.array([example.query_id for example in test], pa.string())
    empty = np.zeros(0, np.int32)
    keys = _number(
        groups,
        np.concatenate([document.sections for document in documents] or [empty]),
        np.concatenate([document.positions for document in documents] or [empty]),
    )
    of = pc.index_in(found["query_id"], value_set=names).fill_null(-1).to_numpy()
    asked = _number(of, found["section_number"].to_numpy(), found["position"].to_numpy())
    places = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
    if len(asked) and (not len(keys) or (of < 0).any() or (keys[places] != asked).any()):
        raise EvaluationError(
            f"run {run_id} scores a sentence that {questions.benchmark.name} does not ask of "
            f"{questions.benchmark.asked_of} any longer; run it again."
        )
    scores = np.full(len(keys), -np.inf)
    scores[places] = found["score"].to_numpy()
    return scores


def _number(
    groups: NDArray[np.integer], sections: NDArray[np.integer], positions: NDArray[np.integer]
) -> NDArray[np.int64]:
    """One number for an example, a section (below 2^20) and a position (below 2^23), in their order."""
    numbered: NDArray[np.int64] = (
        groups.astype(np.int64) << 43 | sections.astype(np.int64) << 23 | positions.astype(np.int64)
    )
    return numbered
