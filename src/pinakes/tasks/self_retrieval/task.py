"""Self-retrieval as a task: its views, its tables, and what does its steps."""

from collections.abc import Mapping
from typing import Final

from pinakes.schema import neighbour_overlaps, self_ranks, similarity_statistics, vector_maps
from pinakes.tasks.base import Task
from pinakes.tasks.self_retrieval.answers import answer
from pinakes.tasks.self_retrieval.choice import choose
from pinakes.tasks.self_retrieval.measures import name_measure
from pinakes.tasks.self_retrieval.scoring import prepare_resampling, prepare_scoring
from pinakes.tasks.self_retrieval.stored import select_deciding
from pinakes.workload.altered_reading import read_altered_texts
from pinakes.workload.altered_texts import list_columns

VIEWS: Final[Mapping[str, str]] = {
    "codes": "the kinds of altered texts, with their categories.",
    "selections": "the papers of each corpus and dataset that can be asked, with the loaded corpus.",
    "originals": "the papers that are asked about.",
    "neighbours": "their altered texts.",
    "samples": "which papers are drawn first.",
}


SELF_RETRIEVAL: Final = Task(
    name="self_retrieval",
    needs=("embed", "weigh"),
    answers=self_ranks,
    facts=(neighbour_overlaps, similarity_statistics, vector_maps),
    views=VIEWS,
    settings=("paper_template", "self_retrieval"),
    scored_view="neighbours",
    list_columns=list_columns,
    read=read_altered_texts,
    answer=answer,
    name_measure=name_measure,
    open_scoring=prepare_scoring,
    select_deciding=select_deciding,
    open_resampling=prepare_resampling,
    choose=choose,
    distance="cosine",
)
