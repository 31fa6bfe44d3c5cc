"""A database that every recipe of the cookbook has rows in, at any size, and its copy on Postgres.

The synthetic world gives papers, fields, authors, citations (a copying model: degrees with a heavy tail),
queries and judgments; a made-up release of CSFCube its pools and annotators. SQL then adds what clean data
lacks: works that nobody holds, duplicates, intents, papers without abstracts, rejected records. Queries and
pools are sampled and candidates constructed by the commands that users have; rankings are drawn, some papers
of them by all systems, and scored. DuckDB draws; the copy has the same rows.
"""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from pinakes.clock import utc_now
from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.sample.construct import construct
from pinakes.sample.construct_plan import ConstructionRequest
from pinakes.sample.sample import sample
from pinakes.schema import metadata, next_id, runs

SYSTEMS: Final = {"bm25": 0.5, "tfidf": 0.4, "minilm": 0.6}
"""system -> which share of the relevant papers it finds"""
DEPTH: Final = 200
LEFT_OUT: Final = ("schema_version", "sentences")
"""tables that are not copied: no recipe reads sentences"""
_FACETS: Final = ("background", "method", "result")

_TRACES: Final = {
    "papers without an abstract": "UPDATE papers SET abstract = NULL WHERE paper_id % 50 = 7",
    "intents": """
        UPDATE citations
        SET intents = list_extract(
            ['background', 'method', 'result', 'background,method'],
            CAST(hash(citation_id) % 4 AS INTEGER) + 1
        )
        WHERE citation_id % 3 = 0""",
    "merged papers": """
        INSERT INTO duplicate_papers (paper_id, kept_paper_id, matched_by)
        SELECT paper_id, paper_id - 1, 'title' FROM papers WHERE paper_id % 200 = 0""",
    "works that nobody holds": """
        INSERT INTO cited_references (reference_id, corpus_id, reference_key, title, year)
        SELECT
            {references} + number, 1, 'elsewhere-' || number, 'Elsewhere, part ' || number, 1980 + number % 40
        FROM range(1, {papers} + 1) AS numbers (number)""",
    "mentions of them": """
        INSERT INTO citations (citation_id, citing_paper_id, reference_id, batch_id)
        SELECT
            {citations} + number,
            1 + hash(number) % {papers},
            {references} + 1
            + CAST(FLOOR({papers} * POW((hash(number, 1) % 1000000) / 1000000.0, 3)) AS BIGINT),
            1
        FROM range(1, 2 * {papers} + 1) AS numbers (number)""",
    "merged works": """
        INSERT INTO duplicate_references (reference_id, kept_reference_id, matched_by)
        SELECT reference_id, reference_id - 1, 'title' FROM cited_references
        WHERE reference_id > {references} AND reference_id % 100 = 0""",
    "ambiguous works": """
        INSERT INTO ambiguous_references (reference_id, paper_id, matched_by)
        SELECT reference_id, 1 + (hash(reference_id) + which * 7919) % {papers}, 'title'
        FROM cited_references CROSS JOIN range(2) AS either (which)
        WHERE reference_id > {references} AND reference_id % 1000 = 1""",
    "papers that two splits judge": """
        INSERT INTO judgments (corpus_id, query_id, paper_id, assessor, split, grade, batch_id)
        SELECT corpus_id, query_id, paper_id, 'earlier', 'dev', grade, batch_id FROM judgments
        WHERE corpus_id = 2 AND assessor = 'adjudicated' AND paper_id % 10 = 0""",
    "papers that two corpora hold": """
        UPDATE papers SET title = UPPER(other.title)
        FROM papers AS other
        WHERE papers.corpus_id = 2 AND papers.paper_id % 100 = 0
            AND other.corpus_id = 1 AND other.paper_id = papers.paper_id - {papers}""",
    "rejected records": """
        INSERT INTO rejected_rows (batch_id, row_number, location, reason, message, raw)
        SELECT
            1 + number % (SELECT MAX(batch_id) FROM load_batches), 100000000 + number, 'line ' || number,
            list_extract(['not_json', 'missing_field', 'duplicate_id'], CAST(number % 3 AS INTEGER) + 1),
            'made up', NULL
        FROM range(1, {papers} // 400 + 1) AS numbers (number)""",
}
"""what clean data lacks -> the statement; {references} and {citations} are the last ids"""

_OF_JUDGED: Final = """
    SELECT query_id, paper_id, 0.6 + {luck} * 0.4 AS score FROM {benchmark}.judgments
    WHERE grade > 0 AND (hash('found', '{system}', query_id, paper_id) % 1000) / 1000.0 < {share}"""
_LUCK: Final = "(hash('{system}', query_id, paper_id) % 1000000) / 1000000.0"
_OTHERS: Final = {
    "synthetic": """
        SELECT queries.query_id, 1 + hash({whose}, query_id, number) % {papers} AS paper_id
        FROM synthetic.queries AS queries CROSS JOIN range({depth}) AS numbers (number)""",
    "csfcube": "SELECT query_id, paper_id FROM csfcube.candidates",
    "mdcr_constructed": "SELECT query_id, paper_id FROM mdcr_constructed.candidates",
}
_OF_POOLS: Final = """
    SELECT asked.query_id, pool_members.paper_id
    FROM (
        SELECT queries.query_id, queries.paper_id AS asked_paper_id, pools.sample,
            1 + hash({whose}, queries.query_id, number) % pools.size AS position
        FROM {benchmark}.queries AS queries
        INNER JOIN pools ON queries.pool = pools.pool AND pools.benchmark = '{benchmark}'
        CROSS JOIN range({depth}) AS numbers (number)
        WHERE queries.fold = 'test'
    ) AS asked
    INNER JOIN pool_members
        ON pool_members.benchmark = '{benchmark}'
        AND asked.sample = pool_members.sample AND asked.position = pool_members.position
    WHERE pool_members.paper_id <> asked.asked_paper_id"""
_WHOSE: Final = "CASE WHEN number % 2 = 0 THEN '{system}' ELSE '' END"
"""whose draw it is: every other paper is drawn for all systems alike"""
_RANKED: Final = """
    INSERT INTO hits (run_id, query_id, paper_id, rank, score)
    SELECT
        {run_id}, query_id, paper_id,
        ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY score DESC, paper_id), score
    FROM (
        SELECT query_id, paper_id, MAX(score) AS score
        FROM ({judged} UNION ALL SELECT query_id, paper_id, {luck} AS score FROM ({others}) AS drawn) AS found
        GROUP BY query_id, paper_id
    ) AS once
    QUALIFY ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY score DESC, paper_id) <= {depth}"""


def fill(database: Database, folder: Path, papers: int, queries: int) -> None:
    """Make every row in an empty DuckDB; `queries` are those of `large_scale`, a tenth of a field's."""
    initialise(database)
    _tell("load")
    load(database, LoadRequest("synthetic", options={"papers": str(papers), "seed": "1"}))
    load(database, LoadRequest("csfcube", write_csfcube(folder / "csfcube")))
    plant_traces(database)
    _sample(database, papers, queries)
    for benchmark in ("synthetic", "csfcube", "large_scale", "field_level", "mdcr_constructed"):
        if benchmark == "mdcr_constructed":
            construct(database, ConstructionRequest(benchmark))
        for system, share in (SYSTEMS | ({"SPECTER": 0.8} if benchmark == "csfcube" else {})).items():
            plant_run(database, benchmark, system, share, papers)
        _tell(f"evaluate {benchmark}")
        evaluate(database, benchmark)


def plant_traces(database: Database) -> None:
    """What clean data lacks."""
    with database.begin() as session:
        last = {
            "papers": session.scalar("SELECT COUNT(*) FROM papers WHERE corpus_id = 1"),
            "references": session.scalar("SELECT MAX(reference_id) FROM cited_references"),
            "citations": session.scalar("SELECT MAX(citation_id) FROM citations"),
        }
        for what, statement in _TRACES.items():
            _tell(what)
            session.execute_as_written(statement.format(**last))


def _sample(database: Database, papers: int, queries: int) -> None:
    _tell("sample")
    year = {"year": 2024, "min_citations": 3, "repeats": 3}
    sizes: dict[str, Any] = {
        "pool_sizes": (papers // 10, papers // 4, papers // 2, papers * 9 // 10),
        "validation_pool_size": papers // 10,
    }
    pool = max(50, papers // 20)
    fields: dict[str, Any] = {"pool_sizes": (pool,), "validation_pool_size": pool, "assigned_by": "synthetic"}
    sample(
        database, "large_scale", "synthetic", {"queries": queries, "validation_queries": 50, **year, **sizes}
    )
    of_field = {"queries": max(2, queries // 10), "validation_queries": 2}
    sample(database, "field_level", "synthetic", {**of_field, **year, **fields})


def plant_run(database: Database, benchmark: str, system: str, share: float, papers: int) -> None:
    """A ranking that finds this share of a query's relevant papers, among drawn ones."""
    _tell(f"rank {benchmark} {system}")
    named = {"benchmark": benchmark, "system": system, "share": share, "papers": papers, "depth": DEPTH}
    named["luck"] = _LUCK.format(**named)
    named["whose"] = _WHOSE.format(**named)
    others = _OTHERS.get(benchmark, _OF_POOLS).format(**named)
    judged = _OF_JUDGED.format(**named)
    with database.begin() as session:
        run_id = next_id(session, runs.c.run_id)
        ranked = _RANKED.format(run_id=run_id, judged=judged, others=others, **named)
        session.execute_as_written(ranked)
        counted = session.first(
            "SELECT COUNT(*) AS hit_count, COUNT(DISTINCT query_id) AS queries_answered "
            "FROM hits WHERE run_id = :run_id",
            {"run_id": run_id},
        )
        row: dict[str, Any] = {
            **dict.fromkeys(("run_digest", "dataset_digest", "view_digest"), f"{benchmark}/{system}"),
            "run_id": run_id,
            "benchmark": benchmark,
            "system": system,
            "parameters": json.dumps({"share": share}),
            "code_version": "0",
            "depth": DEPTH,
            "started_at": utc_now(),
            "elapsed_s": 0.0,
            "candidates_expected": 0,
            "candidates_without_text": 0,
            **(counted or {}),
        }
        row["queries_expected"] = row["queries_answered"]
        session.execute(sa.insert(runs).values(**row))


def write_csfcube(folder: Path) -> Path:
    """A release of CSFCube's form and size: 4,000 papers, 50 queries of 120 candidates, two annotators."""
    draw = random.Random(3)
    folder.mkdir(parents=True, exist_ok=True)
    words = ["citation", "graph", "query", "model", "parser", "corpus", "network", "sentence", "evidence"]
    with (folder / "abstracts-csfcube-preds.jsonl").open("w", encoding="utf-8") as stream:
        for paper in range(1, 4001):
            texts = [" ".join(draw.choices(words, k=15)) + "." for _ in range(6)]
            labels = [f"{_FACETS[place // 2]}_label" for place in range(6)]
            record = {"paper_id": str(paper), "metadata": {}, "title": texts[0], "abstract": texts}
            stream.write(json.dumps({**record, "pred_labels": labels}) + "\n")
    asked = {
        facet: [str(1 + which + place) for which in range(0, 34, 2)] for place, facet in enumerate(_FACETS)
    }
    pools: dict[str, Any] = {}
    lines = ["pid,facet,year,title,paper type\n"]
    for facet, queries in asked.items():
        judged = {query: _judge(draw, pools, query) for query in queries}
        (folder / f"test-pid2anns-csfcube-{facet}.json").write_text(json.dumps(judged), encoding="utf-8")
        lines += [f"{query},{facet},2020,Title,method\n" for query in queries]
    folds = {
        facet: {
            f"fold1_{part}": [f"{query}_{facet}" for query in queries[start::2]]
            for start, part in enumerate(("dev", "test"))
        }
        for facet, queries in asked.items()
    }
    (folder / "evaluation_splits.json").write_text(json.dumps(folds), encoding="utf-8")
    (folder / "queries-release.csv").write_text("".join(lines), encoding="utf-8")
    (folder / "test-pid2pool-csfcube.json").write_text(json.dumps(pools), encoding="utf-8")
    return folder


def _judge(draw: random.Random, pools: dict[str, Any], query: str) -> dict[str, Any]:
    """The grades of a query's pool, which is drawn where it is not there."""
    if query not in pools:
        found = [str(paper) for paper in draw.sample(range(100, 4001), 120)]
        sources = ("cited", "specter", "abs_tfidf", "title_tfidf")
        pools[query] = {
            "cands": found,
            "cand_source": [draw.sample(sources, draw.choice((1, 1, 2))) for _ in found],
        }
    grades = [draw.choices(range(4), (70, 15, 10, 5))[0] for _ in pools[query]["cands"]]
    one, two = ([max(0, min(3, grade + draw.choice((-1, 0, 0, 0, 1)))) for grade in grades] for _ in range(2))
    said = {"adju": grades, "ann1": one, "ann2": two, "min": list(map(min, one, two))}
    said["max"] = list(map(max, one, two))
    return {"cands": pools[query]["cands"], **{f"relevance_{name}": given for name, given in said.items()}}


def copy(source: Database, target: Database) -> None:
    """Every row of the one into the other, which is made and has no papers yet."""
    initialise(target)
    for table in metadata.sorted_tables:
        if table.name in LEFT_OUT:
            continue
        _tell(f"copy {table.name}")
        with source.read() as reading, target.begin() as writing:
            writing.execute(sa.delete(table))
            for part in reading.stream(sa.select(table), rows=100_000):
                writing.insert(table, part)


def _tell(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what} …", file=sys.stderr, flush=True)
