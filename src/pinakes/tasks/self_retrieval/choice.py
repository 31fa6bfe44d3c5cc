"""Which corpus is asked, and with whose variants: what a user says, or what there is alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError, InputError, UnknownNameError
from pinakes.queries.definition import Benchmark
from pinakes.workload.altered_texts import relate


def choose(database: Database, benchmark: Benchmark, corpus: str | None, producer: str | None) -> Benchmark:
    """The benchmark with the corpus that is asked, the loaded one that its papers are of, and the producers.

    Raises:
        InputError: no corpus is named, or a code has variants of several producers and none is named.
        UnknownNameError: there is no such corpus or producer.
        BenchmarkError: the corpus has no paper with title and abstract, is of several loaded ones, or has no
            variants.
    """
    with database.read() as session:
        within = _find_loaded(session, benchmark, corpus)
        found = _read_producers(session, benchmark, str(corpus))
    of_mode = [row for row in found if row["mode"] == benchmark.mode]
    chosen = [row for row in of_mode if producer in (None, row["producer"])]
    if not chosen:
        raise _explain_absence(benchmark, str(corpus), within, producer, found)
    _require_one_producer(benchmark, str(corpus), chosen)
    producers = tuple(sorted({row["producer"] for row in chosen}))
    return replace(benchmark, corpus=within, asked_of=corpus, producers=producers)


def _find_loaded(session: Session, benchmark: Benchmark, corpus: str | None) -> str:
    """The loaded corpus that the papers of the named one are of."""
    view, asked = relate(benchmark, "originals"), relate(benchmark, "selections")
    if corpus is not None:
        query = sa.select(view.c.within).where(view.c.corpus == corpus).distinct()
        loaded = sorted(str(row["within"]) for row in session.rows(query))
        if len(loaded) == 1:
            return loaded[0]
        if loaded:
            raise BenchmarkError(
                f"{corpus} has papers of the corpora {' and '.join(loaded)}; terms are counted and models "
                f"trained in one. Change the view {benchmark.name}.selections, or load them as one corpus."
            )
    counted = sa.select(view.c.corpus, sa.func.count().label("papers")).group_by(view.c.corpus)
    known = {str(row["corpus"]): int(row["papers"]) for row in session.rows(counted)}
    if corpus is None:
        listed = ", ".join(f"{name} ({known[name]} papers)" for name in sorted(known))
        raise InputError(
            f"{benchmark.name} asks whatever corpus is named: expected --corpus with one of "
            f"{listed or 'those that are loaded, of which there is none; `pinakes load` loads one'}."
        )
    there = sa.select(sa.func.count()).select_from(asked).where(asked.c.corpus == corpus)
    if session.scalar(there):
        raise BenchmarkError(
            f"no paper of {corpus} has both a title and an abstract; {benchmark.name} needs them."
        )
    raise UnknownNameError("corpus", corpus, sorted(known), "`pinakes load` loads one.")


def _read_producers(session: Session, benchmark: Benchmark, corpus: str) -> list[dict[str, Any]]:
    """The codes of a corpus by producer and mode."""
    view = relate(benchmark, "neighbours")
    query = sa.select(view.c.code, view.c.producer, view.c.mode).where(view.c.corpus == corpus).distinct()
    return sorted(session.rows(query), key=lambda row: (row["code"], row["producer"]))


def _explain_absence(
    benchmark: Benchmark, corpus: str, within: str, producer: str | None, found: Sequence[dict[str, Any]]
) -> Exception:
    published = " --as-published" if benchmark.mode == "published" else ""
    command = f"`pinakes derive neighbours --corpus {within}{published}`"
    if producer is None:
        kind = f" of the mode {benchmark.mode}" if found else ""
        return BenchmarkError(
            f"no paper of {corpus} has a neighbour{kind} yet; derive them first, with {command}."
        )
    known = sorted({f"{row['producer']} ({row['mode']})" for row in found})
    return UnknownNameError(f"producer of the mode {benchmark.mode}", producer, known, f"Or {command}.")


def _require_one_producer(benchmark: Benchmark, corpus: str, chosen: Sequence[dict[str, Any]]) -> None:
    by_code: dict[str, set[str]] = {}
    for row in chosen:
        by_code.setdefault(row["code"], set()).add(row["producer"])
    several = {code: sorted(producers) for code, producers in by_code.items() if len(producers) > 1}
    if several:
        code, producers = next(iter(several.items()))
        listed = "; ".join(repr(one) for one in producers)
        raise InputError(
            f"{len(several)} codes of {corpus} have neighbours of several producers, {code} those of "
            f"{listed}. Say which with --producer."
        )
