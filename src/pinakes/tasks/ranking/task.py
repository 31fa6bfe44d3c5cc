"""Ranking as a task: its views, its table, and what does its steps."""

from collections.abc import Mapping, Sequence
from typing import Final

from pinakes.evaluators.registry import parse_measure
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import relation
from pinakes.queries.tasks import RANKING as NAME
from pinakes.schema import hits
from pinakes.tasks.base import Task
from pinakes.tasks.ranking.answers import answer
from pinakes.tasks.ranking.scoring import prepare_scoring
from pinakes.workload.workload import read_workload

VIEWS: Final[Mapping[str, str]] = {
    "queries": "the queries, with the columns that reports break down by.",
    "candidates": "the papers that a system ranks: for each query, or for all of them.",
    "judgments": "the grades that rankings are scored by.",
}


def _list_columns(benchmark: Benchmark, view: str) -> Sequence[str]:
    return relation(benchmark, view).columns.keys()


def _name_measure(name: str) -> str:
    return parse_measure(name).name


RANKING: Final = Task(
    name=NAME,
    needs="rank",
    answers=hits,
    views=VIEWS,
    settings=("pool", "query_template", "paper_template", "grades"),
    scored_view="queries",
    list_columns=_list_columns,
    read=read_workload,
    answer=answer,
    name_measure=_name_measure,
    open_scoring=prepare_scoring,
)
