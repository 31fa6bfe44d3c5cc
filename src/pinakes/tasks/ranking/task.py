"""Ranking as a task: its views, its table, and what does its steps."""

from collections.abc import Mapping
from typing import Final

from pinakes.evaluators.registry import parse_measure
from pinakes.queries.relations import relation
from pinakes.queries.tasks import RANKING as NAME
from pinakes.schema import hits
from pinakes.tasks.base import Task
from pinakes.tasks.hits.expected import find_unjudged, select_deciding
from pinakes.tasks.hits.scoring import prepare_scoring
from pinakes.tasks.ranking.answers import answer
from pinakes.workload.workload import read_workload

VIEWS: Final[Mapping[str, str]] = {
    "queries": "the queries, with the columns that reports break down by.",
    "candidates": "the papers that a system ranks: for each query, or for all of them.",
    "judgments": "the grades that rankings are scored by.",
}


RANKING: Final = Task(
    name=NAME,
    needs=("rank",),
    answers=hits,
    views=VIEWS,
    settings=("pool", "query_template", "paper_template", "grades"),
    scored_view="queries",
    list_columns=lambda benchmark, view: relation(benchmark, view).columns.keys(),
    read=read_workload,
    answer=answer,
    name_measure=lambda name: parse_measure(name).name,
    open_scoring=prepare_scoring,
    select_deciding=select_deciding,
    find_unjudged=find_unjudged,
)
