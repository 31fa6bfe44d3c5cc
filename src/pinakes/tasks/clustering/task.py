"""Clustering as a task: signatures grouped by person, with a system's vectors of their papers and all else.

The way is S2AND's, with scikit-learn's trees (docs/decisions/0022). Each dataset is learnt and clustered by
itself.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pinakes.database import Database
from pinakes.evaluators.bcubed import measure_f1
from pinakes.indexers.disambiguation.disambiguate import TRAIN_PAIRS, Blocked, Clustering, disambiguate
from pinakes.indexers.disambiguation.signatures import SignedPapers
from pinakes.progress import Progress
from pinakes.schema import cluster_assignments, clusterings
from pinakes.systems.base import Embedded, System
from pinakes.tasks.base import Answers, Task
from pinakes.tasks.clustering.scoring import name_measure, open_scoring, select_deciding
from pinakes.workload.signatures import VIEWS, SignedTexts, find_seed, list_columns, read_signatures

NAME: Final = "clustering"


def answer(database: Database, system: System, texts: SignedTexts, progress: Progress) -> Answers:
    """The clusters of the test blocks as rows of `cluster_assignments`, and how they came about."""
    papers = _join_vectors(texts, system.embed(database, texts, progress))
    most = int(texts.benchmark.probe.get("train_pairs", TRAIN_PAIRS))
    datasets = list(dict.fromkeys(texts.rows["dataset"]))
    progress.start(f"cluster {texts.benchmark.name} by {system.name}", len(datasets))
    try:
        for dataset, members in _list_members(texts, datasets):
            blocked = _cut(texts, papers, dataset, members)
            found = disambiguate(blocked, measure_f1, find_seed(texts.benchmark), most)
            yield cluster_assignments, _list_clusters(texts, dataset, members, found)
            yield clusterings, _describe(dataset, blocked, found)
            progress.advance(1)
    finally:
        progress.finish()


def _join_vectors(texts: SignedTexts, embedded: Embedded) -> SignedPapers:
    count = len(texts.papers)
    vectors = np.zeros((count, embedded.vectors.shape[1]), dtype=np.float32)
    has_vector = np.zeros(count, dtype=bool)
    vectors[embedded.rows], has_vector[embedded.rows] = embedded.vectors, True
    return SignedPapers(texts.papers, vectors, has_vector)


def _list_members(texts: SignedTexts, datasets: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    members: dict[str, list[int]] = {dataset: [] for dataset in datasets}
    for number, dataset in enumerate(texts.rows["dataset"]):
        members[dataset].append(number)
    yield from members.items()


def _cut(texts: SignedTexts, papers: SignedPapers, dataset: str, members: Sequence[int]) -> Blocked:
    """One dataset's signatures, and the papers of all."""

    def take(column: str) -> list[Any]:
        return [texts.rows[column][number] for number in members]

    signatures = [texts.signatures[number] for number in members]
    return Blocked(signatures, papers, take("block"), texts.splits[dataset], take("person"))


def _list_clusters(texts: SignedTexts, dataset: str, members: Sequence[int], found: Clustering) -> pa.Table:
    places = sorted(found.clusters)
    return pa.table(
        {
            "query_id": pa.array([texts.rows["query_id"][members[place]] for place in places], pa.string()),
            "cluster": pa.array([f"{dataset}/{found.clusters[place]}" for place in places], pa.string()),
        }
    )


def _describe(dataset: str, blocked: Blocked, found: Clustering) -> pa.Table:
    """The row of `clusterings`."""
    owners = sorted({signature.paper for signature in blocked.signatures})
    numbers = {
        **{f"{split}_blocks": len(blocked.list_members(split)) for split in ("train", "dev", "test")},
        "train_pairs": found.train_pairs,
        "same_pairs": found.same_pairs,
        "clusters": len(set(found.clusters.values())),
        "papers": len(owners),
        "papers_without_vector": int((~blocked.papers.has_vector[owners]).sum()),
    }
    columns = {name: pa.array([number], pa.int32()) for name, number in numbers.items()}
    measured = {"threshold": found.threshold, "dev_f1": found.dev_quality}
    values = {name: pa.array([value], pa.float64()) for name, value in measured.items()}
    return pa.table({"dataset": pa.array([dataset], pa.string()), **columns, **values})


CLUSTERING: Final = Task(
    name=NAME,
    needs=("embed",),
    answers=cluster_assignments,
    facts=(clusterings,),
    views=VIEWS,
    settings=("paper_template",),
    scored_view="signatures",
    list_columns=list_columns,
    read=read_signatures,
    answer=answer,
    name_measure=name_measure,
    open_scoring=open_scoring,
    select_deciding=select_deciding,
)
