"""Systems that rank all pools of a grouped benchmark at once: each as a benchmark over the pool alone."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.index.index import index
from pinakes.progress import Silent
from pinakes.run.run import RunRequest, run
from pinakes.schema import runs
from pinakes.systems import dense_pools
from pinakes.systems.base import SystemOptions
from pinakes.systems.registry import find_system
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.workload import Workload, read_workload
from tests.benching import BENCHMARK_TOML, change, read_hits, write_benchmark
from tests.clusters import LocalCluster
from tests.long import alternate
from tests.templates import Templates

pytestmark = pytest.mark.in_turn

DEPTH = 20
DIGITS = {"large": "0123456789", "other": "89abcdef", "small": "012", "tiny": "0"}
"""pool -> the digits that the md5 of its papers' ids begin with: tiny is in small, and small in large"""

Hits = list[tuple[str, str, int, float]]


def chosen(pool: str) -> str:
    digits = ", ".join(f"'{digit}'" for digit in DIGITS[pool])
    return f"LEFT(MD5(papers.source_id), 1) IN ({digits})"


REQUESTED = "papers.corpus_id = (SELECT corpus_id FROM corpora WHERE name = 'synthetic')"
QUERIES = f"FROM papers WHERE {REQUESTED} AND RIGHT(MD5(papers.source_id), 1) IN ('0', '1')"


def fill(database: Database, _folder: Path) -> None:
    """Corpora for the pools; some papers have no text and some the same, so that there are ties."""
    for digit, text in (("3", "NULL"), ("7", "'citation graph of papers'")):
        change(
            database,
            f"UPDATE papers SET title = {text}, abstract = NULL WHERE {REQUESTED} AND "
            f"RIGHT(MD5(papers.source_id), 1) = '{digit}'",
        )
    for number, pool in enumerate(sorted(DIGITS), start=1):
        copy_corpus(database, pool, 1_000_000 * number)


@pytest.fixture(params=["duckdb", "postgresql"])
def grouped(
    request: pytest.FixtureRequest, templates: Templates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Database]:
    """A benchmark `pools` of four pools, and for each a benchmark of its own over a corpus of its own."""
    depth = BENCHMARK_TOML.replace('query_template = "text"', 'query_template = "title_abstract"')
    candidates = []
    for pool in sorted(DIGITS):
        write_benchmark(
            tmp_path,
            f"alone_{pool}",
            corpus=f"only_{pool}",
            toml=depth.replace("query_template", f"depth = {DEPTH + 1}\nquery_template"),
            queries=f"SELECT '{pool}/' || papers.source_id AS query_id, paper_id, CAST(NULL AS TEXT) AS text "
            + QUERIES,
        )
        candidates.append(
            f"SELECT '{pool}' AS pool, paper_id FROM papers WHERE {REQUESTED} AND {chosen(pool)}"
        )
    pools = " UNION ALL ".join(f"SELECT '{pool}' AS pool" for pool in DIGITS)
    write_benchmark(
        tmp_path,
        "pools",
        pool="grouped",
        toml=depth.replace("query_template", f"depth = {DEPTH}\nquery_template"),
        queries="SELECT pool || '/' || papers.source_id AS query_id, paper_id, CAST(NULL AS TEXT) AS text, "
        "pool " + QUERIES.replace("FROM papers", f"FROM papers CROSS JOIN ({pools}) AS pools"),
        candidates=" UNION ALL ".join(candidates),
    )
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(tmp_path))
    with templates.copy(request.param, fill, of="prepared") as opened:
        yield opened


def copy_corpus(database: Database, pool: str, offset: int) -> None:
    """A corpus `only_POOL` of the pool's papers, with ids of its own."""
    change(
        database,
        "INSERT INTO corpora (corpus_id, name, title, version, licence, source) "
        f"SELECT corpus_id + {offset}, 'only_{pool}', title, version, licence, source FROM corpora "
        "WHERE name = 'synthetic'",
    )
    change(
        database,
        "INSERT INTO papers (paper_id, corpus_id, source_id, title, abstract, batch_id) "
        f"SELECT paper_id + {offset}, corpus_id + {offset}, source_id, title, abstract, batch_id "
        f"FROM papers WHERE {REQUESTED} AND {chosen(pool)}",
    )


def rank(database: Database, folder: Path, benchmark: str, system: str, on: str | None = None) -> Hits:
    options = SystemOptions(folder, precision="fp32", device="cpu", on=on)
    index(database, benchmark, system, options=options)
    return read_hits(database, run(database, RunRequest(benchmark, system, options, again=True)).run_id)


def without_own(hits: Hits) -> Hits:
    """The rankings without each query's own paper, cut and numbered again."""
    kept: Hits = []
    places: dict[str, int] = {}
    for query_id, paper, _, score in hits:
        if query_id.split("/")[1] != paper and places.get(query_id, 0) < DEPTH:
            places[query_id] = places.get(query_id, 0) + 1
            kept.append((query_id, paper, places[query_id], score))
    return kept


@pytest.mark.in_turn
@pytest.mark.parametrize(("in_memory", "system"), alternate([True, False], ["sparse_bm25", "toy"]))
def test_each_pool_is_ranked_as_by_a_benchmark_over_the_pool_alone(
    grouped: Database,
    tmp_path: Path,
    toy_folder: str,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    in_memory: bool,
) -> None:
    monkeypatch.setattr(dense_pools, "BYTES_IN_MEMORY", 1 << 30 if in_memory else 0)
    requested = toy_folder if system == "toy" else system
    found = rank(grouped, tmp_path / "side", "pools", requested)
    assert {query_id.split("/")[0] for query_id, *_ in found} == set(DIGITS)
    for pool in DIGITS:
        alone = rank(grouped, tmp_path / "side", f"alone_{pool}", requested)
        assert [hit for hit in found if hit[0].startswith(f"{pool}/")] == without_own(alone)
        assert len(alone) > DEPTH, "the pool should have rankings"
    assert len({hit[0] for hit in found if hit[2] == DEPTH}) > 20, "some rankings should be cut"


@pytest.mark.in_turn
@pytest.mark.parametrize("system", ["sparse_bm25", "toy"])
def test_a_cluster_ranks_all_pools_as_one_machine_does(
    cluster: LocalCluster, grouped: Database, tmp_path: Path, toy_folder: str, system: str
) -> None:
    requested = toy_folder if system == "toy" else system
    alone, shared = (
        rank(grouped, tmp_path / "side", "pools", requested, on) for on in (None, cluster.address)
    )
    assert alone
    assert shared == alone


@pytest.mark.in_turn
@pytest.mark.parametrize("system", ["sparse_bm25", "toy"])
def test_a_querys_own_paper_is_in_no_ranking(
    grouped: Database, tmp_path: Path, toy_folder: str, system: str
) -> None:
    found = rank(grouped, tmp_path / "side", "pools", toy_folder if system == "toy" else system)
    assert found
    assert not [hit for hit in found if hit[0].split("/")[1] == hit[1]]


def read_grouped(database: Database) -> Workload:
    return read_workload(database, open_benchmark(database, "pools"))


def test_pools_nested_in_each_other_that_are_requested_the_same_are_one_chain(grouped: Database) -> None:
    workload = read_grouped(grouped)
    groups = workload.groups or {}
    names = {len(rows): pool for pool, rows in groups.items()}
    chains = [[names[len(rows)] for rows in chain.pools] for chain in dense_pools.chain_pools(workload)]
    assert chains == [["tiny", "small", "large"], ["other"]]


def test_a_part_of_a_grouped_workload_is_ranked_as_a_shared_pool(
    grouped: Database, tmp_path: Path, toy_folder: str
) -> None:
    options = SystemOptions(tmp_path / "side", precision="fp32", device="cpu")
    index(grouped, "pools", toy_folder, options=options)
    ranker = find_system(toy_folder, options)
    assert "rank_groups" in ranker.can
    workload = read_grouped(grouped)
    whole = {one.query_id: one for one in ranker.rank_groups(grouped, workload, Silent())}
    for part in workload.parts():
        for one in ranker.rank(grouped, part.workload, Silent()):
            own = one.query_id.split("/")[1]
            others = [row for row in part.rows[one.rows].tolist() if workload.source_ids[row] != own]
            assert whole[one.query_id].rows[: len(others)].tolist() == others
            assert others


def test_a_grouped_run_says_that_statistics_are_of_the_pool(grouped: Database, tmp_path: Path) -> None:
    rank(grouped, tmp_path / "side", "pools", "sparse_bm25")
    rank(grouped, tmp_path / "side", "alone_tiny", "sparse_bm25")
    with grouped.read() as session:
        stored = list(session.rows(sa.select(runs.c.benchmark, runs.c.parameters)))
    said = {row["benchmark"]: orjson.loads(row["parameters"]).get("statistics") for row in stored}
    assert said == {"pools": "pool", "alone_tiny": None}


@pytest.mark.parametrize("system", ["sparse_bm25", "toy"])
def test_a_missing_index_is_told_with_the_command_that_makes_it(
    grouped: Database, tmp_path: Path, toy_folder: str, system: str
) -> None:
    requested = toy_folder if system == "toy" else system
    options = SystemOptions(tmp_path / "side", precision="fp32", device="cpu")
    with pytest.raises(RunError, match=r"`pinakes index pools --system "):
        run(grouped, RunRequest("pools", requested, options))
