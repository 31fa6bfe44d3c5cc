"""A toy task, as a module of `pinakes.tasks` would be: a system gives each paper a label.

It has a view, a table and a measure of its own, and touches nothing of the ranking task.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import UnknownNameError
from pinakes.evaluators.aggregate import Aggregation, aggregate
from pinakes.progress import Progress
from pinakes.queries.definition import Benchmark
from pinakes.records import Score
from pinakes.schema.base import key_column, required
from pinakes.tasks.base import Answers, Deciding, ScoreRun, Task

ANSWERS = sa.Table(
    "toy_labels",
    sa.MetaData(),
    key_column("run_id", "runs.run_id"),
    key_column("query_id", "the source's id of the paper", sa.Text),
    required("label", sa.Text, "what the system says of it"),
)
MEASURES = ("Accuracy", "Errors")


@dataclass(frozen=True)
class Examples:
    """The papers that are to be labelled; `pinakes.tasks.base.Questions`."""

    benchmark: Benchmark
    titles: dict[str, str]
    digest: str
    paper_template: str
    query_template: None = None
    candidates_without_text: int = 0

    @property
    def queries_expected(self) -> int:
        return len(self.titles)

    @property
    def candidates_expected(self) -> int:
        return len(self.titles)


class Labeller(Protocol):
    """What the task's systems can do besides what every system can."""

    def label(self, title: str) -> str | None: ...


def view(benchmark: Benchmark) -> sa.TableClause:
    names = ("query_id", "title", "label", *benchmark.group_by)
    return sa.table("examples", *map(sa.column, names), schema=benchmark.name)


def read_rows(database: Database, benchmark: Benchmark) -> list[dict[str, str]]:
    examples = view(benchmark)
    with database.read() as session:
        return session.rows(sa.select(*examples.c).order_by(examples.c.query_id))


def read(database: Database, benchmark: Benchmark, _query: str, paper_template: str) -> Examples:
    titles = {row["query_id"]: row["title"] for row in read_rows(database, benchmark)}
    digest = hashlib.sha256(repr(sorted(titles.items())).encode()).hexdigest()
    return Examples(benchmark, titles, digest, paper_template)


def answer(_database: Database, system: Labeller, examples: Examples, _progress: Progress) -> Answers:
    for query_id, title in examples.titles.items():
        label = system.label(title)
        if label is not None:
            yield ANSWERS, pa.table({"query_id": [query_id], "label": [label]})


def name_measure(name: str) -> str:
    if name not in MEASURES:
        raise UnknownNameError("measure", name, list(MEASURES))
    return name


def open_scoring(database: Database, benchmark: Benchmark, names: Sequence[str]) -> ScoreRun:
    measures = list(map(name_measure, names))
    rows = read_rows(database, benchmark)
    attributes = {row["query_id"]: {name: row[name] for name in benchmark.group_by} for row in rows}

    def score(run_id: int) -> list[Score]:
        with database.read() as session:
            found = session.rows(sa.select(ANSWERS).where(ANSWERS.c.run_id == run_id))
        labels = {row["query_id"]: row["label"] for row in found}
        per_query = [
            Score(
                measure,
                "all",
                row["query_id"],
                float((labels.get(row["query_id"]) == row["label"]) is (measure == "Accuracy")),
                1,
                int(row["query_id"] in labels),
            )
            for measure in measures
            for row in rows
        ]
        rule = Aggregation(group_by=benchmark.group_by)
        return [*per_query, *aggregate(per_query, attributes, rule, lambda name: name == "Errors")]

    return score


def select_deciding(benchmark: Benchmark) -> Deciding:
    examples = view(benchmark)
    labels = sa.select(examples.c.query_id, sa.literal("").label("item"), examples.c.label.label("value"))
    return Deciding(labels, [sa.select(*examples.c)], "labels")


TOY = Task(
    name="toy",
    needs=("label",),
    answers=ANSWERS,
    views={"examples": "the papers, with their labels."},
    settings=("paper_template",),
    scored_view="examples",
    list_columns=lambda benchmark, _view: view(benchmark).c.keys(),
    read=read,
    answer=answer,
    name_measure=name_measure,
    open_scoring=open_scoring,
    select_deciding=select_deciding,
)
