"""A system's scores of sentences, and the models that it trained, as rows."""

from collections.abc import Sequence

import numpy as np
import orjson
import pyarrow as pa

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.progress import Progress
from pinakes.schema import sentence_scores, trained_models
from pinakes.systems.base import SentenceScores, System, Trial
from pinakes.tasks.base import Answers
from pinakes.workload.summaries import SummaryQuestions


def answer(database: Database, system: System, questions: SummaryQuestions, progress: Progress) -> Answers:
    """The scores of every test example that the system answers; then the models that it trained.

    Raises `RunError` where a system answers what it was not asked, or with numbers that are no scores.
    """
    expected = {example.query_id: example for example in questions.test}
    progress.start(f"score sentences of {questions.benchmark.asked_of} by {system.name}", len(expected))
    try:
        for found in system.score_sentences(database, questions, progress):
            example = expected.pop(found.query_id, None)
            if example is None:
                raise RunError(f"{system.name} scores {found.query_id} twice, or was not asked for it.")
            document = questions.documents[example.document]
            _check(system, found, len(document.sentences))
            yield (
                sentence_scores,
                pa.table(
                    {
                        "query_id": pa.array([found.query_id] * len(found.scores), pa.string()),
                        "section_number": pa.array(document.sections, pa.int32()),
                        "position": pa.array(document.positions, pa.int32()),
                        "score": pa.array(found.scores, pa.float64()),
                    }
                ),
            )
            progress.advance(1)
    finally:
        progress.finish()
    trials = system.list_trials(database, questions)
    if trials:
        yield trained_models, _list_models(trials)


def _check(system: System, found: SentenceScores, count: int) -> None:
    if found.scores.shape != (count,) or not np.isfinite(found.scores).all():
        raise RunError(
            f"{system.name} gives {found.query_id} {found.scores.shape} scores, or some that are not finite; "
            f"expected {count} numbers."
        )


def _list_models(trials: Sequence[Trial]) -> pa.Table:
    settings = [orjson.dumps(trial.settings, option=orjson.OPT_SORT_KEYS).decode() for trial in trials]
    return pa.table(
        {
            "trial": pa.array(range(1, len(trials) + 1), pa.int32()),
            "settings": pa.array(settings, pa.string()),
            "epochs": pa.array([trial.epochs for trial in trials], pa.int32()),
            "dev_score": pa.array([trial.dev_score for trial in trials], pa.float64()),
            "chosen": pa.array([trial.chosen for trial in trials], pa.bool_()),
        }
    )
