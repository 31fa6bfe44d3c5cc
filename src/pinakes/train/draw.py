"""Instances drawn for training: texts and labels, numbers or triplets, by SQL and a seed.

The setup is that of SciRepEval (Singh et al. 2023, sections 4.2 and 5, appendix A): benchmarks with a split
for training, and tasks that any corpus can be asked for. The draw depends on the seed and on what the sources
say alone, so that it is the same on both databases. A share of papers and queries, by their text, validates.
What a test of the named and the held-out benchmarks asks for is drawn for neither side.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError, IndexingError
from pinakes.indexers.training.tasks import TrainingTask, require_trainable
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import Benchmark
from pinakes.schema import check_schema, corpora
from pinakes.settings import Settings, read_settings
from pinakes.train.asked import AskedTask, find_tasks
from pinakes.train.blocks import Blocks
from pinakes.train.data import Draw, DrawnTask, DrawOptions
from pinakes.train.held import find_held, require_apart
from pinakes.train.labelled import draw_labelled
from pinakes.train.triplets import draw_triplets
from pinakes.workload.benchmark import open_benchmark


def draw_tasks(
    database: Database,
    names: Sequence[str],
    *,
    seed: int,
    most: int = 600_000,
    triplets_per_query: int = 5,
    validation: float = 0.1,
    held_out: Sequence[str] = (),
    settings: Settings | None = None,
) -> list[TrainingTask]:
    """The tasks of those names, in their order; `draw` says what was left out and what can be recorded.

    A name is an installed benchmark's, or KIND:CORPUS. Raises what `draw` does.
    """
    options = DrawOptions(seed, most, triplets_per_query, validation, tuple(held_out))
    return [drawn.task for drawn in draw(database, names, options, settings=settings).tasks]


def draw(
    database: Database,
    names: Sequence[str],
    options: DrawOptions,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Draw:
    """The tasks of those names, with what was left out of each and its instances by id.

    Raises:
        UnknownNameError: no such benchmark, kind or corpus; the message lists the known ones.
        InputError: an option is not as it should be, or a task is named twice or none.
        BenchmarkError: a benchmark has no split for training, cannot be trained on or be held out, or its
            views give what they must not.
        IndexingError: a task has no instance, fewer than two classes, or one number alone.
    """
    options.check()
    check_schema(database)
    chosen = settings or read_settings()
    asked = find_tasks(database, names, chosen)
    named = [task.benchmark for task in asked if task.benchmark is not None]
    others = [
        open_benchmark(database, name, chosen)
        for name in dict.fromkeys(options.held_out)
        if name not in names
    ]
    said = progress or Silent()
    said.start("draw", len(asked))
    try:
        drawn = []
        for task in asked:
            drawn.append(_draw(database, task, [*named, *others], options))
            said.advance(1)
    finally:
        said.finish()
    require_trainable([one.task for one in drawn])
    return Draw(tuple(names), options, tuple(drawn))


def _draw(
    database: Database, asked: AskedTask, tests: Sequence[Benchmark], options: DrawOptions
) -> DrawnTask:
    """One task, in a transaction of its own, in which its tables are made and dropped."""
    with database.begin() as session:
        session.raise_memory()
        corpus_id = _find_corpus(session, asked)
        common = "labelled" if asked.objective != "triplets" else "triplets"
        own = "judged" if asked.kind is None else asked.kind.name
        blocks = Blocks(session, _list_values(asked, options, corpus_id), common, own)
        held = find_held(blocks, tests)
        if asked.objective == "triplets":
            drawn = draw_triplets(blocks, asked, corpus_id, options)
        else:
            drawn = draw_labelled(blocks, asked, options)
        blocks.drop()
    if not len(drawn.task.train):
        raise IndexingError(
            f"the task {asked.name} has no instance to train on: "
            + (
                ", ".join(f"{items} {reason}" for reason, items in drawn.left_out.items())
                or "the corpus has none"
            )
            + ". Load its training data, or leave it out"
        )
    require_apart(asked.name, "" if asked.benchmark is None else asked.benchmark.name, drawn.instances, held)
    return drawn


def _find_corpus(session: Session, asked: AskedTask) -> int:
    name = asked.corpus if asked.benchmark is None else asked.benchmark.corpus
    found = session.scalar(sa.select(corpora.c.corpus_id).where(corpora.c.name == name))
    if found is None:
        raise BenchmarkError(
            f"{asked.name} has no split for training in this database; load its corpus {name} first, with "
            "`pinakes load`."
        )
    return int(found)


def _list_values(asked: AskedTask, options: DrawOptions, corpus_id: int) -> dict[str, object]:
    """The values that the blocks name. Of five triplets two are hard (appendix A.2)."""
    hard = 2 * options.triplets_per_query // 5
    easy = options.triplets_per_query - hard
    # A query gives one triplet at least, and as many as it has easy negatives where papers are linked.
    linked = asked.kind is not None and asked.kind.drawing == "linked"
    least = min(easy, 3) if linked else 1
    return {
        "corpus_id": corpus_id,
        "seed": options.seed,
        "most_train": options.most,
        "most_validation": options.most_validation,
        "queries_train": -(-options.most // least),
        "queries_validation": -(-options.most_validation // least),
        "triplets": options.triplets_per_query,
        "dealt": options.triplets_per_query,
        "hard": hard,
        "easy": easy,
        "needs_target": int(asked.benchmark is None or asked.objective != "labels"),
        "needs_class": int(
            asked.objective == "classes" or (asked.objective == "labels" and asked.benchmark is None)
        ),
    }
