"""What tests of extraction share: a corpus whose papers cite works, with labels and splits, as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.schema import (
    cited_references,
    corpora,
    papers,
    sections,
    sentences,
    summary_examples,
    summary_labels,
    summary_splits,
)

PRODUCER = "summaries 1 toy"
SPLITTER = "toy 1"
CORRECTED = "greedy rouge2 f rouge_score citing"
PUBLISHED = "greedy rouge2 f rouge zero"


@dataclass(frozen=True)
class Cited:
    """A work that a paper cites: its abstract, the numbers (from 1) of the relevant sentences, its sides."""

    query: str
    relevant: Sequence[int]
    by_paper: str = "test"
    by_example: str = "test"
    cited: str = "a context"
    published: Sequence[int] | None = None


World = Mapping[str, tuple[Sequence[Sequence[str]], Mapping[str, Cited]]]
"""source id of a paper -> the sentences of its sections, and what it cites by reference key"""

SMALL: World = {
    "p1": (
        [
            ["Neural networks rank papers.", "We thank everyone."],
            ["The weather is fine.", "Papers cite works."],
        ],
        {
            "r1": Cited("neural ranking of papers", [1], cited="Neural networks rank papers."),
            "r2": Cited("works that papers cite", [4, 1]),
        },
    ),
    "p2": (
        [["Graphs have nodes.", "Nodes have edges.", "Edges have weights."]],
        {"r1": Cited("weights of edges", [3], by_example="train"), "r3": Cited("nothing of it", [])},
    ),
    "p3": (
        [["Proteins fold.", "Folding takes time.", "Cells divide."]],
        {"r4": Cited("how proteins fold", [1, 2], by_paper="train", by_example="train")},
    ),
    "p4": (
        [["Stars shine.", "Planets orbit stars."]],
        {"r5": Cited("planets and their orbits", [2], by_paper="dev", by_example="dev")},
    ),
}


def add_world(
    database: Database, world: World = SMALL, corpus: str = "toy", producer: str = PRODUCER, first_id: int = 1
) -> None:
    """Write the world as a corpus of its own."""
    rows: dict[sa.Table, list[dict[str, Any]]] = {
        table: []
        for table in (
            *(papers, cited_references, sections, sentences),
            *(summary_examples, summary_labels, summary_splits),
        )
    }
    corpus_id = first_id
    references = sorted({key for _texts, cites in world.values() for key in cites})
    number = {key: first_id + place for place, key in enumerate(references)}
    for key in references:
        rows[cited_references].append(
            {"reference_id": number[key], "corpus_id": corpus_id, "reference_key": key}
        )
    for place, (source_id, (texts, cites)) in enumerate(world.items()):
        paper_id = first_id + place
        rows[papers].append(
            {"paper_id": paper_id, "corpus_id": corpus_id, "source_id": source_id, "batch_id": 1}
        )
        places = _add_document(rows, paper_id, texts)
        for key, one in cites.items():
            _add_example(rows, {"paper_id": paper_id, "reference_id": number[key]}, producer, one, places)
    with database.begin() as session:
        told = dict.fromkeys(("title", "version", "licence", "source"), "toy")
        session.execute(sa.insert(corpora).values(corpus_id=corpus_id, name=corpus, **told))
        for table, found in rows.items():
            if found:
                names = list(dict.fromkeys(name for row in found for name in row))
                listed = [{name: row.get(name) for name in names} for row in found]
                session.insert(table, pa.Table.from_pylist(listed))


def _add_document(
    rows: dict[sa.Table, list[dict[str, Any]]], paper_id: int, texts: Sequence[Sequence[str]]
) -> list[tuple[int, int]]:
    places = []
    for section, part in enumerate(texts, start=1):
        rows[sections].append({"paper_id": paper_id, "section_number": section, "text": " ".join(part)})
        for position, text in enumerate(part, start=1):
            places.append((section, position))
            rows[sentences].append(
                {
                    "paper_id": paper_id,
                    "section_number": section,
                    "position": position,
                    "text": text,
                    "producer": SPLITTER,
                }
            )
    return places


def _add_example(
    rows: dict[sa.Table, list[dict[str, Any]]],
    key: dict[str, Any],
    producer: str,
    one: Cited,
    places: Sequence[tuple[int, int]],
) -> None:
    key = {**key, "producer": producer}
    rows[summary_examples].append(
        {
            **key,
            "query": one.query,
            "query_from": "reference",
            "cited": one.cited,
            "mentions": 1,
            "splitter": SPLITTER,
            "sentences": len(places),
            "text_digest": "00000000-0000-0000-0000-000000000000",
        }
    )
    for labeller, relevant in ((CORRECTED, one.relevant), (PUBLISHED, one.published or one.relevant)):
        for step, place in enumerate(relevant, start=1):
            section, position = places[place - 1]
            rows[summary_labels].append(
                {**key, "labeller": labeller, "section_number": section, "position": position, "step": step}
            )
    for scheme, part in (("by_paper", one.by_paper), ("by_example", one.by_example)):
        rows[summary_splits].append({**key, "scheme": scheme, "part": part})
