"""BM25 as a join over stored postings, on DuckDB and on Postgres, beside `sparse_bm25`'s own search.

    python benchmarks/bm25_sql.py [--papers N] [--queries N] [--scifact FOLDER] [--postgres URL]
                                  [--quick] [--json FILE]

The queries are those of SciFact (where its folder is) and of a synthetic corpus. Each corpus is loaded,
indexed and written down in each database; then the same queries are asked for their best 100 papers: all at
once by the index (`together`), one by one by the index, one by one by the query of the recipe `bm25`, and all
at once by one join. Reading a text, which all but the join do, is in the times. Without --postgres there is
DuckDB alone. A ranking by SQL has to be that of the index: ranks that differ are counted.
"""

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from _common import SHARED_DATA, describe_machine, make_parser, report

from pinakes.database import Database, connect
from pinakes.database.read_only import ask
from pinakes.index.index import index_corpus
from pinakes.indexers.lexical import trec_tie_order
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.recipes import fill, find_recipe
from pinakes.schema import corpora, papers, side_indexes
from pinakes.systems.base import SystemOptions

K = 100
TABLES = ("indexed_papers", "indexed_terms", "postings")
TOGETHER = """
WITH scored AS (
    SELECT asked.query, postings.paper_id, CAST(SUM(asked.times * postings.weight) AS REAL) AS score
    FROM asked
    INNER JOIN indexed_terms ON asked.term = indexed_terms.term
    INNER JOIN term_indexes ON indexed_terms.side_index_id = term_indexes.side_index_id
    INNER JOIN postings ON indexed_terms.term_id = postings.term_id
    WHERE term_indexes.name = :index
    GROUP BY asked.query, postings.paper_id
),

placed AS (
    SELECT query, paper_id, score, RANK() OVER (PARTITION BY query ORDER BY score DESC) AS place
    FROM scored
),

ranked AS (
    SELECT
        placed.query,
        papers.source_id,
        ROW_NUMBER() OVER (PARTITION BY placed.query ORDER BY placed.place, papers.source_id DESC) AS rank
    FROM placed
    INNER JOIN papers ON placed.paper_id = papers.paper_id
    WHERE placed.place <= 100
)

SELECT query, source_id FROM ranked WHERE rank <= 100 ORDER BY query, rank
"""
"""the best papers of all queries by one join over `asked` (query, term, times)"""


def main() -> None:
    parser = make_parser(__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--papers", type=int, help="synthetic papers (200000; 5000 with --quick)")
    parser.add_argument("--queries", type=int, default=100, help="of each corpus")
    parser.add_argument("--scifact", type=Path, default=SHARED_DATA / "scifact", help="a BEIR folder")
    parser.add_argument("--postgres", help="an empty Postgres database; left out without it")
    options = parser.parse_args()
    count = options.papers or (5_000 if options.quick else 200_000)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for url in filter(None, (f"duckdb:///{name}/terms.duckdb", options.postgres)):
            with connect(url) as database:
                initialise(database)
                for corpus, request in list_corpora(options.scifact, count):
                    load(database, request)
                    folder = Path(name) / f"{database.name}.indexes"
                    rows += measure(database, corpus, folder, options.queries)
    figures = {"synthetic papers": count, "best": K, "machine": describe_machine()}
    report("BM25 as a join", rows, figures, options.json)


def list_corpora(scifact: Path, count: int) -> Iterator[tuple[str, LoadRequest]]:
    if scifact.is_dir():
        yield "scifact", LoadRequest("beir", scifact)
    yield "synthetic", LoadRequest("synthetic", options={"papers": str(count), "queries": "500"})


def measure(database: Database, corpus: str, folder: Path, count: int) -> list[dict[str, Any]]:
    """Rows of figures: what writing down costs, and each way of asking."""
    index_corpus(database, corpus, "sparse_bm25", options=SystemOptions(folder))
    before = measure_size(database)
    started = time.perf_counter()
    index_corpus(database, corpus, "sparse_bm25", options=SystemOptions(folder), postings=True)
    written_s = time.perf_counter() - started
    size = measure_size(database) - before
    name = f"{corpus}/sparse_bm25/title_abstract"
    index, ties, source_ids, texts = open_index(database, corpus, folder, count)
    with database.read() as session:
        held = session.scalar("SELECT posting_count FROM term_indexes WHERE name = :name", {"name": name})

    def search(asked: list[str]) -> list[list[str]]:
        return [
            [source_ids[one] for one in found.paper_ids]
            for found in index.search_many(asked, K, tie_order=ties)
        ]

    ways: dict[str, Callable[[], list[list[str]]]] = {
        "index, together": lambda: search(texts),
        "index, one by one": lambda: [search([text])[0] for text in texts],
        "SQL, one by one": lambda: [ask_recipe(database, name, text) for text in texts],
        "SQL, one join": lambda: ask_together(database, name, index, texts),
    }
    rows, expected, base_s = [], search(texts), 0.0
    for way, answer in ways.items():
        started = time.perf_counter()
        found = answer()
        seconds = time.perf_counter() - started
        base_s = base_s or seconds
        rows.append(
            {
                "database": database.name,
                "corpus": corpus,
                "papers": index.row_count,
                "postings": held,
                "written_s": written_s,
                "MB": size / 1e6,
                "way": way,
                "ms a query": 1000 * seconds / len(texts),
                "times": seconds / base_s,
                "other ranks": sum(
                    one != other
                    for ours, theirs in zip(found, expected, strict=True)
                    for one, other in zip(ours, theirs, strict=True)
                ),
            }
        )
    return rows


def open_index(database: Database, corpus: str, folder: Path, count: int) -> Any:
    """The index, its tie order, the source's id of each paper, and the texts of queries."""
    of_corpus = sa.select(papers.c.paper_id, papers.c.source_id).join(corpora).where(corpora.c.name == corpus)
    scope = side_indexes.c.scope == f"corpus:{corpus}"
    with database.read() as session:
        path = session.scalar(sa.select(side_indexes.c.path).where(scope))
        held = session.fetch_arrow(of_corpus)
        texts = session.fetch_arrow(
            f"SELECT text FROM {corpus}.queries WHERE text <> '' ORDER BY query_id LIMIT {int(count)}"
        )
    source_ids = dict(zip(held["paper_id"].to_pylist(), held["source_id"].to_pylist(), strict=True))
    return (
        SparseBm25Index.open(folder / path),
        trec_tie_order(source_ids),
        source_ids,
        texts["text"].to_pylist(),
    )


def ask_recipe(database: Database, name: str, text: str) -> list[str]:
    query = fill(database, find_recipe("bm25"), {"index": name, "text": text, "limit": str(K)})
    with ask(database, query) as result:
        return [str(row[0]) for row in result.rows]


def ask_together(database: Database, name: str, index: SparseBm25Index, texts: list[str]) -> list[list[str]]:
    analyse = index.analysis.build().analyze
    pairs = [(number, term) for number, text in enumerate(texts) for term in analyse(text)]
    counted = pa.table({"query": [one for one, _ in pairs], "term": [term for _, term in pairs]})
    counted = counted.group_by(["query", "term"]).aggregate([([], "count_all")])
    asked = counted.rename_columns(["query", "term", "times"])
    found: list[list[str]] = [[] for _ in texts]
    with database.begin() as session, session.staged({"asked": asked}):
        rows = session.fetch_arrow(TOGETHER, {"index": name})
    for query, source_id in zip(rows["query"].to_pylist(), rows["source_id"].to_pylist(), strict=True):
        found[query].append(source_id)
    return found


def measure_size(database: Database) -> int:
    """Bytes of the tables with their indexes; of DuckDB, of the whole file."""
    with database.read() as session:
        if database.name == "postgresql":
            return sum(
                int(session.scalar("SELECT pg_total_relation_size(CAST(:name AS regclass))", {"name": table}))
                for table in TABLES
            )
    with contextlib.suppress(Exception), database.begin() as session:
        session.execute("CHECKPOINT")
    with database.read() as session:
        (found,) = session.rows("SELECT used_blocks * block_size AS bytes FROM pragma_database_size()")
    return int(found["bytes"])


if __name__ == "__main__":
    main()
