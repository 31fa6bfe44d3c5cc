"""Recipes asked of seven papers, whose answers are worked out by hand, on both databases."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.read_only import ask
from pinakes.recipes import find_recipe
from pinakes.schema import metadata

# Corpus 1: p1 (2000) is cited by p2 (2001), p3 and p4 (2003), p2 by p3; p4 cites a book that nobody holds.
# Corpus 2 has two papers, one with a title of the other's.
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "corpora(corpus_id,name,title,version,licence,source)": [
        (1, "synthetic", "", "", "", ""),
        (2, "other", "", "", "", ""),
    ],
    "papers(paper_id,corpus_id,source_id,title,abstract,year,venue,citation_count,batch_id)": [
        (1, 1, "p1", "Graphs of all citations", "one two three", 2000, "V", 3, 1),
        (2, 1, "p2", "Trees of all citations", None, 2001, None, 1, 1),
        (3, 1, "p3", "Short", " ".join(["word"] * 60), 2003, None, 0, 1),
        (4, 1, "p4", None, "a b", 2003, None, 0, 1),
        (5, 1, "p5", "Five", None, None, None, None, 1),
        (6, 2, "x1", "GRAPHS of all citations!", None, None, None, None, 1),
        (7, 2, "x2", "Short", None, None, None, None, 1),
    ],
    "authors(author_id,corpus_id,source_id,name)": [(1, 1, "a1", "One"), (2, 1, "a2", "Two")],
    "authorships(paper_id,position,author_id)": [(1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 2, 2), (4, 1, 2)],
    "paper_fields(paper_id,assigned_by,field)": [(1, "synthetic", "Biology")],
    "cited_references(reference_id,corpus_id,reference_key,title,paper_id)": [
        (1, 1, "p1", None, 1),
        (2, 1, "p2", None, 2),
        (3, 1, "elsewhere", "A book", None),
    ],
    "citations(citation_id,citing_paper_id,reference_id,context,batch_id)": [
        (1, 2, 1, "There we use graphs.", 1),
        (2, 3, 1, "We use", 1),
        (3, 3, 1, None, 1),
        (4, 4, 1, "in use", 1),
        (5, 3, 2, None, 1),
        (6, 4, 3, "we use a book", 1),
    ],
    "benchmark_queries(corpus_id,query_id,text,batch_id)": [(1, "q1", "one", 1), (1, "q2", "two", 1)],
    "judgments(corpus_id,query_id,paper_id,assessor,split,grade,batch_id)": [
        (1, "q1", 1, "published", "test", 2, 1),
        (1, "q1", 2, "published", "test", 0, 1),
        (1, "q1", 3, "published", "test", 1, 1),
        (1, "q2", 1, "published", "dev", 1, 1),
    ],
    "hits(run_id,query_id,paper_id,rank,score)": [
        (1, "q1", 1, 1, 3.0),
        (1, "q1", 2, 2, 2.0),
        (1, "q1", 4, 3, 1.0),
        (1, "q2", 1, 1, 1.0),
        (2, "q1", 3, 1, 2.0),
        (2, "q1", 1, 2, 1.0),
    ],
}
RUNS = {1: "bm25", 2: "tfidf"}
_TEXTS = ("run_digest", "parameters", "code_version", "dataset_digest", "view_digest")
_NUMBERS = (
    *("queries_expected", "queries_answered", "candidates_expected", "candidates_without_text"),
    *("hit_count", "elapsed_s"),
)

ANSWERS: dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]] = {
    "missing-fields": ({}, [("other", 2, 0, 2, 2, 2, 2, 2, 2), ("synthetic", 5, 1, 2, 1, 4, 1, 4, 2)]),
    "papers-by-year": (
        {},
        [
            (2000, 1, 0, "0.00", "3.00", "0.00"),
            (2001, 1, 1, "1.00", "1.00", "0.00"),
            (2003, 2, 0, "1.50", "0.00", "100.00"),
            (None, 1, 1, "0.00", "0.00", "100.00"),
        ],
    ),
    "abstract-lengths": ({}, [(0, 2, "66.67", "66.67"), (50, 1, "33.33", "100.00")]),
    "corpus-overlap": ({}, [("other", "synthetic", 1, "100.00", "50.00")]),
    "resolved-share": ({}, [(2001, 1, 1, 1, "100.00"), (2003, 2, 5, 4, "80.00")]),
    "citation-concentration": (
        {},
        [(20, 1, 3, 3, "75.00"), (50, 2, 1, 4, "100.00"), (100, 5, 0, 4, "100.00")],
    ),
    "citation-history": ({"paper": "p1"}, [(2001, 1, 1, 1), (2003, 3, 2, 3)]),
    "h-index": ({}, [("a1", "One", 1, 3, 4), ("a2", "Two", 1, 2, 3)]),
    "contexts-with-words": (
        {"words": "we use"},
        [
            ("p2", 2001, "p1", "Graphs of all citations", "There we use graphs."),
            ("p4", 2003, "elsewhere", "A book", "we use a book"),
        ],
    ),
    "relevant-per-query": ({}, [(1, 1, 1, 1, "50.00"), (2, 1, 3, 3, "100.00")]),
    "split-overlap": ({}, [("synthetic", "dev", "test", 1, 1)]),
    "found-alone": ({}, [("bm25", 2, 1, "66.67"), ("tfidf", 2, 1, "66.67")]),
    "to-judge-next": ({}, [("q1", "p4", None, 1, 3)]),
    "kinds-of-hits": (
        {},
        [
            ("ranked by bm25", 4, "2001.00", "1.75", "25.00"),
            ("ranked by tfidf", 2, "2001.50", "1.50", "0.00"),
            ("relevant", 3, "2001.00", "2.00", "0.00"),
        ],
    ),
}
"""recipe -> what it is given besides its examples, and its answer"""

# p4 is merged into p3, p5 into p1, whose key p2 cites too; p8, by an author of its own, cites p2. The book
# has a second key, which p3 mentions twice. Of the pools of the fields each has one repeat alone.
MERGED_ROWS: dict[str, list[tuple[Any, ...]]] = {
    "papers(paper_id,corpus_id,source_id,title,year,batch_id)": [(8, 1, "p8", "Eight", 2005, 1)],
    "authors(author_id,corpus_id,source_id,name)": [(3, 1, "a3", "Three")],
    "authorships(paper_id,position,author_id)": [(8, 1, 3)],
    "paper_fields(paper_id,assigned_by,field)": [(2, "synthetic", "Medicine"), (3, "synthetic", "Biology")],
    "duplicate_papers(paper_id,kept_paper_id,matched_by)": [(4, 3, "title"), (5, 1, "title")],
    "cited_references(reference_id,corpus_id,reference_key,paper_id)": [
        (4, 1, "p5", 5),
        (5, 1, "elsewhere-2", None),
        (6, 1, "never", None),
    ],
    "duplicate_references(reference_id,kept_reference_id,matched_by)": [(5, 3, "title")],
    "citations(citation_id,citing_paper_id,reference_id,batch_id)": [
        (7, 2, 4, 1),
        (8, 8, 2, 1),
        (9, 3, 5, 1),
        (10, 3, 5, 1),
    ],
    "sampled_queries(benchmark,query_id,paper_id,fold)": [("mdcr_constructed", "q1", 3, "test")],
    "pools(benchmark,pool,sample,requested_size,size,repeat,field,fold)": [
        ("large_scale", "2/1", "test/1", 2, 2, 1, None, "test"),
        ("large_scale", "2/2", "test/2", 2, 2, 2, None, "test"),
        ("large_scale", "3/1", "test/1", 3, 3, 1, None, "test"),
        ("large_scale", "3/2", "test/2", 3, 3, 2, None, "test"),
        ("large_scale", "Art/2/1", "Art/1", 2, 2, 1, "Art", "test"),
        ("large_scale", "Biology/2/2", "Biology/2", 2, 2, 2, "Biology", "test"),
    ],
    "pool_members(benchmark,sample,position,paper_id)": [
        ("large_scale", sample, 1 + place, paper_id)
        for sample, members in {
            "test/1": (1, 2, 3),
            "test/2": (1, 3, 2),
            "Art/1": (1, 2),
            "Biology/2": (1, 2),
        }.items()
        for place, paper_id in enumerate(members)
    ],
}
MERGED_ANSWERS: list[tuple[str, dict[str, str], list[tuple[Any, ...]]]] = [
    ("most-cited-of-field", {}, [("p1", 2000, "Graphs of all citations", 2)]),
    ("field-classics", {"field": "Biology"}, [("p1", 2000, "Graphs of all citations", 1)]),
    (
        "citations-by-field-and-year",
        {},
        [
            ("Biology", 2000, 1, 2, "2.00", 2),
            ("Biology", 2003, 1, 0, "0.00", 0),
            ("Medicine", 2001, 1, 2, "2.00", 2),
        ],
    ),
    ("self-citations", {}, [(2001, 1, 1, "100.00"), (2003, 2, 2, "100.00"), (2005, 1, 0, "0.00")]),
    ("co-citation", {"at_least": "1"}, [("p1", "p2", 1)]),
    ("co-citation", {"at_least": "1", "mentioned": "3"}, []),
    ("co-citation", {}, []),
    (
        "wanted-works",
        {},
        [("synthetic", "elsewhere-2", None, 2, 1), ("synthetic", "elsewhere", "A book", 1, 1)],
    ),
    (
        "mentions-of-works",
        {},
        [
            ("synthetic", "p1", 4),
            ("synthetic", "elsewhere", 3),
            ("synthetic", "p2", 2),
            ("synthetic", "p5", 1),
            ("synthetic", "never", 0),
        ],
    ),
    (
        "resolved-share",
        {},
        [(2001, 1, 2, 2, "100.00"), (2003, 2, 7, 4, "57.14"), (2005, 1, 1, 1, "100.00")],
    ),
    ("citation-concentration", {}, [(50, 2, 2, 4, "100.00"), (100, 4, 0, 4, "100.00")]),
    ("graph-neighbours", {}, [("q1", "p1", 1, 2, "0.5000"), ("q1", "p2", 1, 2, "0.5000")]),
    ("pool-repeats", {}, [(2, None, 1, 2, 1, "50.00"), (3, None, 1, 2, 3, "100.00")]),
]
"""as `ANSWERS`, where papers and works are merged"""


def insert(session: Session, named_rows: dict[str, list[tuple[Any, ...]]]) -> None:
    """Put rows into their tables."""
    for named, rows in named_rows.items():
        table, columns = named.removesuffix(")").split("(")
        values = [dict(zip(columns.split(","), row, strict=True)) for row in rows]
        session.execute(sa.insert(metadata.tables[table]).values(values))


def answer(database: Database, name: str, given: dict[str, str]) -> list[tuple[Any, ...]]:
    """The rows of a recipe, a decimal as it is written."""
    recipe = find_recipe(name)
    examples = {one.name: one.example for one in recipe.parameters}
    with ask(database, recipe.write(examples | given)) as result:
        rows = [tuple(row) for row in result.rows]
    return [tuple(str(one) if isinstance(one, Decimal) else one for one in row) for row in rows]


@pytest.fixture
def small(initialised: Database) -> Database:
    """The seven papers."""
    with initialised.begin() as session:
        insert(session, ROWS)
        for run_id, system in RUNS.items():
            row: dict[str, Any] = {"run_id": run_id, "benchmark": "synthetic", "system": system}
            row |= dict.fromkeys(_TEXTS, str(run_id)) | dict.fromkeys(_NUMBERS, 0)
            row["started_at"] = datetime(2026, 1, 1, tzinfo=UTC)
            session.execute(sa.insert(metadata.tables["runs"]).values(**row))
    return initialised


def test_recipes_answer_as_worked_out_by_hand(small: Database) -> None:
    found = {name: answer(small, name, given) for name, (given, _) in ANSWERS.items()}
    assert found == {name: rows for name, (_, rows) in ANSWERS.items()}


def test_recipes_take_merged_papers_and_works_for_one(small: Database) -> None:
    with small.begin() as session:
        insert(session, MERGED_ROWS)
    found = [(name, given, answer(small, name, given)) for name, given, _ in MERGED_ANSWERS]
    assert found == MERGED_ANSWERS
