"""What decides the scores of a run: digests of judgments, views, measures and the code that scores.

They are read from what the views give, not from counters: what somebody changed by SQL is seen too.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.queries.definition import Benchmark
from pinakes.schema import corpora, evaluations, paper_removals
from pinakes.tasks.base import find_task
from pinakes.version import VERSION

BETWEEN: Final = sa.literal_column("CHR(31)", sa.Text)
_NOTHING: Final = sa.literal_column("CHR(30)", sa.Text)
_SCORING: Final = ("evaluators", "tasks", "workload")
"""the packages whose modules make scores of answers"""


@dataclass(frozen=True, slots=True)
class State:
    """What decides the scores of every run of a benchmark now, as the columns of `evaluations` say it."""

    code_version: str
    code_digest: str
    view_digest: str
    judgments_digest: str
    judgments: int
    queries_digest: str
    papers_removed: int
    measures_digest: str


DATA: Final = tuple(name for name in State.__dataclass_fields__ if name != "measures_digest")
"""the columns of a state that decide the value of each single measure"""


def read_state(database: Database, benchmark: Benchmark, measures: Sequence[str]) -> State:
    """What decides the scores of the benchmark's runs by these measures now.

    Raises `UnknownNameError` where the benchmark's task has no such measure.
    """
    task = find_task(benchmark)
    names = sorted(set(map(task.name_measure, measures)))
    deciding = task.select_deciding(benchmark)
    parts = [deciding.judged, *deciding.others]
    with database.read() as session:
        (count, judged), *others, (removed, _) = _digest_parts(session, parts, _count_removed(benchmark))
    return State(
        code_version=VERSION,
        code_digest=digest_code(),
        view_digest=benchmark.digest,
        judgments_digest=_digest([str(count), judged]),
        judgments=count,
        queries_digest=_digest(str(value) for part in others for value in part),
        papers_removed=removed,
        measures_digest=_digest(names),
    )


def find_current(
    database: Database, benchmark: str, runs: Iterable[Mapping[str, Any]], state: State
) -> set[int]:
    """The ids of those runs whose last evaluation was of this state.

    An evaluation by other measures that was of the same data in between changes nothing.
    """
    table = evaluations.c
    columns = [table[name] for name in asdict(state)]
    last = sa.func.max(table.evaluation_id).label("last")
    query = sa.select(table.run_id, table.run_digest, last, *columns).where(
        table.benchmark == benchmark, table.run_id.is_not(None)
    )
    same: dict[tuple[int, str], int] = {}
    other: dict[tuple[int, str], int] = {}
    with database.read() as session:
        found = session.rows(query.group_by(table.run_id, table.run_digest, *columns))
    for row in found:
        key = (row["run_id"], row["run_digest"])
        if any(row[name] != getattr(state, name) for name in DATA):
            other[key] = max(other.get(key, 0), row["last"])
        elif row["measures_digest"] == state.measures_digest:
            same[key] = max(same.get(key, 0), row["last"])
    keys = [(row["run_id"], row["run_digest"]) for row in runs]
    return {key[0] for key in keys if same.get(key, 0) > other.get(key, 0)}


def digest_judgments(session: Session, judged: sa.Select[Any]) -> str:
    """The digest of judgments as `State.judgments_digest` has it."""
    ((count, digest),) = _digest_parts(session, [judged])
    return _digest([str(count), digest])


def _digest_parts(
    session: Session, parts: Sequence[sa.Select[Any]], more: sa.Select[Any] | None = None
) -> list[tuple[int, str]]:
    """The number of rows and a digest of each part, whatever the order of its rows; and the number in `more`.

    60 bits of each row's md5 are summed: one text of SQL, the same digits on both databases.
    """
    selects: list[Any] = []
    for number, part in enumerate(parts):
        rows = part.subquery(f"part_{number}")
        texts = [sa.func.coalesce(sa.cast(column, sa.Text), _NOTHING) for column in rows.c]
        row: sa.ColumnElement[str] = texts[0]
        for text in texts[1:]:
            row = row.concat(BETWEEN).concat(text)
        digits = sa.literal_column("'0x'", sa.Text).concat(sa.func.substring(sa.func.md5(row), 1, 15))
        total = sa.func.coalesce(sa.func.sum(sa.cast(digits, sa.BigInteger)), 0)
        selects.append(
            sa.select(
                sa.literal_column(str(number), sa.Integer).label("part"),
                sa.func.count().label("count"),
                sa.cast(total, sa.Text).label("total"),
            ).select_from(rows)
        )
    if more is not None:
        counted = sa.literal_column(str(len(parts)), sa.Integer).label("part")
        nothing = sa.literal_column("''", sa.Text)
        selects = [*selects, sa.select(counted, more.scalar_subquery(), nothing)]
    found = session.rows(sa.union_all(*selects).order_by("part"))
    return [(int(row["count"]), str(row["total"])) for row in found]


def _count_removed(benchmark: Benchmark) -> sa.Select[Any]:
    """How many papers of the benchmark's corpus, or of all where it names none, were removed so far."""
    query = sa.select(sa.func.coalesce(sa.func.sum(paper_removals.c.papers), 0))
    if benchmark.corpus:
        of_corpus = sa.select(corpora.c.corpus_id).where(corpora.c.name == benchmark.corpus)
        query = query.where(paper_removals.c.corpus_id.in_(of_corpus))
    return query


@cache
def digest_code() -> str:
    """sha256 over the modules that make scores of answers."""
    digest = hashlib.sha256()
    for package in _SCORING:
        for path, file in _list_modules(files(f"pinakes.{package}"), package):
            digest.update(f"{path}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _list_modules(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        name = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _list_modules(entry, name)
        elif entry.name.endswith((".py", ".sql")):
            yield name, entry


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
