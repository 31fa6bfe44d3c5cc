"""Approximate indexes: whole or not there, refused when stale, never fewer hits than there are papers."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect, connect_read_only, vector_sql
from pinakes.database.pgvector_index import HnswSpec, create_hnsw, find_hnsw
from pinakes.errors import IndexingError, RunError
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.lexical import Ranked
from pinakes.schema import vectors_table
from pinakes.vectors.indexes import pgvector as pgvector_module
from pinakes.vectors.indexes.base import VectorQuery, select_text_digests
from pinakes.vectors.indexes.faiss_side import build_faiss_index, search_faiss
from pinakes.vectors.indexes.pgvector import build_pgvector
from pinakes.vectors.indexes.sql_search import open_sql_search, search_by_sql
from pinakes.vectors.stored import StoredEncoder
from pinakes.workload.scope import CorpusScope
from tests.benching import change, count
from tests.long import alternate, long
from tests.planting import NAME, make_queries, plant_vectors, store_vectors

pytestmark = pytest.mark.in_turn

SCOPE = CorpusScope("synthetic", "title_abstract", "--corpus synthetic")
TABLE = f"vectors_{NAME}"


@pytest.fixture
def prepared_postgres_db(prepared_postgres_url: str) -> Any:
    with connect(prepared_postgres_url) as opened:
        yield opened


def read_scope(database: Database) -> tuple[Any, Any]:
    """The paper ids of the corpus, ascending, and their vectors."""
    digests = select_text_digests(SCOPE).order_by(None).subquery()
    vectors = vectors_table(NAME, 16)
    query = sa.select(digests.c.paper_id, vectors.c.embedding).join(
        vectors, vectors.c.text_digest == digests.c.text_digest
    )
    with database.read() as session:
        rows = session.fetch_arrow(query.order_by(digests.c.paper_id))
    matrix = np.array(rows["embedding"].to_pylist(), dtype=np.float32)
    return rows["paper_id"].to_numpy(), matrix


def rank_exactly(database: Database, queries: Any, k: int, distance: Any, pool: Any = None) -> list[Ranked]:
    ids, matrix = read_scope(database)
    if pool is not None:
        chosen = np.isin(ids, pool)
        ids, matrix = ids[chosen], matrix[chosen]
    rows, scores = search_exact(queries, matrix, k, distance, ids)
    return [Ranked(ids[row], score) for row, score in zip(rows, scores, strict=True)]


def assert_same(found: list[Ranked], expected: list[Ranked]) -> None:
    for got, want in zip(found, expected, strict=True):
        assert got.paper_ids.tolist() == want.paper_ids.tolist()
        assert got.scores.tobytes() == want.scores.tobytes()


@pytest.mark.parametrize("distance", ["cosine", "l2", "inner_product"])
def test_exact_search_by_sql_is_exact_to_the_bit(prepared: Database, distance: Any) -> None:
    encoder = plant_vectors(prepared, SCOPE, others=100)
    queries = np.concatenate((make_queries(5), np.zeros((1, 16), np.float32)))
    found = search_by_sql(prepared, VectorQuery(SCOPE, encoder, queries, 20, distance=distance))
    assert_same(found.rankings, rank_exactly(prepared, queries, 20, distance))

    pool = read_scope(prepared)[0][::9]
    few = search_by_sql(prepared, VectorQuery(SCOPE, encoder, queries, 20, distance=distance, pool=pool))
    assert_same(few.rankings, rank_exactly(prepared, queries, 20, distance, pool))


def test_exact_search_asks_for_more_while_ties_may_be_cut(prepared: Database) -> None:
    encoder = plant_vectors(prepared, SCOPE)
    change(prepared, f"UPDATE {TABLE} SET embedding = '[{', '.join(['1'] * 16)}]'")
    query = make_queries(1)
    found = search_by_sql(prepared, VectorQuery(SCOPE, encoder, query, 3))
    assert_same(found.rankings, rank_exactly(prepared, query, 3, "cosine"))
    assert found.rankings[0].paper_ids.tolist() == read_scope(prepared)[0][:3].tolist()


def test_search_by_sql_takes_papers_of_one_text_together(prepared: Database) -> None:
    twins = "UPDATE papers SET title = 'Twins', abstract = NULL WHERE source_id < 'syn-00000040'"
    change(prepared, twins)
    encoder = plant_vectors(prepared, SCOPE)
    queries = make_queries(4)
    found = search_by_sql(prepared, VectorQuery(SCOPE, encoder, queries, 100))
    assert_same(found.rankings, rank_exactly(prepared, queries, 100, "cosine"))


def test_names_and_prefixes_are_values_whatever_they_hold(prepared: Database) -> None:
    odd = 'it\'s 100% :a \\ "b"'
    with prepared.begin() as session:
        session.execute("UPDATE corpora SET name = :name WHERE name = 'synthetic'", {"name": odd})
    scope = CorpusScope(odd, "50%: it's \\ :x {title_abstract}", "--corpus odd")
    encoder = plant_vectors(prepared, scope)
    found = search_by_sql(prepared, VectorQuery(scope, encoder, make_queries(2), 400, pool=None))
    assert [len(ranked.paper_ids) for ranked in found.rankings] == [300, 300]


@pytest.mark.parametrize(
    ("distance", "kind"), alternate(["cosine", "l2", "inner_product"], ["vector", "halfvec"])
)
def test_a_walk_through_hnsw_finds_what_exact_search_finds(
    prepared_postgres_db: Database, kind: str, distance: Any
) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE, others=100)
    built = build_pgvector(database, encoder, distance=distance, kind=kind, workers=0)
    assert (built.built, built.row_count, built.parameters["m"]) == (True, count(database, TABLE), 16)
    assert built.recall_10 is not None
    assert built.recall_10 > 0.9
    queries = make_queries(5)
    found = search_by_sql(database, VectorQuery(SCOPE, encoder, queries, 10, distance=distance), mode="hnsw")
    exact = rank_exactly(database, queries, 10, distance)
    shared = [len(set(a.paper_ids) & set(b.paper_ids)) for a, b in zip(found.rankings, exact, strict=True)]
    assert all(len(ranked.paper_ids) == 10 for ranked in found.rankings)
    assert sum(shared) >= 40
    assert found.exact_queries == 0


def test_a_walk_uses_the_index(prepared_postgres_db: Database) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE)
    build_pgvector(database, encoder, kind="halfvec")
    with open_sql_search(database, VectorQuery(SCOPE, encoder, make_queries(1), 10), "hnsw") as search:
        vector_sql.use_hnsw(search.session, 128, 20_000)
        assert search.spec is not None
        statement = vector_sql.hnsw_statement(
            search.session, search.table, make_queries(1)[0], 10, search.spec, in_pool=True
        )
        plan = [row["QUERY PLAN"] for row in search.session.rows(f"EXPLAIN {statement}")]
    assert any(f"Index Scan using {TABLE}_hnsw" in line for line in plan)


@pytest.mark.parametrize("size", [3, 12, 40, 299])
def test_a_filtered_walk_never_gives_fewer_than_there_are(prepared_postgres_db: Database, size: int) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE, others=600)
    build_pgvector(database, encoder)
    pool = read_scope(database)[0][:size]
    found = search_by_sql(database, VectorQuery(SCOPE, encoder, make_queries(8), 25, pool=pool), mode="hnsw")
    for ranked in found.rankings:
        assert len(ranked.paper_ids) == min(25, size)
        assert set(ranked.paper_ids) <= set(pool)


def test_a_walk_that_ends_too_early_is_done_again_exactly(
    prepared_postgres_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE)
    build_pgvector(database, encoder)
    monkeypatch.setattr(
        "pinakes.vectors.indexes.sql_search.nearest_hnsw",
        lambda *_: ([], np.empty((0, 16), np.float32)),
    )
    queries = make_queries(3)
    found = search_by_sql(database, VectorQuery(SCOPE, encoder, queries, 10), mode="hnsw")
    assert found.exact_queries == 3
    assert_same(found.rankings, rank_exactly(database, queries, 10, "cosine"))


def test_a_database_opened_read_only_is_searched(prepared_url: str) -> None:
    with connect(prepared_url) as database:
        encoder = plant_vectors(database, SCOPE)
        expected = rank_exactly(database, make_queries(2), 5, "cosine")
        pool = read_scope(database)[0][:100]
    with connect_read_only(prepared_url) as database:
        assert_same(
            search_by_sql(database, VectorQuery(SCOPE, encoder, make_queries(2), 5)).rankings, expected
        )
        few = search_by_sql(database, VectorQuery(SCOPE, encoder, make_queries(2), 5, pool=pool))
        assert [len(ranked.paper_ids) for ranked in few.rankings] == [5, 5]


@pytest.mark.parametrize("kind", ["vector", long("halfvec")])
def test_the_stored_recall_is_that_of_searches_by_the_papers_themselves(
    prepared_postgres_db: Database, kind: str
) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE)
    make_random(database)
    built = build_pgvector(database, encoder, kind=kind, m=2, ef_construction=4, workers=0)
    stored = "SELECT recall_10, recall_100 FROM side_indexes"
    with database.read() as session:
        recall = session.rows(stored)[0]
    assert recall == {"recall_10": built.recall_10, "recall_100": built.recall_100}
    measured_with = {key: built.parameters[key] for key in ("ef_search", "recall_queries")}
    assert measured_with == {"ef_search": 128, "recall_queries": 100}
    for depth in (10, 100):
        assert recall[f"recall_{depth}"] == pytest.approx(recall_by_hand(database, encoder, depth), abs=1e-9)
        assert 0.3 < recall[f"recall_{depth}"] < 0.99


def make_random(database: Database) -> None:
    """Each text with a random vector, which a graph of few links leads to badly."""
    table = vectors_table(NAME, 16)
    with database.begin() as session:
        digests = sorted(str(row["text_digest"]) for row in session.rows(sa.select(table.c.text_digest)))
        session.execute(sa.delete(table))
        store_vectors(session, digests, np.random.default_rng(4).standard_normal((len(digests), 16)))


def recall_by_hand(database: Database, encoder: StoredEncoder, depth: int) -> float:
    """By 100 searches through the index, each by a paper that is then left out of what was found."""
    ids, matrix = read_scope(database)
    digests = select_text_digests(SCOPE).order_by(None).subquery()
    with database.read() as session:
        by_md5 = sa.select(digests).order_by(sa.text("md5(CAST(text_digest AS TEXT))")).limit(100)
        asking = [row["paper_id"] for row in session.rows(by_md5)]
    vectors = np.concatenate([matrix[ids == paper_id] for paper_id in asking])
    request = VectorQuery(SCOPE, encoder, vectors, depth + 1)
    rankings = search_by_sql(database, request, mode="hnsw").rankings
    shares = []
    for paper_id, vector, ranked in zip(asking, vectors, rankings, strict=True):
        cosines = (matrix @ vector) / np.linalg.norm(matrix, axis=1)
        best = set(ids[np.argsort(-cosines)[: depth + 1]].tolist()) - {paper_id}
        found = [other for other in ranked.paper_ids.tolist() if other != paper_id][:depth]
        shares.append(len(best.intersection(found)) / depth)
    return float(np.mean(shares))


def test_recall_is_measured_anew_after_texts_came_or_changed(prepared_postgres_db: Database) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE)
    first = build_pgvector(database, encoder, workers=0)
    (_, vector) = read_scope(database)
    added = "00000000-0000-0000-0000-000000000001"
    with database.begin() as session:
        store_vectors(session, [added], vector[1:2])
    more = build_pgvector(database, encoder, workers=0)
    assert (more.built, more.row_count) == (False, first.row_count + 1)
    change(
        database,
        f"UPDATE {TABLE} SET text_digest = CAST('{'1' * 32}' AS UUID) WHERE text_digest = "
        f"CAST('{added}' AS UUID)",
    )
    with database.read() as session:
        before = session.scalar("SELECT content_digest FROM side_indexes")
    assert build_pgvector(database, encoder, workers=0).row_count == more.row_count
    with database.read() as session:
        assert session.scalar("SELECT content_digest FROM side_indexes") != before


def test_the_recall_of_a_replaced_index_is_not_that_of_the_new_one(
    prepared_postgres_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE)
    build_pgvector(database, encoder, workers=0)

    def killed(*_arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(pgvector_module, "_measure", killed)
        with pytest.raises(KeyboardInterrupt):
            build_pgvector(database, encoder, m=8, workers=0)
    again = build_pgvector(database, encoder, m=8, workers=0)
    assert (again.built, again.parameters["m"]) == (True, 8)
    assert not build_pgvector(database, encoder, m=8, workers=0).built


def test_an_index_of_the_same_settings_is_not_built_again(prepared_postgres_db: Database) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE)
    first = build_pgvector(database, encoder)
    again = build_pgvector(database, encoder)
    assert (again.built, again.recall_10, again.parameters) == (False, first.recall_10, first.parameters)
    other = build_pgvector(database, encoder, m=8)
    assert (other.built, other.parameters["m"]) == (True, 8)
    assert count(database, "side_indexes") == 1


def test_a_backend_killed_in_a_build_leaves_nothing_and_a_rerun_completes(
    prepared_postgres_db: Database,
) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE, others=20_000)
    table = vectors_table(NAME, 16)
    spec = HnswSpec("vector", "cosine", 16, 16, 200)
    killed: list[bool] = []

    def kill(_phase: str, done: int, _total: int) -> None:
        with database.engine.connect() as connection:
            pids = connection.execute(
                sa.text("SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index")
            )
            killed.extend(bool(row[0]) for row in pids)

    with pytest.raises(Exception, match="start the same command again"):
        create_hnsw(database, table, spec, workers=0, progress=kill)
    assert any(killed)
    database.close()
    with database.read() as session:
        assert find_hnsw(session, table) is None
        leftover = session.rows(
            "SELECT indexrelid FROM pg_index WHERE indrelid = to_regclass(:t) AND NOT indisprimary",
            {"t": TABLE},
        )
        assert leftover == []
    # coarser, since the fine one takes long: what is left of that would be in its way too
    assert build_pgvector(database, encoder, ef_construction=32, workers=0).built
    queries = make_queries(5)
    undisturbed = search_by_sql(database, VectorQuery(SCOPE, encoder, queries, 5), mode="hnsw")
    assert [len(ranked.paper_ids) for ranked in undisturbed.rankings] == [5] * 5


CHILD = """
import sys
from pinakes.database import connect
from pinakes.database.pgvector_index import HnswSpec, create_hnsw
from pinakes.schema import vectors_table

def tell(phase, done, total):
    print(phase, flush=True)

with connect(sys.argv[1]) as database:
    spec = HnswSpec("vector", "cosine", 16, 16, 200)
    create_hnsw(database, vectors_table(sys.argv[2], 16), spec, workers=0, progress=tell)
"""


@pytest.mark.long  # another kill of the same build, by a process of its own
def test_a_client_killed_in_a_build_leaves_nothing_and_a_rerun_completes(
    prepared_postgres_url: str, prepared_postgres_db: Database
) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE, others=20_000)
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, prepared_postgres_url, NAME], stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        assert any(line.startswith(b"building index") for line in child.stdout)  # after "initializing"
        child.send_signal(signal.SIGKILL)
    with database.read() as session:
        assert find_hnsw(session, vectors_table(NAME, 16)) is None
    # coarser, since the fine one takes long: what is left of that would be in its way too
    assert build_pgvector(database, encoder, ef_construction=32, workers=0).built
    with database.read() as session:
        names = session.rows("SELECT indexname FROM pg_indexes WHERE tablename = :t", {"t": TABLE})
    assert sorted(row["indexname"] for row in names) == [f"{TABLE}_hnsw", f"{TABLE}_pkey"]


def test_killed_between_the_index_and_its_row_a_rerun_measures_alone(
    prepared_postgres_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE)

    def killed(*_arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(pgvector_module, "_measure", killed)
        with pytest.raises(KeyboardInterrupt):
            build_pgvector(database, encoder)
    assert count(database, "side_indexes") == 0
    with database.read() as session:
        before = session.scalar(f"SELECT CAST(to_regclass('{TABLE}_hnsw') AS OID)")
    assert build_pgvector(database, encoder).built
    with database.read() as session:
        assert session.scalar(f"SELECT CAST(to_regclass('{TABLE}_hnsw') AS OID)") == before
    assert count(database, "side_indexes") == 1


def test_an_invalid_index_is_built_again(prepared_postgres_db: Database) -> None:
    database = prepared_postgres_db
    encoder = plant_vectors(database, SCOPE)
    build_pgvector(database, encoder)
    change(database, f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('{TABLE}_hnsw')")
    with pytest.raises(RunError, match=r"build it with `pinakes index pgvector --system planted"):
        search_by_sql(database, VectorQuery(SCOPE, encoder, make_queries(1), 3), mode="hnsw")
    assert build_pgvector(database, encoder).built
    with database.read() as session:
        spec = find_hnsw(session, vectors_table(NAME, 16))
    assert spec is not None
    assert spec.m == 16


def test_duckdb_has_no_pgvector(prepared_duckdb_url: str) -> None:
    with connect(prepared_duckdb_url) as database:
        encoder = plant_vectors(database, SCOPE)
        with pytest.raises(IndexingError, match="pinakes index faiss"):
            build_pgvector(database, encoder)


def test_more_dimensions_than_pgvector_indexes_are_refused_before_the_build() -> None:
    HnswSpec("halfvec", "cosine", 2001, 16, 64).check()
    with pytest.raises(IndexingError, match="choose the kind halfvec"):
        HnswSpec("vector", "cosine", 2001, 16, 64).check()
    with pytest.raises(IndexingError, match="at least twice m"):
        HnswSpec("vector", "cosine", 16, 40, 64).check()


def build(
    database: Database, folder: Path, encoder: StoredEncoder, kind: str = "hnsw", **options: int
) -> Any:
    return build_faiss_index(database, folder, SCOPE, encoder, kind, options=options)


def test_a_faiss_index_is_described_and_not_built_again(prepared: Database, tmp_path: Path) -> None:
    encoder = plant_vectors(prepared, SCOPE, others=10)
    first = build(prepared, tmp_path, encoder)
    assert (first.kind, first.row_count, first.built) == ("faiss_hnsw", 300, True)
    assert first.parameters["factory"] == "HNSW32,Flat"
    assert first.recall_10 is not None
    assert first.recall_10 > 0.95
    assert not build(prepared, tmp_path, encoder).built
    assert build(prepared, tmp_path, encoder, m=8).parameters["factory"] == "HNSW8,Flat"
    assert build(prepared, tmp_path, encoder).parameters["factory"] == "HNSW32,Flat"
    assert count(prepared, "side_indexes") == 1


def test_faiss_hits_have_exact_scores_and_order(prepared: Database, tmp_path: Path) -> None:
    encoder = plant_vectors(prepared, SCOPE, others=10)
    build(prepared, tmp_path, encoder, "flat")
    queries = make_queries(6)
    found = search_faiss(prepared, tmp_path, "flat", VectorQuery(SCOPE, encoder, queries, 30))
    for got, want in zip(found.rankings, rank_exactly(prepared, queries, 30, "cosine"), strict=True):
        assert got.scores.tobytes() == want.scores.tobytes()


def test_a_stale_faiss_index_is_refused_with_the_command(prepared: Database, tmp_path: Path) -> None:
    encoder = plant_vectors(prepared, SCOPE)
    build(prepared, tmp_path, encoder, m=8)
    change(prepared, "UPDATE papers SET title = '', abstract = NULL WHERE source_id = 'syn-00000007'")
    command = (
        r"pinakes index faiss --corpus synthetic --system planted --precision fp32 --kind hnsw "
        r"--distance cosine --option ef_construction=80 --option m=8`"
    )
    with pytest.raises(RunError, match=command):
        search_faiss(prepared, tmp_path, "hnsw", VectorQuery(SCOPE, encoder, make_queries(1), 3))
    built = build(prepared, tmp_path, encoder, m=8)
    assert (built.built, built.row_count) == (True, 299)
    search_faiss(prepared, tmp_path, "hnsw", VectorQuery(SCOPE, encoder, make_queries(1), 3))
    assert len(list((tmp_path / "faiss").iterdir())) == 1


def test_an_index_of_other_weights_is_stale(prepared: Database, tmp_path: Path) -> None:
    encoder = plant_vectors(prepared, SCOPE)
    build(prepared, tmp_path, encoder, "flat")
    change(prepared, "UPDATE encoders SET weights_digest = 'others'")
    with pytest.raises(RunError, match="built from other texts or vectors"):
        search_faiss(prepared, tmp_path, "flat", VectorQuery(SCOPE, encoder, make_queries(1), 3))


def test_a_text_without_a_vector_stops_the_build(prepared: Database, tmp_path: Path) -> None:
    encoder = plant_vectors(prepared, SCOPE)
    change(prepared, "UPDATE papers SET title = 'A new title' WHERE source_id = 'syn-00000007'")
    with pytest.raises(RunError, match=r"1 texts .* `pinakes index --corpus synthetic --system planted"):
        build(prepared, tmp_path, encoder)


def test_a_damaged_faiss_index_is_never_searched_and_is_built_again(
    prepared: Database, tmp_path: Path
) -> None:
    encoder = plant_vectors(prepared, SCOPE)
    build(prepared, tmp_path, encoder, "flat")
    file = next(tmp_path.rglob("index.faiss"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(IndexingError, match="damaged"):
        search_faiss(prepared, tmp_path, "flat", VectorQuery(SCOPE, encoder, make_queries(1), 3))
    assert build(prepared, tmp_path, encoder, "flat").built
    search_faiss(prepared, tmp_path, "flat", VectorQuery(SCOPE, encoder, make_queries(1), 3))


def test_another_distance_than_the_index_has_is_refused(prepared: Database, tmp_path: Path) -> None:
    encoder = plant_vectors(prepared, SCOPE)
    build(prepared, tmp_path, encoder, "flat")
    with pytest.raises(RunError, match="--distance l2"):
        search_faiss(
            prepared, tmp_path, "flat", VectorQuery(SCOPE, encoder, make_queries(1), 3, distance="l2")
        )
