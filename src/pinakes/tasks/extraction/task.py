"""Extraction as a task: its views, its tables, and what does its steps."""

from collections.abc import Mapping
from typing import Final

from pinakes.schema import sentence_scores, trained_models
from pinakes.tasks.base import Task
from pinakes.tasks.extraction.answers import answer
from pinakes.tasks.extraction.choice import choose
from pinakes.tasks.extraction.measures import name_measure, prefers_lower
from pinakes.tasks.extraction.scoring import prepare_resampling, prepare_scoring, select_deciding
from pinakes.workload.summaries import list_columns, read_summaries

VIEWS: Final[Mapping[str, str]] = {
    "modes": "which split, which labels and how many sentences each mode asks for.",
    "examples": "the examples of every corpus, by the producer that made them.",
    "document_sentences": "the sentences of their documents.",
    "labels": "the sentences that are relevant, by who says so.",
    "splits": "on which side of each split an example is.",
}


SENTENCE_EXTRACTION: Final = Task(
    name="sentence_extraction",
    needs=("extract",),
    answers=sentence_scores,
    facts=(trained_models,),
    views=VIEWS,
    settings=(),
    scored_view="examples",
    list_columns=list_columns,
    read=read_summaries,
    answer=answer,
    name_measure=name_measure,
    open_scoring=prepare_scoring,
    select_deciding=select_deciding,
    open_resampling=prepare_resampling,
    choose=choose,
    prefers_lower=prefers_lower,
)
