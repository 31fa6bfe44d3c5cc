"""What the tests of benchmarks and runs share: a small CSFCube release, benchmark folders, stored rows.

Leaves out: the databases (`tests/integration/conftest.py`).
"""

import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.tasks.ranking.task import VIEWS

ABSTRACTS: dict[str, list[tuple[str, str]]] = {
    "1": [("background", "Citation graph retrieval."), ("method", "A model of the graph.")],
    "2": [("background", "Query the paper."), ("result", "The model wins.")],
    "3": [("background", "The citation graph of a paper.")],
    "4": [("background", "Weather.")],
    "5": [("method", "A graph model.")],
    "6": [("method", "A graph model.")],
    "7": [("result", "The paper wins a query."), ("background", "Retrieval.")],
    "8": [],
    "9": [("background", "The graph model and the citation of the query paper.")],
}
"""paper -> its sentences with their facets; 5 and 6 are the same text, 8 has none"""

POOLS: dict[str, dict[str, dict[str, int]]] = {
    "background": {
        "1": {"3": 3, "4": 0, "5": 1, "6": 2, "8": 2, "1": 3},
        "2": {"9": 2, "5": 0, "7": 1, "4": 0},
    },
    "method": {"1": {"5": 3, "6": 2, "4": 0, "9": 1}, "2": {"3": 0, "5": 2}},
    "result": {"2": {"7": 3, "9": 0, "3": 1}},
}
"""facet -> query -> candidate -> grade; paper 1 is in its own pool, and 2 has no sentence of its method"""

_LABELS = {"background": "background_label", "method": "method_label", "result": "result_label"}


def write_csfcube(folder: Path) -> Path:
    """A release of CSFCube's form: five queries over nine papers."""
    folder.mkdir(parents=True, exist_ok=True)
    papers = [
        {
            "paper_id": paper,
            "metadata": {},
            "title": f"Title {paper}",
            "abstract": [text for _, text in sentences],
            "pred_labels": [_LABELS[facet] for facet, _ in sentences],
        }
        for paper, sentences in ABSTRACTS.items()
    ]
    lines = "".join(json.dumps(paper) + "\n" for paper in papers)
    (folder / "abstracts-csfcube-preds.jsonl").write_text(lines, encoding="utf-8")
    for facet, pools in POOLS.items():
        judged = {
            query: {"cands": list(grades)}
            | {f"relevance_{name}": list(grades.values()) for name in ("adju", "ann1", "min", "max")}
            for query, grades in pools.items()
        }
        (folder / f"test-pid2anns-csfcube-{facet}.json").write_text(json.dumps(judged), encoding="utf-8")
    folds = {
        facet: {
            "fold1_dev": [f"{query}_{facet}" for query in pools if query == "1"],
            "fold1_test": [f"{query}_{facet}" for query in pools if query == "2"],
        }
        for facet, pools in POOLS.items()
    }
    (folder / "evaluation_splits.json").write_text(json.dumps(folds), encoding="utf-8")
    requested = [f"{query},{facet},2020,Title,method\n" for facet, pools in POOLS.items() for query in pools]
    (folder / "queries-release.csv").write_text("pid,facet,year,title,paper type\n" + "".join(requested))
    (folder / "test-pid2pool-csfcube.json").write_text(
        '{"1": {"cands": ["3", "5"], "cand_source": [["specter", "cited"], ["abs_tfidf"]]}}'
    )
    return folder


BENCHMARK_TOML = """
title = "A benchmark of a test"
citation = "none"
licence = "none"
corpus = "{corpus}"
pool = "{pool}"
query_template = "text"
paper_template = "title_abstract"
headline_measure = "nDCG@10"
measures = ["nDCG@10", "AP"]
[grades]
0 = "no"
1 = "yes"
"""

_OF_CORPUS = "FROM {view} INNER JOIN corpora ON {view}.corpus_id = corpora.corpus_id WHERE name = '{corpus}'"


def write_benchmark(
    folder: Path, name: str = "own", *, corpus: str = "synthetic", pool: str = "shared", **files: str
) -> Path:
    """The folder `folder`, with a benchmark in it: all queries, papers and judgments of the corpus.

    `files` replaces a view's SQL (`queries`, `candidates`, `judgments`) or the description (`toml`).
    """
    views = {
        "queries": "SELECT query_id, paper_id, text "
        + _OF_CORPUS.format(view="benchmark_queries", corpus=corpus),
        "candidates": "SELECT papers.paper_id " + _OF_CORPUS.format(view="papers", corpus=corpus),
        "judgments": f"SELECT query_id, paper_id, grade FROM judged_papers WHERE corpus = '{corpus}'",
    }
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    toml = files.get("toml", BENCHMARK_TOML).replace("{corpus}", corpus).replace("{pool}", pool)
    (home / "benchmark.toml").write_text(toml, encoding="utf-8")
    for view in VIEWS:
        (home / f"{view}.sql").write_text(files.get(view, views[view]) + "\n", encoding="utf-8")
    return folder


def read_view(database: Database, benchmark: str, view: str) -> list[tuple[Any, ...]]:
    """All rows of a benchmark's view, sorted."""
    with database.read() as session:
        rows = session.rows(sa.text(f"SELECT * FROM {benchmark}.{view}"))
    return sorted((tuple(row.values()) for row in rows), key=repr)


def read_hits(database: Database, run_id: int) -> list[tuple[str, str, int, float]]:
    """query_id, source_id, rank and score of a run's hits, in order."""
    with database.read() as session:
        rows = session.fetch_arrow(
            "SELECT query_id, source_id, rank, score FROM hits INNER JOIN papers "
            "ON hits.paper_id = papers.paper_id WHERE run_id = :run_id ORDER BY query_id, rank",
            {"run_id": run_id},
        )
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def count(database: Database, table: str) -> int:
    """How many rows a table has."""
    with database.read() as session:
        return int(session.scalar(f"SELECT COUNT(*) FROM {table}"))


def change(database: Database, statement: str) -> None:
    """Run one statement that writes."""
    with database.begin() as session:
        session.execute(statement)


def read_named_rows(database: Database, benchmark: str, view: str) -> list[tuple[Any, ...]]:
    """The rows of a view, sorted; the source's id of a paper stands at the end, in place of ours."""
    with database.read() as session:
        rows = session.rows(sa.text(f"SELECT * FROM {benchmark}.{view}"))
        named = dict(session.stream_rows("SELECT paper_id, source_id FROM papers"))
    for row in rows:
        if "paper_id" in row:
            row["source_id"] = named.get(row.pop("paper_id"))
    return sorted((tuple(row.values()) for row in rows), key=repr)
