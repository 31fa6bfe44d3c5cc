"""What is another than when a value was accepted, in words: old and new."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.evaluate.accepted import count_changed_judgments
from pinakes.queries.definition import Benchmark
from pinakes.schema import accepted_scores, evaluations, scores
from pinakes.tasks.base import find_task

_SHOWN: Final = 8
"""digits of a digest"""


def find_causes(
    database: Database, benchmark: Benchmark, accepted: Mapping[str, Any], run_id: int | None
) -> Iterator[str]:
    """What differs between the evaluation that gave an accepted value and the last one of a run.

    Args:
        accepted: a row of `accepted_scores` with the columns of its evaluation.
        run_id: the run that the present value is of; None: there is none.
    """
    if run_id is None:
        was = accepted["run_id"]
        yield f"no run of these settings has a score; it was run {was}" if was else "its run was removed"
        return
    now = _read_last(database, run_id)
    if now is None:
        return
    found = [
        *_describe_judgments(database, benchmark, accepted, now),
        *_describe_definition(accepted, now),
        *_describe_run(accepted, now),
        *_describe_code(accepted, now),
        *_describe_answers(database, accepted, run_id),
    ]
    yield from found or ["nothing that decides it is known to have changed"]


def _read_last(database: Database, run_id: int) -> dict[str, Any] | None:
    query = sa.select(evaluations).where(evaluations.c.run_id == run_id)
    with database.read() as session:
        return session.first(query.order_by(evaluations.c.evaluation_id.desc()).limit(1))


def _describe_judgments(
    database: Database, benchmark: Benchmark, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    if before["judgments_digest"] == now["judgments_digest"]:
        return
    with database.read() as session:
        count = count_changed_judgments(session, benchmark, before["judgments_digest"])
    named = find_task(benchmark).select_deciding(benchmark).named
    digests = _arrow(before, now, "judgments_digest")
    if count is None:
        yield f"{named} changed: {before['judgments']} before, {now['judgments']} now ({digests})"
    else:
        total = max(before["judgments"], now["judgments"])
        yield f"{named} changed: {count} of {total} ({digests})"


def _describe_definition(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    if before["view_digest"] != now["view_digest"]:
        yield f"the benchmark's definition changed ({_arrow(before, now, 'view_digest')})"
    if before["queries_digest"] != now["queries_digest"]:
        yield f"its queries or their groups changed ({_arrow(before, now, 'queries_digest')})"
    if before["papers_removed"] != now["papers_removed"]:
        yield f"papers were removed from the corpus: {now['papers_removed'] - before['papers_removed']}"


def _describe_run(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    if before["run_digest"] == now["run_digest"]:
        return
    was = before["run_id"]
    yield f"another run: {now['run_id']}, before {was if was is not None else 'one that was removed'}"
    if before["dataset_digest"] != now["dataset_digest"]:
        yield f"its queries, candidates or texts changed ({_arrow(before, now, 'dataset_digest')})"
    if before["encoder_revision"] != now["encoder_revision"]:
        yield f"encoder: {before['encoder_revision']} → {now['encoder_revision']}"
    if before["run_code_version"] != now["run_code_version"]:
        yield f"Pinakes of the run: {before['run_code_version']} → {now['run_code_version']}"


def _describe_code(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    if before["code_digest"] != now["code_digest"]:
        versions = f"{before['code_version']} → {now['code_version']}"
        yield f"the code that scores: Pinakes {versions} ({_arrow(before, now, 'code_digest')})"


def _describe_answers(database: Database, accepted: Mapping[str, Any], run_id: int) -> Iterator[str]:
    """Other queries, or other answers of them, than were accepted."""
    query = sa.select(scores.c.queries_expected, scores.c.queries_answered).where(
        scores.c.run_id == run_id,
        scores.c.measure == accepted["measure"],
        scores.c.subset == "all",
        scores.c.query_id.is_(None),
    )
    with database.read() as session:
        now = session.first(query)
    names = (accepted_scores.c.queries_answered.name, accepted_scores.c.queries_expected.name)
    if now is not None and any(accepted[name] != now[name] for name in names):
        was, are = (f"{row[names[0]]} of {row[names[1]]}" for row in (accepted, now))
        yield f"queries answered: {was} → {are}"


def _arrow(before: Mapping[str, Any], now: Mapping[str, Any], name: str) -> str:
    return f"{before[name][:_SHOWN]} → {now[name][:_SHOWN]}"
