"""Small corpora to draw from, written straight into the tables: small enough to be worked out by hand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.schema import (
    author_signatures,
    authors,
    authorships,
    benchmark_queries,
    citations,
    cited_references,
    corpora,
    judgments,
    labels,
    next_id,
    paper_fields,
    papers,
)
from pinakes.train.data import DrawnTask

BATCH = 1


def insert(database: Database, table: sa.Table, rows: Iterable[Mapping[str, Any]]) -> None:
    listed = [dict(row) for row in rows]
    with database.begin() as session:
        if listed:
            session.execute(sa.insert(table).values(listed))


class World:
    """A corpus being written; `reverse` gives its papers their ids in the opposite order."""

    def __init__(
        self, database: Database, corpus: str, described: Mapping[str, Any], *, reverse: bool = False
    ) -> None:
        """`described` is source id -> columns of the paper; a text means the title."""
        self.database, self.corpus = database, corpus
        with database.read() as session:
            self.corpus_id = next_id(session, corpora.c.corpus_id)
            first = next_id(session, papers.c.paper_id)
        row = {"corpus_id": self.corpus_id, "name": corpus, "title": corpus, "version": "1"}
        insert(database, corpora, [{**row, "licence": "none", "source": "tests"}])
        order = sorted(described, reverse=reverse)
        self.ids = {source_id: first + place for place, source_id in enumerate(order)}
        self.names = {paper_id: source_id for source_id, paper_id in self.ids.items()}
        empty = {"title": None, "abstract": None, "year": None, "venue": None, "citation_count": None}
        insert(
            database,
            papers,
            (
                {
                    **empty,
                    **(columns if isinstance(columns, dict) else {"title": columns}),
                    "paper_id": self.ids[source_id],
                    "source_id": source_id,
                    "corpus_id": self.corpus_id,
                    "batch_id": BATCH,
                }
                for source_id, columns in described.items()
            ),
        )

    def cite(self, cited: Mapping[str, Sequence[str]]) -> None:
        """Citing paper -> what it mentions, once each time."""
        with self.database.read() as session:
            reference_id = next_id(session, cited_references.c.reference_id)
            citation_id = next_id(session, citations.c.citation_id)
        works = sorted({one for mentioned in cited.values() for one in mentioned})
        numbers = {work: reference_id + place for place, work in enumerate(works)}
        insert(
            self.database,
            cited_references,
            (
                {
                    "reference_id": number,
                    "corpus_id": self.corpus_id,
                    "reference_key": work,
                    "paper_id": self.ids[work],
                }
                for work, number in numbers.items()
            ),
        )
        mentions = [(citing, work) for citing, mentioned in cited.items() for work in mentioned]
        insert(
            self.database,
            citations,
            (
                {
                    "citation_id": citation_id + place,
                    "citing_paper_id": self.ids[citing],
                    "reference_id": numbers[work],
                    "batch_id": BATCH,
                }
                for place, (citing, work) in enumerate(mentions)
            ),
        )

    def write_authors(self, wrote: Mapping[str, Sequence[str]]) -> None:
        """Paper -> its authors."""
        known = sorted({one for listed in wrote.values() for one in listed})
        with self.database.read() as session:
            first = next_id(session, authors.c.author_id)
        numbers = {author: first + place for place, author in enumerate(known)}
        insert(
            self.database,
            authors,
            (
                {"author_id": number, "corpus_id": self.corpus_id, "source_id": author, "name": author}
                for author, number in numbers.items()
            ),
        )
        insert(
            self.database,
            authorships,
            (
                {"paper_id": self.ids[paper], "position": position, "author_id": numbers[author]}
                for paper, listed in wrote.items()
                for position, author in enumerate(listed, start=1)
            ),
        )

    def sign(self, signed: Iterable[tuple[str, str, str, str]]) -> None:
        """Signatures: paper, cluster, block, split."""
        insert(
            self.database,
            author_signatures,
            (
                {
                    "paper_id": self.ids[paper],
                    "dataset": "",
                    "signature_id": str(number),
                    "number": number,
                    "position": 1,
                    "block": block,
                    "cluster": cluster,
                    "split": split,
                    "batch_id": BATCH,
                }
                for number, (paper, cluster, block, split) in enumerate(signed, start=1)
            ),
        )

    def write_fields(self, assigned: Iterable[tuple[str, str, str]]) -> None:
        """Paper, classification, field."""
        rows = [
            {"paper_id": self.ids[paper], "assigned_by": by, "field": field} for paper, by, field in assigned
        ]
        insert(self.database, paper_fields, rows)

    def label(self, task: str, split: str, given: Mapping[str, Any]) -> None:
        """Paper -> its class, its classes, or its number."""
        rows = []
        for position, (paper, stated) in enumerate(given.items(), start=1):
            for one in stated if isinstance(stated, list) else [stated]:
                is_number = not isinstance(one, str)
                rows.append(
                    {
                        "task": task,
                        "paper_id": self.ids[paper],
                        "split": split,
                        "label": "value" if is_number else one,
                        "value": one if is_number else None,
                        "quality": "gold",
                        "position": position,
                        "producer": "tests",
                    }
                )
        insert(self.database, labels, rows)

    def judge(
        self, split: str, field: str, graded: Mapping[str, Mapping[str, int]], *, old: Sequence[str] = ()
    ) -> None:
        """Query -> paper -> grade; a query is called as the paper that it is, or is a text.

        `old` are queries that are there already.
        """
        insert(
            self.database,
            benchmark_queries,
            (
                {
                    "corpus_id": self.corpus_id,
                    "query_id": query,
                    "paper_id": self.ids.get(query),
                    "text": None if query in self.ids else f"text of {query}",
                    "field": field,
                    "batch_id": BATCH,
                }
                for query in graded
                if query not in old
            ),
        )
        insert(
            self.database,
            judgments,
            (
                {
                    "corpus_id": self.corpus_id,
                    "query_id": query,
                    "paper_id": self.ids[paper],
                    "assessor": "published",
                    "split": split,
                    "grade": grade,
                    "batch_id": BATCH,
                }
                for query, grades in graded.items()
                for paper, grade in grades.items()
            ),
        )

    def read_triplets(self, drawn: DrawnTask) -> list[tuple[str, str, str]]:
        """All triplets of a draw by the source's ids, both sides, in order."""
        listed = []
        for row in drawn.instances.to_pylist():
            query = row["query_id"] or self.names[row["query_paper_id"]]
            listed.append((query, self.names[row["positive_paper_id"]], self.names[row["negative_paper_id"]]))
        return listed

    def read_labelled(self, drawn: DrawnTask) -> dict[str, Any]:
        """Paper -> its label or number, of both sides."""
        return {
            self.names[row["query_paper_id"]]: row["label"] if row["value"] is None else row["value"]
            for row in drawn.instances.to_pylist()
        }
