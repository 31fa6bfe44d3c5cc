"""Matching reviewers as a task: reviewers ranked by their papers' vectors, scored as any ranking is.

A reviewer is a paper without a text, so that answers and judgments are those of rankings. A reviewer of whom
no paper has a vector is not ranked, in either mode (the published code stops there, or ranks by no number):
the run counts them among `candidates_without_text`, and a submission that they fit scores less. Submissions
without a vector are not answered.
"""

from typing import Final

import numpy as np
import pyarrow as pa

from pinakes.database import Database
from pinakes.evaluators.registry import parse_measure
from pinakes.indexers.order import order_best
from pinakes.indexers.reviewers import score_reviewers
from pinakes.progress import Progress
from pinakes.schema import hits
from pinakes.systems.base import System
from pinakes.tasks.base import Answers, Task
from pinakes.tasks.hits.expected import find_unjudged, select_deciding
from pinakes.tasks.hits.scoring import prepare_scoring
from pinakes.workload.reviewers import VIEWS, Submissions, list_columns, read_submissions

NAME: Final = "reviewer_matching"


def answer(database: Database, system: System, submissions: Submissions, progress: Progress) -> Answers:
    """The reviewers of each submission as rows of `hits`, by the mean of their three nearest papers."""
    embedded = system.embed(database, submissions, progress)
    place = np.full(len(submissions.paper_ids), -1, dtype=np.int64)
    place[embedded.rows] = np.arange(len(embedded.rows))
    asked = place[submissions.find(submissions.query_papers)]
    authored = [place[submissions.find(own)] for own in submissions.authored]
    authored = [places[places >= 0] for places in authored]
    answered = np.flatnonzero(asked >= 0)
    if not len(answered):
        return
    scores = score_reviewers(embedded.vectors[asked[answered]], embedded.vectors, authored)
    progress.start(f"rank {submissions.benchmark.name} by {system.name}", len(answered))
    try:
        for number, query in enumerate(answered.tolist()):
            yield hits, _rank(submissions, query, scores[number])
            progress.advance(1)
    finally:
        progress.finish()


def _rank(submissions: Submissions, query: int, scores: np.ndarray) -> pa.Table:
    """A submission's candidates that have a score, best first."""
    pool = submissions.pools[query]
    pool = pool[~np.isnan(scores[pool])]
    best = order_best(scores[pool].astype(np.float32), submissions.reviewer_ties[pool])
    pool = pool[best[: submissions.benchmark.depth]]
    return pa.table(
        {
            "query_id": pa.array([submissions.query_ids[query]] * len(pool), pa.string()),
            "paper_id": pa.array(submissions.reviewer_ids[pool], pa.int64()),
            "rank": pa.array(np.arange(1, len(pool) + 1), pa.int32()),
            "score": pa.array(scores[pool], pa.float64()),
        }
    )


REVIEWERS: Final = Task(
    name=NAME,
    needs=("embed",),
    answers=hits,
    views=VIEWS,
    settings=("paper_template", "grades"),
    scored_view="queries",
    list_columns=list_columns,
    read=read_submissions,
    answer=answer,
    name_measure=lambda name: parse_measure(name).name,
    open_scoring=prepare_scoring,
    select_deciding=select_deciding,
    find_unjudged=find_unjudged,
)
