"""Which corpus is asked, and with whose examples: what a user says, or what there is alone."""

from dataclasses import replace

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError, InputError, UnknownNameError
from pinakes.queries.definition import Benchmark
from pinakes.schema import corpora
from pinakes.workload.summaries import relate
from pinakes.workload.summary_reading import read_mode


def choose(database: Database, benchmark: Benchmark, corpus: str | None, producer: str | None) -> Benchmark:
    """The benchmark with the corpus that is asked, and the producer of its examples.

    Raises:
        InputError: no corpus is named, or it has examples of several producers and none is named.
        UnknownNameError: there is no such corpus or producer.
        BenchmarkError: the corpus has no examples, none with labels or sides of the mode, or none to test.
    """
    with database.read() as session:
        known = _count_examples(session, benchmark)
        if corpus is None or corpus not in known:
            raise _explain_corpus(session, benchmark, corpus, known)
        producers = sorted(known[corpus])
        if producer is not None and producer not in producers:
            raise UnknownNameError("producer", producer, producers)
        if producer is None and len(producers) > 1:
            listed = "; ".join(map(repr, producers))
            raise InputError(
                f"{corpus} has examples of several producers, {listed}. Say which with --producer."
            )
        chosen = replace(benchmark, corpus=corpus, asked_of=corpus, producers=(producer or producers[0],))
        _require_labels(session, chosen)
        _require_test(session, chosen)
    return chosen


def _count_examples(session: Session, benchmark: Benchmark) -> dict[str, dict[str, int]]:
    """Corpus -> producer -> how many examples."""
    view = relate(benchmark, "examples")
    query = sa.select(view.c.corpus, view.c.producer, sa.func.count().label("examples"))
    found: dict[str, dict[str, int]] = {}
    for name, producer, count in session.stream_rows(query.group_by(view.c.corpus, view.c.producer)):
        found.setdefault(str(name), {})[str(producer)] = int(count)
    return found


def _explain_corpus(
    session: Session, benchmark: Benchmark, corpus: str | None, known: dict[str, dict[str, int]]
) -> Exception:
    loaded = [str(row["name"]) for row in session.rows(sa.select(corpora.c.name).order_by(corpora.c.name))]
    if corpus is None:
        listed = ", ".join(f"{name} ({sum(known[name].values())} examples)" for name in sorted(known))
        return InputError(
            f"{benchmark.name} asks whatever corpus is named: expected --corpus with one of "
            f"{listed or 'those that have examples; `pinakes derive summaries` makes them'}."
        )
    if corpus in loaded:
        return BenchmarkError(
            f"{corpus} has no examples yet; make them with `pinakes derive summaries --corpus {corpus}`."
        )
    return UnknownNameError("corpus", corpus, loaded, "`pinakes load` loads one.")


def _require_labels(session: Session, benchmark: Benchmark) -> None:
    """Raise `BenchmarkError` where no example has a label, or a side, as the mode asks for them."""
    mode = read_mode(session, benchmark)
    for view, column, value in (
        (relate(benchmark, "labels"), "labeller", mode.labeller),
        (relate(benchmark, "splits"), "scheme", mode.scheme),
    ):
        own = sa.and_(view.c.corpus == benchmark.asked_of, view.c.producer.in_(benchmark.producers))
        listed = sa.select(view.c[column]).where(own).distinct()
        found = sorted(str(row[column]) for row in session.rows(listed))
        if value not in found:
            published = " --as-published" if benchmark.mode == "published" else ""
            raise BenchmarkError(
                f"no example of {benchmark.asked_of} has the {column} {value!r}, which the mode "
                f"{benchmark.mode} asks for; it has {', '.join(map(repr, found)) or 'none'}. Make it with "
                f"`pinakes derive summaries --corpus {benchmark.corpus}{published}`."
            )


def _require_test(session: Session, benchmark: Benchmark) -> None:
    """Raise `BenchmarkError` where every example is on another side than `test`: nothing would be asked."""
    mode, view = read_mode(session, benchmark), relate(benchmark, "splits")
    own = sa.and_(
        view.c.corpus == benchmark.asked_of,
        view.c.producer.in_(benchmark.producers),
        view.c.scheme == mode.scheme,
    )
    counted = sa.select(view.c.part, sa.func.count()).where(own).group_by(view.c.part).order_by(view.c.part)
    parts = dict(session.stream_rows(counted))
    if "test" not in parts:
        held = ", ".join(f"{count} {part}" for part, count in parts.items())
        raise BenchmarkError(
            f"the split {mode.scheme} of {benchmark.asked_of} has no test example ({held}): the corpus is "
            f"too small for it. `pinakes derive summaries --corpus {benchmark.corpus} --test 0.5` takes more."
        )
