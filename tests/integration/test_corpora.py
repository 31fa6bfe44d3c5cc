"""Corpora as partitioned Parquet: every row in a file, read in place or taken back, with the same scores."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect, connect_read_only
from pinakes.errors import DatabaseError, InputError, PinakesError, UnknownNameError
from pinakes.evaluate.evaluate import evaluate
from pinakes.export.corpora import write
from pinakes.export.corpora.in_place import read_in_place
from pinakes.export.corpora.manifest import MANIFEST
from pinakes.export.corpora.tables import list_corpus_tables, number_buckets, select_rows
from pinakes.export.corpora.take import import_corpora
from pinakes.export.corpora.write import export_corpora
from pinakes.index.index import index
from pinakes.queries.install import initialise
from pinakes.run.run import RunRequest, run
from pinakes.schema import SCHEMA_VERSION, metadata, papers
from pinakes.systems.base import SystemOptions
from tests.benching import change, read_hits
from tests.calling import Call
from tests.stores import ObjectStore
from tests.wordnets import build_wordnet

pytestmark = pytest.mark.in_turn

NOT_OF_CORPORA = {
    *("encoders", "side_indexes", "fragment_sets", "schema_version", "term_indexes", "indexed_terms"),
    *("indexed_papers", "postings"),
    *("trainings", "training_tasks", "training_instances", "training_omissions", "trained_models"),
    *("benchmarks", "benchmark_corpora", "published_scores", "tuned_parameters"),
    *("suites", "suite_groups", "suite_extras", "suite_figures", "suite_runs", "suite_intervals"),
    *("samplings", "sampled_queries", "sampled_citations", "sampling_exclusions", "pools", "pool_members"),
    *("constructed_candidates", "construction_clashes", "construction_models"),
    *("runs", "hits", "scores", "score_intervals", "predictions", "probes", "self_ranks"),
    *("neighbour_overlaps", "similarity_statistics", "vector_maps", "cluster_assignments", "clusterings"),
    *("sentence_scores",),
    *("evaluations", "evaluation_scores", "accepted_scores", "accepted_query_scores", "accepted_judgments"),
}
"""what is made from corpora, or is of the database: an export has none of it"""


def read_tables(database: Database) -> dict[str, list[dict[str, Any]]]:
    with database.read() as session:
        return {
            table.name: sorted(map(_count_microseconds, session.rows(sa.select(*_as_texts(table)))), key=repr)
            for table in list_corpus_tables()
        }


def _count_microseconds(row: dict[str, Any]) -> dict[str, Any]:
    """Whole microseconds: as seconds in doubles, the databases differ in the last bit, a quarter of one."""
    return {name: round(value * 1e6) if name.endswith("_at") else value for name, value in row.items()}


def _as_texts(table: sa.Table) -> Iterator[sa.ColumnElement[Any]]:
    for column in table.c:
        if isinstance(column.type, sa.Uuid):
            yield sa.cast(column, sa.Text).label(column.name)
        elif isinstance(column.type, sa.DateTime):
            yield sa.cast(sa.extract("epoch", column), sa.Double).label(column.name)
        else:
            yield column


def score(database: Database, folder: Path) -> tuple[list[Any], list[Any]]:
    """The hits of a system, and its scores by query."""
    options = SystemOptions(folder)
    index(database, "synthetic", "sparse_bm25", options=options)
    made = run(database, RunRequest("synthetic", "sparse_bm25", options))
    evaluate(database, "synthetic")
    with database.read() as session:
        rows = session.rows(
            "SELECT measure, subset, query_id, value FROM scores WHERE run_id = :run "
            "ORDER BY measure, subset, query_id",
            {"run": made.run_id},
        )
    return read_hits(database, made.run_id), [tuple(row.values()) for row in rows]


@pytest.fixture
def in_place(tmp_path: Path) -> Iterator[Database]:
    """A new DuckDB file, for views."""
    with connect(f"duckdb:///{tmp_path / 'views.duckdb'}") as database:
        initialise(database)
        yield database


def test_every_table_is_exported_or_is_of_no_corpus() -> None:
    exported = {table.name for table in list_corpus_tables()}
    assert not exported & NOT_OF_CORPORA
    assert exported | NOT_OF_CORPORA == {table.name for table in metadata.sorted_tables}


def test_rows_and_scores_are_those_of_the_database_that_they_came_from(
    prepared: Database,
    initialised_duckdb: Database,
    initialised_postgres: Database,
    in_place: Database,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "out folder"
    exported = export_corpora(prepared, folder, buckets=3)
    rows = read_tables(prepared)
    assert sum(one.rows for one in exported) == sum(map(len, rows.values()))
    assert {one.corpus: one.buckets for one in exported} == {"csfcube": 3, "scifact": 3, "synthetic": 3}
    expected = score(prepared, tmp_path / "own")
    for number, database in enumerate((initialised_duckdb, initialised_postgres)):
        taken = import_corpora(database, folder)
        assert [(one.corpus, one.rows) for one in taken] == [(one.corpus, one.rows) for one in exported]
        assert read_tables(database) == rows
        assert score(database, tmp_path / str(number)) == expected
    assert read_in_place(in_place, folder) == ["csfcube", "scifact", "synthetic"]
    assert read_tables(in_place) == rows
    assert score(in_place, tmp_path / "views") == expected
    # What is exported again is the same, to the byte.
    again = export_corpora(initialised_postgres, tmp_path / "again", buckets=3)
    assert again == exported
    assert (tmp_path / "again" / MANIFEST).read_bytes() == (folder / MANIFEST).read_bytes()


def test_a_row_is_in_the_bucket_of_its_paper_and_the_manifest_counts_it(
    prepared: Database, tmp_path: Path
) -> None:
    (made,) = export_corpora(prepared, tmp_path, ["synthetic"], 4)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    files = manifest["files"]
    assert made.files == len(files)
    assert {one["name"] for one in files} | {MANIFEST} == {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()
    } - {path.name for path in tmp_path.glob("*.duckdb*")}
    for one in files:
        content = (tmp_path / one["name"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (one["bytes"], one["sha256"])
        table = pq.ParquetFile(tmp_path / one["name"]).read()
        assert table.num_rows == one["rows"] > 0
        if one["table"] in ("papers", "sentences"):
            assert f"/corpus=synthetic/bucket={one['bucket']}/part-" in one["name"]
            assert set(number_buckets(table["paper_id"].to_numpy(), 4).tolist()) == {one["bucket"]}
    counted: dict[str, int] = {}
    for one in files:
        counted[one["table"]] = counted.get(one["table"], 0) + one["rows"]
    assert {name: rows for name, rows in manifest["corpora"]["synthetic"].items() if rows} == counted


def test_rows_that_wait_are_written_when_they_are_many(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_corpora(prepared, tmp_path / "one", buckets=5)
    monkeypatch.setattr(write, "BYTES_HELD", 100)
    export_corpora(prepared, tmp_path / "two", buckets=5)
    for one in (tmp_path / "one").glob("papers/*/bucket=*"):
        (first,) = one.iterdir()
        (second,) = (tmp_path / "two" / one.relative_to(tmp_path / "one")).iterdir()
        assert pq.ParquetFile(first).read().equals(pq.ParquetFile(second).read())


def test_an_export_that_is_stopped_leaves_the_one_before(
    prepared: Database, initialised_duckdb: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    export_corpora(prepared, folder)
    before = read_tables(prepared)
    change(prepared, "UPDATE papers SET title = 'changed' WHERE paper_id = 1")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(write, "write_manifest", stop)
        with pytest.raises(KeyboardInterrupt):
            export_corpora(prepared, folder)
    import_corpora(initialised_duckdb, folder)
    assert read_tables(initialised_duckdb) == before
    made = export_corpora(prepared, folder)
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1 + sum(one.files for one in made)


def test_fewer_rows_than_the_table_has_are_an_error(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "select_rows", lambda table, corpus: select_rows(table, corpus).limit(5))
    with pytest.raises(PinakesError, match="rows of csfcube, and 5 were written"):
        export_corpora(prepared, tmp_path / "out")
    assert not (tmp_path / "out" / MANIFEST).exists()


def test_corpora_of_an_object_store_are_taken_and_read_in_place(
    prepared: Database,
    initialised_postgres: Database,
    in_place: Database,
    store: ObjectStore,
    tmp_path: Path,
) -> None:
    key = f"{tmp_path.name}/corpora ü [1]"
    export_corpora(prepared, store.address(key), buckets=2)
    import_corpora(initialised_postgres, store.address(key))
    rows = read_tables(prepared)
    assert read_tables(initialised_postgres) == rows
    assert read_in_place(in_place, store.address(key)) == ["csfcube", "scifact", "synthetic"]
    assert read_tables(in_place) == rows
    assert score(in_place, tmp_path / "views") == score(prepared, tmp_path / "own")
    export_corpora(prepared, store.address(key), ["scifact"])
    assert not [name for name in store.list_files(key) if "corpus=csfcube" in name]
    with in_place.read() as session, pytest.raises(DatabaseError, match="is no longer in s3://bucket"):
        session.rows(sa.select(papers.c.title))
    assert read_in_place(in_place, store.address(key)) == ["scifact"]


def test_corpora_that_are_known_or_have_taken_ids_are_refused(
    prepared: Database, initialised: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    export_corpora(prepared, folder)
    import_corpora(initialised, folder, ["scifact"])
    import_corpora(initialised, folder, ["csfcube"])
    with pytest.raises(InputError, match="has a corpus csfcube already"):
        import_corpora(initialised, folder)
    with pytest.raises(UnknownNameError, match="unknown corpus 'nobody'"):
        import_corpora(initialised, folder, ["nobody"])
    before = read_tables(initialised)
    change(
        initialised, "UPDATE papers SET paper_id = 100 WHERE paper_id = (SELECT MIN(paper_id) FROM papers)"
    )
    with pytest.raises(InputError, match="1 ids of papers that the corpus synthetic has are taken"):
        import_corpora(initialised, folder, ["synthetic"])
    assert len(read_tables(initialised)["corpora"]) == len(before["corpora"]) == 2


def test_what_is_not_whole_is_refused(prepared: Database, initialised: Database, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected corpora\.json"):
        import_corpora(initialised, tmp_path / "none")
    folder = tmp_path / "out"
    with pytest.raises(UnknownNameError):
        export_corpora(prepared, folder, ["nobody"])
    with pytest.raises(InputError, match="expected 1 to 1024"):
        export_corpora(prepared, folder, buckets=0)
    with pytest.raises(InputError, match="no corpus is loaded"):
        export_corpora(initialised, folder)
    export_corpora(prepared, folder)
    (first, *_) = folder.glob("papers/corpus=scifact/*/*.parquet")
    content = first.read_bytes()
    first.write_bytes(content[:-9] + b"x" + content[-8:])
    with pytest.raises(InputError, match="is damaged"):
        import_corpora(initialised, folder)
    first.write_bytes(content[:-1])
    with pytest.raises(InputError, match="1 files are not there as they were written"):
        import_corpora(initialised, folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | {"schema_version": 1}))
    with pytest.raises(InputError, match=f"schema version {SCHEMA_VERSION}, found 1 and 1"):
        import_corpora(initialised, folder)
    (folder / MANIFEST).write_text("[")
    with pytest.raises(InputError, match="is damaged"):
        import_corpora(initialised, folder)
    with initialised.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(papers)) == 0


def test_files_that_are_read_in_place_are_only_read(
    prepared: Database, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_WORDNET", str(build_wordnet(tmp_path / "wordnet")))
    folder, db = tmp_path / "out", str(tmp_path / "own.duckdb")
    export_corpora(prepared, folder)
    made = call("init", "--over", str(folder), "--db", db)
    assert made.code == 0, made.err
    assert "reads csfcube, scifact, synthetic in" in made.err
    for words in (
        ("load", "synthetic", "--corpus", "own"),
        ("load", "synthetic"),
        ("remove", "corpus", "scifact", "--yes"),
        ("resolve", "synthetic"),
        ("deduplicate", "csfcube"),
        ("gc", "--yes"),
        ("derive", "neighbours", "--corpus", "synthetic"),
        ("import-corpora", str(folder)),
    ):
        refused = call(*words, "--db", db)
        assert refused.code == 1, words
        assert "read in place, and cannot be changed" in refused.err or "already" in refused.err, refused.err
    with connect_read_only(db) as database:
        assert len(read_tables(database)["papers"]) == len(read_tables(prepared)["papers"])
    asked = call("sql", "SELECT COUNT(*) AS n FROM judged_papers", "--db", db, "--csv")
    assert int(asked.out.split()[1]) > 0
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    assert "expected tables and views" in call("sql", f"SELECT * FROM read_csv('{secret}')", "--db", db).err
    copied = call("sql", f"COPY (SELECT 1) TO '{folder}/x.csv'", "--db", db)
    assert copied.code == 1
    assert not (folder / "x.csv").exists()
    # Exported again, the files have other names; the next `init --over` reads those.
    change(prepared, "UPDATE papers SET title = 'changed' WHERE paper_id = 1")
    export_corpora(prepared, folder)
    lost = call("status", "--db", db)
    assert lost.code == 1
    assert "pinakes init --over" in lost.err
    assert call("init", "--over", str(folder), "--db", db).code == 0
    with connect_read_only(db) as database:
        assert read_tables(database) == read_tables(prepared)


def test_views_take_no_place_of_a_corpus(prepared: Database, in_place: Database, tmp_path: Path) -> None:
    export_corpora(prepared, tmp_path / "out")
    expected = "Postgres reads no Parquet" if prepared.name == "postgresql" else "3 corpora of its own"
    with pytest.raises(InputError, match=expected):
        read_in_place(prepared, tmp_path / "out")
    read_in_place(in_place, tmp_path / "out")
    with pytest.raises(DatabaseError, match="cannot be changed"):
        change(in_place, "DELETE FROM papers")
