"""A small collection whose ids and titles attack a site: markup, paths, names alike but for their case."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.load.load import LoadRequest, load
from pinakes.report.reproduction.data import Matrix
from pinakes.report.reproduction.gather import gather_matrix
from pinakes.report.site import write
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.schema import paper_identifiers, papers, runs
from tests.html_pages import Page

NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
ATTACK: Final = "<script>alert(1)</script>"
QUERIES: Final = ("q1", "Q1", "../../up", "con", f"{ATTACK}", *(f"n{number}" for number in range(1, 18)))
TITLES: Final = (
    ATTACK,
    "\u202eturned",
    "</style><img src=x onerror=alert(1)>",
    "",
    "long " * 4000,
    "Plain & simple",
)
RUNS: Final = {"good": 0, "poor": 2}
"""system -> how many papers it has before the right one"""

TOML: Final = """
title = "Hostile <b>queries</b>"
citation = "Somebody 2020"
licence = "CC0-1.0"
corpus = "tiny"
pool = "shared"
query_template = "text"
paper_template = "title_abstract"
headline_measure = "RR"
measures = ["RR", "P@1"]
notes = ["Nothing to note."]
[grades]
1 = "relevant <i>"
[aggregation]
group_by = ["topic"]
[[published]]
source = "Table 1"
scale = 100
measures = ["RR"]
[published.rows.all]
Good = ["75.00"]
old = ["60.00"]
"""
VIEWS: Final = {
    "queries": """
        SELECT query_id, paper_id, text, CASE WHEN query_id < 'n2' THEN '<graphs>' ELSE 'cells' END AS topic
        FROM benchmark_queries""",
    "candidates": "SELECT paper_id FROM papers",
    "judgments": "SELECT query_id, paper_id, grade FROM judged_papers WHERE corpus = 'tiny'",
}


def write_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A BEIR folder `tiny` and its benchmark, where Pinakes looks for it, with figures of it alone."""
    corpus = folder / "tiny"
    (corpus / "qrels").mkdir(parents=True)
    records = [{"_id": f"p{n}", "title": title, "text": f"Text {n}"} for n, title in enumerate(TITLES)]
    asked = [{"_id": query_id, "text": f"{ATTACK} asked by {query_id}"} for query_id in QUERIES]
    for name, rows in (("corpus", records), ("queries", asked)):
        (corpus / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = ["query-id\tcorpus-id\tscore", *(f"{one}\tp{n % 6}\t1" for n, one in enumerate(QUERIES))]
    (corpus / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n")
    home = folder / "benchmarks" / "tiny"
    home.mkdir(parents=True)
    (home / "benchmark.toml").write_text(TOML)
    for view, statement in VIEWS.items():
        (home / f"{view}.sql").write_text(statement)
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(home.parent))
    monkeypatch.setattr(write, "gather_matrix", lambda database: gather_matrix(database, "tiny"))
    return corpus


def fill_world(database: Database, corpus: Path) -> None:
    """Load, import a run of each system, evaluate, all at noon; the first paper has identifiers."""
    load(database, LoadRequest("beir", corpus))
    for system, before in RUNS.items():
        file = corpus.parent / f"{system}.run"
        file.write_text("".join(_rank(query_id, n, before) for n, query_id in enumerate(QUERIES)))
        import_run(database, ImportRequest("tiny", system, [file]), clock=lambda: NOON)
    evaluate(database, "tiny", clock=lambda: NOON)
    with database.begin() as session:
        session.execute(sa.update(runs).values(elapsed_s=1.0))
        first = session.scalar(sa.select(papers.c.paper_id).where(papers.c.source_id == "p0"))
        for scheme, identifier in (
            ("doi", '10.1000/a"b<c>'),
            ("arxiv", "1706.03762"),
            ("acl", "javascript:alert(1)"),
        ):
            row = {"paper_id": first, "scheme": scheme, "identifier": identifier}
            session.execute(sa.insert(paper_identifiers).values(**row))


def _rank(query_id: str, right: int, before: int) -> str:
    order = [(right + shift) % 6 for shift in range(6)]
    if right % 3:
        order = [*order[1 : 1 + before], order[0], *order[1 + before :]]
    return "".join(f"{query_id} Q0 p{paper} {rank} {-rank} x\n" for rank, paper in enumerate(order, 1))


def check_own_page(database: Database, name: str, folder: Path, *words: str) -> None:
    """A site of a benchmark whose queries have no pages: its page says so, and has these words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "gather_matrix", lambda _database: Matrix([]))
        done = write.write_site(database, folder, write.SiteRequest([name]))
    assert (done.benchmarks, done.failed) == (1, [])
    home = folder / "benchmarks" / name
    text = (home / "index.html").read_text()
    for one in ("have pages where the task is ranking", *words):
        assert one in text
    assert {path.name for path in home.rglob("*")} == {"index.html", "details.html"}
    assert Page(text).open == Page((home / "details.html").read_text()).open == []
