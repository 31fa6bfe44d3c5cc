"""The accepted state of scores: what gates compare with, with all that tells why a value is another now."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from pinakes.database import Session
from pinakes.evaluate.state import BETWEEN, digest_judgments
from pinakes.queries.definition import Benchmark
from pinakes.schema import (
    accepted_judgments,
    accepted_query_scores,
    accepted_scores,
    evaluations,
    scores,
)
from pinakes.tasks.base import find_task

_BEFORE = sa.literal_column("CHR(30)", sa.Text)


def list_accepted(session: Session, benchmark: str, line: str) -> set[str]:
    """The measures of which a line has an accepted value."""
    table = accepted_scores.c
    query = sa.select(table.measure).where(table.benchmark == benchmark, table.line == line)
    return {str(row["measure"]) for row in session.rows(query)}


def accept_scores(
    session: Session,
    event: Mapping[str, Any],
    measures: Iterable[str],
    *,
    at: datetime,
    by_itself: bool = False,
) -> None:
    """Accept the stored scores of an evaluation's run by measures, over all queries and of single ones."""
    benchmark, line = event["benchmark"], event["line"]
    chosen = sorted(measures)
    drop_accepted(session, benchmark, line, chosen)
    fixed = [sa.literal(benchmark, sa.Text).label("benchmark"), sa.literal(line, sa.Text).label("line")]
    of_run = (
        scores.c.run_id == event["run_id"],
        scores.c.subset == "all",
        scores.c.measure.in_(chosen),
    )
    counts = [scores.c[name] for name in ("value", "queries_expected", "queries_answered")]
    whole = sa.select(
        *fixed,
        scores.c.measure,
        *counts,
        sa.literal(event["evaluation_id"], sa.BigInteger).label("evaluation_id"),
        sa.literal(at, sa.DateTime(timezone=True)).label("accepted_at"),
        sa.literal(by_itself, sa.Boolean).label("by_itself"),
    ).where(*of_run, scores.c.query_id.is_(None))
    single = sa.select(*fixed, scores.c.measure, scores.c.query_id, scores.c.value)
    single = single.where(*of_run, scores.c.query_id.is_not(None))
    for table, query in ((accepted_scores, whole), (accepted_query_scores, single)):
        session.execute(sa.insert(table).from_select(query.selected_columns.keys(), query))


def drop_accepted(session: Session, benchmark: str, line: str, measures: Sequence[str] | None = None) -> None:
    """Delete the accepted values of a line, by some measures or by all."""
    for table in (accepted_scores, accepted_query_scores):
        named = [table.c.benchmark == benchmark, table.c.line == line]
        if measures is not None:
            named.append(table.c.measure.in_(measures))
        session.execute(sa.delete(table).where(*named))


def keep_judgments(session: Session, benchmark: Benchmark, digest: str) -> None:
    """Keep the judgments as they are now, if they are those of the digest, and delete older ones."""
    table, judged = accepted_judgments, find_task(benchmark).select_deciding(benchmark).judged
    of_benchmark = table.c.benchmark == benchmark.name
    known = sa.select(table.c.query_id).where(of_benchmark, table.c.judgments_digest == digest).limit(1)
    if session.first(known) is None and digest_judgments(session, judged) == digest:
        listed = select_by_query(judged).subquery("listed")
        rows = sa.select(
            sa.literal(benchmark.name, sa.Text).label("benchmark"),
            sa.literal(digest, sa.Text).label("judgments_digest"),
            listed.c.query_id,
            listed.c.judged,
        )
        session.execute(sa.insert(table).from_select(rows.selected_columns.keys(), rows))
    drop_judgments(session, benchmark.name)


def drop_judgments(session: Session, benchmark: str) -> None:
    """Delete the judgments that no accepted value was computed by."""
    table = accepted_judgments
    used = sa.select(evaluations.c.judgments_digest).join_from(
        accepted_scores, evaluations, accepted_scores.c.evaluation_id == evaluations.c.evaluation_id
    )
    is_used = table.c.judgments_digest.in_(used.where(accepted_scores.c.benchmark == benchmark))
    session.execute(sa.delete(table).where(table.c.benchmark == benchmark, ~is_used))


def select_by_query(judged: sa.Select[Any]) -> sa.Select[Any]:
    """The judgments of each query as one text: item and value, after each a control code."""
    rows = judged.subquery("judged_rows")
    item, value = (sa.func.coalesce(sa.cast(rows.c[name], sa.Text), "") for name in ("item", "value"))
    pair = item.concat(_BEFORE).concat(value).concat(BETWEEN)
    listed = sa.func.string_agg(pair, sa.literal_column("''", sa.Text))
    return sa.select(sa.cast(rows.c.query_id, sa.Text).label("query_id"), listed.label("judged")).group_by(
        rows.c.query_id
    )


def count_changed_judgments(session: Session, benchmark: Benchmark, digest: str) -> int | None:
    """How many judgments are others than those of the digest: changed, new or gone; None: not kept."""
    table, judged = accepted_judgments, find_task(benchmark).select_deciding(benchmark).judged
    kept = (
        sa.select(table.c.query_id, table.c.judged)
        .where(table.c.benchmark == benchmark.name, table.c.judgments_digest == digest)
        .subquery("kept")
    )
    if session.first(sa.select(kept.c.query_id).limit(1)) is None:
        return None
    now = select_by_query(judged).subquery("judged_now")
    joined = now.join(kept, now.c.query_id == kept.c.query_id, full=True)
    query = sa.select(now.c.judged.label("after"), kept.c.judged.label("before")).select_from(joined)
    changed = query.where(now.c.judged.is_distinct_from(kept.c.judged))
    return sum(_count_changed(row["before"], row["after"]) for row in session.rows(changed))


def _count_changed(before: str | None, after: str | None) -> int:
    """How many items have another value, or one alone.

    >>> _count_changed("p1\\x1e1\\x1fp2\\x1e0\\x1f", "p2\\x1e1\\x1fp1\\x1e1\\x1fp3\\x1e0\\x1f")
    2
    """
    old, new = _read_judged(before), _read_judged(after)
    return sum(old.get(item) != new.get(item) for item in old.keys() | new.keys())


def _read_judged(text: str | None) -> dict[str, list[str]]:
    """Item -> its values, in order."""
    found: dict[str, list[str]] = {}
    for pair in (text or "").split("\x1f")[:-1]:
        item, _, value = pair.partition("\x1e")
        found.setdefault(item, []).append(value)
    return {item: sorted(values) for item, values in found.items()}
