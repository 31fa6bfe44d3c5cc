"""What tests of self-retrieval share: corpora and altered texts as rows, a system that counts letters."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from pinakes.database import Database
from pinakes.options import NoOptions
from pinakes.progress import Progress
from pinakes.systems.base import Embedded, System, SystemDescription
from pinakes.workload.paper_texts import PaperTexts

PRODUCER = "neighbours 1 toy seed=1"
PUBLISHED = "neighbours 1 as-published toy seed=1"
Paper = tuple[str, str | None, str | None]
"""source id, title, abstract"""
Variant = tuple[str, str, str | None, str | None]
"""code, source id, title, abstract"""

PAPERS: list[Paper] = [("p1", "x", "xx"), ("p2", "y", "yy"), ("p3", "xxy", "yyyyyyyy")]
"""counted as letters x and y: (3, 0), (0, 3), (2, 9)"""
VARIANTS: list[Variant] = [
    ("TNNU_A", "p1", "x", "xx"),  # LL-HS: p1's own text, (1, 2) of p2, and one without a letter
    ("TNNU_A", "p2", "x", "yy"),
    ("TNNU_A", "p3", "?", None),
    ("T_ARot", "p1", "y", None),  # LL-PS: (0, 1)
    ("TDelNN_A", "p1", None, "xx"),  # LO-HS: (2, 0)
    ("T_ADelQ1", "p2", "", "y"),  # LO-PS: (0, 1)
    ("mine", "p3", "xxy", "yyyyyyyy"),
]


class Letters(System):
    """Gives a text the vector of how many x and y it has; none of a text without either."""

    can: ClassVar[frozenset[str]] = frozenset({"embed"})
    own_options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, letters: str = "xy") -> None:
        self.name, self.letters = "letters", letters
        self.spoilt = False

    def describe(self, database: Database, workload: Any) -> SystemDescription:
        return SystemDescription({"letters": self.letters}, "cpu")

    def embed(self, database: Database, texts: PaperTexts, progress: Progress) -> Embedded:
        with database.read() as session:
            found = session.fetch_arrow(texts.select_paper_texts())
        told = dict(zip(found["paper_id"].to_pylist(), found["text"].to_pylist(), strict=True))
        counts = [
            [told[paper].count(letter) for letter in self.letters] for paper in texts.paper_ids.tolist()
        ]
        vectors = np.array(counts, dtype=np.float32).reshape(-1, len(self.letters))
        rows = np.flatnonzero(vectors.any(axis=1))
        if self.spoilt:
            vectors[rows[-1], 0] = np.nan
        return Embedded(rows, vectors[rows])


def write_corpus(
    database: Database,
    name: str,
    papers: Sequence[Paper],
    *,
    first: int = 1,
    venue: str = "",
    year: int = 2018,
) -> None:
    """A loaded corpus of these papers, whose ids are `first` and those that follow."""
    with database.begin() as session:
        number = 1 + int(session.scalar("SELECT COUNT(*) FROM corpora"))
        session.execute(
            "INSERT INTO corpora (corpus_id, name, title, version, licence, source) "
            "VALUES (:number, :name, '', '', '', '')",
            {"number": number, "name": name},
        )
        for place, (source_id, title, abstract) in enumerate(papers):
            session.execute(
                "INSERT INTO papers (paper_id, corpus_id, source_id, title, abstract, year, venue, batch_id) "
                "VALUES (:paper, :corpus, :source, :title, :abstract, :year, :venue, 1)",
                {
                    "paper": first + place,
                    "corpus": number,
                    "source": source_id,
                    "title": title,
                    "abstract": abstract,
                    "year": year,
                    "venue": venue,
                },
            )


def write_variants(
    database: Database, corpus: str, variants: Iterable[Variant], producer: str = PRODUCER
) -> None:
    """Altered texts of the corpus's papers as they are now, by a producer."""
    with database.begin() as session:
        for code, source_id, title, abstract in variants:
            session.execute(
                "INSERT INTO paper_variants (paper_id, code, title, abstract, producer, text_digest) "
                "SELECT papers.paper_id, :code, :title, :abstract, :producer, text_digests.text_digest "
                "FROM papers INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id "
                "INNER JOIN text_digests ON papers.paper_id = text_digests.paper_id "
                "WHERE corpora.name = :corpus AND papers.source_id = :source AND section_number = 0",
                {
                    "code": code,
                    "title": title,
                    "abstract": abstract,
                    "producer": producer,
                    "corpus": corpus,
                    "source": source_id,
                },
            )


def read_rows(database: Database, columns: str, table: str) -> list[tuple[Any, ...]]:
    """Some columns of a table's rows, sorted."""
    with database.read() as session:
        found: pa.Table = session.fetch_arrow(f"SELECT {columns} FROM {table}")
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    return sorted(rows, key=lambda row: tuple((value is not None, value) for value in row))
