"""Runs, corpora, benchmarks and recorded draws removed with all that refers to them: each in one transaction.

What refers to what is read from the references of the tables (`schema/removal.py`); here is what those do
not say: which runs ranked a corpus's papers, and what names a corpus or a benchmark by its name alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import UnknownNameError
from pinakes.load.corpus import find_corpus
from pinakes.queries.install import drop_views
from pinakes.removal.data import Removal
from pinakes.schema import (
    benchmark_corpora,
    benchmarks,
    check_schema,
    corpora,
    metadata,
    papers,
    published_scores,
    runs,
    samplings,
    trainings,
)
from pinakes.schema.removal import remove_rows

Keys = dict[sa.Table, pa.Table]

_CHOSEN = sa.table("chosen_corpora", sa.column("benchmark"), sa.column("corpus"))


def remove_runs(database: Database, run_ids: Sequence[int], *, dry_run: bool = False) -> Removal:
    """Take runs out, with their answers, scores and intervals.

    Raises:
        UnknownNameError: there is no such run; then none is removed.
    """
    wanted = sorted(set(run_ids))

    def find(session: Session) -> Keys:
        known = _list_ids(session, sa.select(runs.c.run_id))
        for run_id in wanted:
            if run_id not in known:
                raise UnknownNameError("run", str(run_id), [str(one) for one in known])
        return {runs: pa.table({"run_id": wanted})}

    listed = ", ".join(map(str, wanted))
    return _remove(database, f"run{'s' if len(wanted) > 1 else ''} {listed}", find, dry_run=dry_run)


def remove_corpus(database: Database, name: str, *, dry_run: bool = False) -> Removal:
    """Take a corpus out: its rows, the benchmarks' samples of it, and the runs that ranked its papers.

    Loaded again it is as if it had never been there. Cited works of other corpora that were its papers are
    unresolved then.

    Raises:
        UnknownNameError: there is no such corpus.
    """

    def find(session: Session) -> Keys:
        corpus_id = find_corpus(session, name)
        ranked = _list_ids(session, sa.union(*_select_runs(corpus_id, name)))
        chosen = sa.select(*benchmark_corpora.primary_key).where(
            benchmark_corpora.c.corpus == name, benchmark_corpora.c.preference == 0
        )
        return {
            corpora: pa.table({"corpus_id": pa.array([corpus_id], pa.int32())}),
            runs: pa.table({"run_id": pa.array(ranked, pa.int64())}),
            benchmark_corpora: session.fetch_arrow(chosen),
        }

    return _remove(database, f"corpus {name}", find, dry_run=dry_run)


def remove_benchmark(database: Database, name: str, *, dry_run: bool = False) -> Removal:
    """Take a benchmark out: its views, its runs, what was sampled, constructed or tuned for it.

    Where its folder is still found, `pinakes init` makes its views again.

    Raises:
        UnknownNameError: there is no such benchmark in the database.
    """

    def find(session: Session) -> Keys:
        known = [str(row["name"]) for row in session.rows(sa.select(benchmarks.c.name))]
        if name not in known:
            raise UnknownNameError("benchmark", name, known)
        drop_views(session, name)
        figures = sa.select(*published_scores.primary_key).where(published_scores.c.benchmark == name)
        return {benchmarks: pa.table({"name": [name]}), published_scores: session.fetch_arrow(figures)}

    return _remove(database, f"benchmark {name}", find, dry_run=dry_run)


def remove_training(database: Database, name: str, *, dry_run: bool = False) -> Removal:
    """Take out what was drawn to train an encoder on; the encoder's folder stays as it is.

    Raises:
        UnknownNameError: nothing was drawn under that name.
    """

    def find(session: Session) -> Keys:
        rows = session.rows(sa.select(trainings.c.training_id, trainings.c.name))
        known = {str(row["name"]): row["training_id"] for row in rows}
        if name not in known:
            raise UnknownNameError("training", name, sorted(known), "`pinakes train` records one.")
        return {trainings: pa.table({"training_id": pa.array([known[name]], pa.int32())})}

    return _remove(database, f"training {name}", find, dry_run=dry_run)


def _remove(database: Database, what: str, find: Callable[[Session], Keys], *, dry_run: bool) -> Removal:
    check_schema(database)
    if dry_run:
        with database.rehearse() as rehearsal, rehearsal.begin() as session:
            return _remove_found(session, what, find(session))
    with database.begin() as session:
        return _remove_found(session, what, find(session))


def _remove_found(session: Session, what: str, keys: Keys) -> Removal:
    before = _list_ids(session, sa.select(runs.c.run_id))
    removed = remove_rows(session, {table: rows for table, rows in keys.items() if rows.num_rows})
    after = set(_list_ids(session, sa.select(runs.c.run_id)))
    gone = [run_id for run_id in before if run_id not in after]
    return Removal(what, dict(sorted(removed.deleted.items())), dict(sorted(removed.cleared.items())), gone)


def _select_runs(corpus_id: int, name: str) -> list[sa.Select[Any]]:
    """The runs that ranked a corpus's papers, asked of it, or answered a benchmark that reads or samples it.

    A run of another corpus stays, though its benchmark could read this one.
    """
    of_corpus = sa.select(papers.c.paper_id).where(papers.c.corpus_id == corpus_id)
    answers = list_answers()
    ranked = [sa.select(one.c.run_id).distinct().where(one.c.paper_id.in_(of_corpus)) for one in answers]
    sampled = sa.select(samplings.c.benchmark).where(samplings.c.corpus_id == corpus_id)
    read = sa.select(_CHOSEN.c.benchmark).where(_CHOSEN.c.corpus == name)
    of_benchmarks = sa.or_(runs.c.benchmark.in_(sampled), runs.c.benchmark.in_(read))
    asked = sa.or_(runs.c.corpus == name, sa.and_(of_benchmarks, runs.c.corpus.is_(None)))
    return [*ranked, sa.select(runs.c.run_id).where(asked)]


def list_answers() -> list[sa.Table]:
    """The tables of answers that name papers: a run without some of its answers would be another run."""
    return [
        table
        for table in metadata.sorted_tables
        if {runs, papers} <= {one.referred_table for one in table.foreign_key_constraints}
    ]


def _list_ids(session: Session, query: sa.SelectBase) -> list[int]:
    return sorted(session.fetch_arrow(query).column(0).to_pylist())  # type: ignore[arg-type]
