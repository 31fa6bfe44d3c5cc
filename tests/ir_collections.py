"""Collections of our own in ir_datasets, as a user would define them: no download, no network."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocPairs, BaseDocs, BaseQrels, BaseQueries, BaseScoredDocs


class Part(NamedTuple):
    title: str
    text: str


class FullDoc(NamedTuple):
    """As CORD-19 with full texts has them."""

    doc_id: str
    title: str
    doi: str
    date: str
    abstract: str
    body: tuple[Part, ...]


class PlainDoc(NamedTuple):
    doc_id: str
    text: str


class CodeDoc(NamedTuple):
    """Without any of the usual fields; the package knows its text."""

    doc_id: str
    repo: str
    code: str
    tags: tuple[str, ...]

    def default_text(self) -> str:
        return f"{self.repo} {self.code}"


class Topic(NamedTuple):
    query_id: str
    title: str
    description: str
    narrative: str
    stance: str


class LinkedTopic(NamedTuple):
    query_id: str
    doc_id: str
    url: str


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: Any
    iteration: str


class SubtopicQrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    subtopic_id: str


class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class Pair(NamedTuple):
    query_id: str
    doc_id_a: str
    doc_id_b: str


def _define(base: type, kind: str, items: Iterable[Any]) -> Any:
    """A handler of the package that gives the items, which may be changed in place."""
    names = {f"{kind}_iter": lambda _self: iter(items), f"{kind}_cls": lambda _self: tuple}
    return type(f"Own{kind.title()}", (base,), names)()


def register(name: str, **held: Iterable[Any]) -> None:
    """Define a dataset with what it holds: docs, queries, qrels, scoreddocs, docpairs."""
    bases = {
        "docs": BaseDocs,
        "queries": BaseQueries,
        "qrels": BaseQrels,
        "scoreddocs": BaseScoredDocs,
        "docpairs": BaseDocPairs,
    }
    ir_datasets.registry._registered.pop(name, None)
    ir_datasets.registry.register(
        name, Dataset(*(_define(bases[kind], kind, items) for kind, items in held.items()))
    )


DOCS = [
    FullDoc(
        "d1",
        "Graphs",
        "10.1/A",
        "2020-01-01",
        "Citation graphs.",
        (Part("One", "First."), Part("", "Second.")),
    ),
    FullDoc("d2", "Models", "", "", "Graph models.", ()),
    PlainDoc("d3", "A plain text."),
    CodeDoc("d4", "pinakes", "def load(): ...", ("python",)),
    PlainDoc("d5", ""),
]
TOPICS = [
    Topic("q1", "graphs", "Which graphs?", "Graphs of citations.", "PRO"),
    Topic("q2", "models", "", "", ""),
    LinkedTopic("q3", "d2", "https://example.org"),
]
QRELS = [Qrel("q1", "d1", 2, "0"), Qrel("q1", "d2", 0, "1"), Qrel("q2", "d2", 1, "0")]
SCORED = [Scored("q1", "d1", 2.5), Scored("q1", "d3", 1.5)]
PAIRS = [Pair("q1", "d1", "d2")]


def register_toy(name: str = "toy") -> None:
    """The dataset `toy`: 5 documents, 3 queries, 3 judgments, 2 scored documents, a pair."""
    register(name, docs=DOCS, queries=TOPICS, qrels=QRELS, scoreddocs=SCORED, docpairs=PAIRS)
