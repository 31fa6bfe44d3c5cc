"""Examples of query-focused summarisation brought up to date: sentences, examples, labels, splits.

Source: Ramirez-Orta et al., ROUGE-SciQFS. What is read and made when is in docs/decisions/0025.
"""

import time
from dataclasses import replace

import numpy as np

from pinakes.database import Database
from pinakes.load.corpus import find_corpus
from pinakes.progress import Progress, Silent
from pinakes.schema import check_schema
from pinakes.texts.summaries.counting import count_examples, count_labels, count_splits
from pinakes.texts.summaries.examples import list_papers_to_split, refuse_examples, renew_examples
from pinakes.texts.summaries.label_store import make_labels
from pinakes.texts.summaries.labellers import Labeller
from pinakes.texts.summaries.request import (
    SummariesMade,
    SummaryRequest,
    check_request,
    name_producer,
)
from pinakes.texts.summaries.sections import split_papers
from pinakes.texts.summaries.split_store import renew_splits
from pinakes.texts.summaries.splitters import Splitter, find_splitter


def derive_summaries(
    database: Database, request: SummaryRequest, *, progress: Progress | None = None
) -> SummariesMade:
    """Make the examples that are missing or of something else now, their labels and splits; what there is.

    Each pair of a paper and a work that it cites is an example or absent for a reason. Labels of labellers
    that are not asked for stay while their example does. Stopped and started again, it goes on.

    Raises:
        UnknownNameError: no such corpus or splitter.
        InputError: a labeller or a number is none, or what splits is not installed.
        PinakesError: a process was killed.
    """
    started = time.monotonic()
    labellers = check_request(request)
    splitter = find_splitter(request.splitter)
    producer = name_producer(request, splitter, labellers[0])
    shown = progress or Silent()
    check_schema(database)
    with database.read() as session:
        corpus_id = find_corpus(session, request.corpus)
    split = 0
    if splitter.producer is not None:
        papers = np.asarray(list_papers_to_split(database, corpus_id), dtype=np.int64)
        split = split_papers(database, splitter, papers, jobs=request.jobs, progress=shown)
    renewed = renew_examples(database, corpus_id, producer, splitter.producer, request.min_sentences)
    made = _label(database, corpus_id, producer, splitter, labellers, request, shown)
    renew_splits(database, corpus_id, producer, request)
    counted = _count(database, corpus_id, producer, request)
    return replace(
        counted,
        mentions=renewed.mentions,
        mentions_without_context=renewed.without_context,
        split_papers=split,
        made_examples=renewed.made,
        removed_examples=renewed.removed,
        made_labellings=made,
        elapsed_s=time.monotonic() - started,
    )


def _label(
    database: Database,
    corpus_id: int,
    producer: str,
    splitter: Splitter,
    labellers: tuple[Labeller, ...],
    request: SummaryRequest,
    progress: Progress,
) -> int:
    """Make the labels, of the first labeller before the others where it says which examples there are."""
    asked = [labellers[:1], labellers[1:]] if request.min_positives else [labellers]
    made = 0
    for together in filter(None, asked):
        made += make_labels(
            database, corpus_id, producer, splitter, together, jobs=request.jobs, progress=progress
        )
        if request.min_positives:
            refuse_examples(database, corpus_id, producer, labellers[0].name, request.min_positives)
    return made


def _count(database: Database, corpus_id: int, producer: str, request: SummaryRequest) -> SummariesMade:
    with database.read() as session:
        examples = count_examples(session, corpus_id, producer)
        return SummariesMade(
            corpus=request.corpus,
            producer=producer,
            pairs=examples["examples"] + sum(examples["absent"].values()),
            mentions=0,
            mentions_without_context=0,
            labellers=count_labels(session, corpus_id, producer),
            splits=count_splits(session, request.corpus, corpus_id, producer),
            **examples,
        )
