"""A sparse index as tables: SQL ranks as the system does; rows are renewed, removed, known as stale."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.database.core import Session
from pinakes.database.read_only import ask
from pinakes.errors import InputError, UnknownNameError
from pinakes.index.index import index, index_corpus
from pinakes.indexers.analysis import named_analysis
from pinakes.indexers.sparse_bm25.analyse import GrowingVocabulary, TermIds
from pinakes.indexers.sparse_bm25.build import write_sparse_bm25
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.load.load import LoadRequest, load
from pinakes.progress import Silent
from pinakes.recipes import fill, find_recipe
from pinakes.removal.gc import collect_garbage
from pinakes.removal.remove import remove_corpus
from pinakes.report.status import find_orphans, read_status
from pinakes.run.run import RunRequest, run
from pinakes.schema import papers, postings, side_indexes
from pinakes.schema.removal import remove_rows
from pinakes.systems.base import SystemOptions
from pinakes.vectors.term_tables import Weighing, write_down
from tests.benching import change, count, read_hits
from tests.calling import Call
from tests.loading import dump_tables, paper, write_beir
from tests.real_data import REAL_DATA, needs_real_data

pytestmark = pytest.mark.in_turn

SYSTEM = "sparse_bm25"
TABLES = ("term_indexes", "indexed_papers", "indexed_terms", "postings")
NAME = "scifact/sparse_bm25/title_abstract"
ROUNDING = 2.0**-24
"""half of the last bit of a 32-bit float"""


def write(database: Database, folder: Path, corpus: str = "scifact", **options: str) -> None:
    system = options.pop("system", SYSTEM)
    index_corpus(database, corpus, system, options=SystemOptions(folder, parameters=options), postings=True)


def counts(database: Database) -> dict[str, int]:
    return {table: count(database, table) for table in TABLES}


def read_rows(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query)]


def rank_by_sql(database: Database, recipe: str, **values: str) -> list[tuple[str, float]]:
    """source_id and unrounded score of a recipe's rows, in its order."""
    text = fill(database, find_recipe(recipe), {"limit": "100000", **values})
    with ask(database, text.replace("CAST(placed.score AS DECIMAL(9, 4))", "placed.score")) as result:
        return [(row[0], float(row[-1])) for row in result.rows]


def check_rankings(database: Database, name: str, run_id: int, analysis: str = "lucene") -> int:
    """Compare the ranking by SQL of every query of a run with its hits; how many ranks differ.

    A score is that of SQL but for the rounding of each part and of each sum to 32 bits. A rank may differ
    where the 32-bit score differs by less than that.
    """
    hits: dict[str, list[tuple[str, float]]] = {}
    for query_id, source_id, _rank, score in read_hits(database, run_id):
        hits.setdefault(query_id, []).append((source_id, score))
    analyse, differing = named_analysis(analysis).build().analyze, 0
    benchmark = read_rows(database, f"SELECT benchmark FROM runs WHERE run_id = {run_id}")[0][0]
    for query_id, text in read_rows(database, f"SELECT query_id, text FROM {benchmark}.queries"):
        if query_id not in hits:
            continue
        found, expected = rank_by_sql(database, "bm25", index=name, text=text), dict(hits[query_id])
        bound = (len(set(analyse(text))) + 1) * ROUNDING
        assert {source_id for source_id, _ in found} == expected.keys()
        for source_id, score in found:
            assert abs(score - expected[source_id]) <= bound * score
        in_this_order = np.array([expected[source_id] for source_id, _ in found])
        assert (np.diff(in_this_order) <= 2 * bound * in_this_order[1:]).all()
        differing += sum(one[0] != other[0] for one, other in zip(found, hits[query_id], strict=True))
    assert hits
    return differing


def test_every_query_of_the_bundled_corpus_ranks_by_sql_as_the_system_does(
    initialised: Database, tmp_path: Path
) -> None:
    load(initialised, LoadRequest("synthetic"))
    write(initialised, tmp_path, "synthetic")
    made = run(initialised, RunRequest("synthetic", SYSTEM, SystemOptions(tmp_path), depth=2_000))
    assert check_rankings(initialised, "synthetic/sparse_bm25/title_abstract", made.run_id) == 0


@needs_real_data
@pytest.mark.long
def test_every_query_of_scifact_ranks_by_sql_as_the_system_does(
    initialised: Database, tmp_path: Path
) -> None:
    load(initialised, LoadRequest("beir", REAL_DATA / "scifact"))
    write(initialised, tmp_path)
    made = run(initialised, RunRequest("scifact", SYSTEM, SystemOptions(tmp_path), depth=6_000))
    # Where two scores differ by less than 32 bits tell, SQL has the order of the exact ones.
    assert check_rankings(initialised, NAME, made.run_id) <= 20


def test_another_k1_and_b_give_the_scores_of_a_run_with_them(prepared: Database, tmp_path: Path) -> None:
    write(prepared, tmp_path, "synthetic")
    options = SystemOptions(tmp_path, parameters={"k1": "0.9", "b": "0.4"})
    made = run(prepared, RunRequest("synthetic", SYSTEM, options, depth=300))
    name = "synthetic/sparse_bm25/title_abstract"
    queries = read_rows(prepared, "SELECT query_id, text FROM synthetic.queries ORDER BY query_id")[:5]
    expected = read_hits(prepared, made.run_id)
    for query_id, text in queries:
        found = rank_by_sql(prepared, "bm25-own-k1-and-b", index=name, text=text, k1="0.9", b="0.4")
        scores = [(source_id, score) for query, source_id, _rank, score in expected if query == query_id]
        assert [source_id for source_id, _ in found] == [source_id for source_id, _ in scores]
        assert [one for _, one in found] == pytest.approx([one for _, one in scores], rel=1e-6)


def test_weights_follow_from_the_other_columns(prepared: Database, tmp_path: Path) -> None:
    write(prepared, tmp_path, "synthetic", k1="2", b="0.3")
    found = read_rows(
        prepared,
        """
        SELECT MAX(ABS(postings.weight - indexed_terms.idf * frequency * (k1 + 1)
            / (frequency + k1 * (1 - b + b * length / average_length)))) AS weight,
            MAX(ABS(idf - LN(1 + (counted_papers - document_frequency + 0.5)
                / (document_frequency + 0.5)))) AS idf,
            COUNT(*) AS found, SUM(frequency) AS tokens
        FROM postings
        INNER JOIN indexed_terms ON postings.term_id = indexed_terms.term_id
        INNER JOIN term_indexes ON indexed_terms.side_index_id = term_indexes.side_index_id
        INNER JOIN indexed_papers ON indexed_terms.side_index_id = indexed_papers.side_index_id
            AND postings.paper_id = indexed_papers.paper_id
        """,
    )
    weights, idf, rows, tokens = found[0]
    assert weights < 1e-13
    assert idf < 1e-13
    assert rows == count(prepared, "postings")
    ((lengths, mean, terms, papers),) = read_rows(
        prepared,
        "SELECT SUM(length) AS lengths, MAX(average_length) AS mean, MAX(term_count) AS terms, "
        "MAX(counted_papers) AS papers FROM indexed_papers "
        "INNER JOIN term_indexes ON indexed_papers.side_index_id = term_indexes.side_index_id",
    )
    assert (lengths, papers, terms) == (tokens, 300, count(prepared, "indexed_terms"))
    assert mean == pytest.approx(lengths / 300)


def test_nothing_is_written_unless_it_is_asked_for(prepared: Database, tmp_path: Path) -> None:
    options = SystemOptions(tmp_path)
    index_corpus(prepared, "scifact", SYSTEM, options=options)
    assert set(counts(prepared).values()) == {0}
    index(prepared, "scifact", SYSTEM, options=options, postings=True)
    # Four papers, one without a text: citation graph retrieval graphs -> citat graph retriev; graph model
    assert counts(prepared) == {"term_indexes": 1, "indexed_papers": 4, "indexed_terms": 4, "postings": 7}
    index_corpus(prepared, "scifact", SYSTEM, options=options, postings=False)
    assert set(counts(prepared).values()) == {0}
    index_corpus(prepared, "scifact", SYSTEM, options=options, postings=False)


def test_rows_are_renewed_with_the_index_and_keep_their_k1(prepared: Database, tmp_path: Path) -> None:
    when = "SELECT stored_at, k1, b, formula FROM term_indexes"
    write(prepared, tmp_path, k1="0.9", formula="okapi")
    first = read_rows(prepared, when)
    write(prepared, tmp_path, k1="0.9", formula="okapi")
    index_corpus(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    assert read_rows(prepared, when) == first
    change(prepared, "UPDATE papers SET abstract = 'weather' WHERE source_id = 'p2'")
    index_corpus(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    second = read_rows(prepared, when)
    assert second != first
    assert second[0][1:] == first[0][1:] == (0.9, 0.75, "okapi")
    terms = "SELECT term FROM paper_terms WHERE source_id = 'p2' ORDER BY term"
    assert read_rows(prepared, terms) == [("weather",)]
    write(prepared, tmp_path)
    assert read_rows(prepared, when)[0][1:] == (1.2, 0.75, "lucene")
    assert find_orphans(prepared) == {}


def test_a_write_that_is_stopped_leaves_what_was_there(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(prepared, tmp_path)
    before = dump_tables(prepared)
    insert = Session.insert

    def stop(session: Session, table: sa.Table, rows: Any) -> int:
        if table is postings:
            raise KeyboardInterrupt
        return insert(session, table, rows)

    with monkeypatch.context() as patched:
        patched.setattr(Session, "insert", stop)
        with pytest.raises(KeyboardInterrupt):
            write(prepared, tmp_path, k1="2")
    assert dump_tables(prepared) == before
    write(prepared, tmp_path, k1="2")
    assert dump_tables(prepared) != before


def test_papers_that_changed_since_are_told(prepared: Database, tmp_path: Path) -> None:
    state = "SELECT papers_changed, papers_removed, papers_added FROM term_index_states"
    write(prepared, tmp_path)
    assert read_rows(prepared, state) == [(0, 0, 0)]
    change(prepared, "UPDATE papers SET title = 'Weather' WHERE source_id = 'p1'")
    folder = write_beir(tmp_path / "more", [paper(7), paper(2, title="", text="graph models")])
    load(prepared, LoadRequest("beir", folder, corpus="scifact"))
    assert read_rows(prepared, state) == [(1, 0, 1)]
    with prepared.begin() as session:
        keys = session.fetch_arrow("SELECT paper_id FROM papers WHERE source_id = 'p10'")
        remove_rows(session, {papers: keys}, declared_alone=True)
    assert read_rows(prepared, state) == [(1, 1, 1)]
    assert find_orphans(prepared) == {}
    (row,) = read_status(prepared)["term_indexes"]
    assert (row["index_name"], row["papers_changed"], row["papers_removed"]) == (NAME, 1, 1)
    write(prepared, tmp_path)
    assert read_rows(prepared, state) == [(0, 0, 0)]


def test_a_corpus_takes_its_rows_along(prepared: Database, tmp_path: Path) -> None:
    write(prepared, tmp_path)
    write(prepared, tmp_path, "synthetic")
    removed = remove_corpus(prepared, "scifact").deleted
    assert {table: removed[table] for table in TABLES} == {
        "term_indexes": 1,
        "indexed_papers": 4,
        "indexed_terms": 4,
        "postings": 7,
    }
    assert read_rows(prepared, "SELECT DISTINCT corpus FROM paper_terms") == [("synthetic",)]
    assert find_orphans(prepared) == {}


def test_garbage_collection_takes_rows_of_an_index_of_what_is_gone(
    prepared: Database, tmp_path: Path
) -> None:
    """Terms of one corpus that were counted in another one, which goes."""
    write(prepared, tmp_path, trained_on="synthetic")
    assert read_rows(prepared, "SELECT name, counted_in, counted_papers, paper_count FROM term_indexes") == [
        ("scifact counted in synthetic/sparse_bm25/title_abstract", "synthetic", 300, 4)
    ]
    remove_corpus(prepared, "synthetic")
    assert counts(prepared)["postings"] == 7
    dry = collect_garbage(prepared, tmp_path, dry_run=True)
    found = collect_garbage(prepared, tmp_path)
    assert found == dry
    assert found.rows["rows of side_indexes"] == 1
    assert found.rows["rows of postings"] == 7
    assert set(counts(prepared).values()) == {0}
    assert find_orphans(prepared) == {}


def test_indexes_of_one_corpus_stand_beside_each_other(prepared: Database, tmp_path: Path) -> None:
    options = SystemOptions(tmp_path)
    write(prepared, tmp_path, "synthetic")
    write(prepared, tmp_path, "synthetic", system="fabs_bm25")
    index_corpus(prepared, "synthetic", SYSTEM, options=options, paper_template="title", postings=True)
    names = [name for (name,) in read_rows(prepared, "SELECT name FROM term_indexes ORDER BY name")]
    assert names == [
        "synthetic/fabs_bm25/title_abstract",
        "synthetic/sparse_bm25/title",
        "synthetic/sparse_bm25/title_abstract",
    ]
    for name, system, analysis in ((names[0], "fabs_bm25", "words"), (names[2], SYSTEM, "lucene")):
        made = run(prepared, RunRequest("synthetic", system, options, depth=300))
        assert check_rankings(prepared, name, made.run_id, analysis) <= 40  # of 12,337 and less
    with pytest.raises(InputError, match=r"the recipe bm25 needs index=….* Here: synthetic/fabs_bm25"):
        fill(prepared, find_recipe("bm25"), {"text": "graph"})


def test_only_a_sparse_index_can_be_written_down(prepared: Database, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"bm25 cannot write its terms and postings.* Systems that can: sparse_bm25\."
    ):
        index_corpus(prepared, "scifact", "bm25", options=SystemOptions(tmp_path), postings=True)
    assert count(prepared, "side_indexes") == 0
    with pytest.raises(UnknownNameError, match="none in this database; `pinakes index --postings`"):
        fill(prepared, find_recipe("bm25"), {"index": NAME, "text": "graph"})


def test_a_text_is_read_as_the_papers_were(prepared: Database, tmp_path: Path) -> None:
    write(prepared, tmp_path)
    told: list[str] = []
    text = fill(
        prepared, find_recipe("bm25"), {"text": "The \"Graphs\" of O'Hara's \\ model\0s"}, told.append
    )
    assert "STRING_TO_ARRAY('graph hara model', ' ')" in text
    assert told == [f"index={NAME}, the only one."]
    assert [source_id for source_id, _ in rank_by_sql(prepared, "bm25", text="graphs")] == ["p1", "p2", "p10"]
    assert rank_by_sql(prepared, "bm25", text="weather") == []
    twice = dict(rank_by_sql(prepared, "bm25", text="graph graph models"))
    once, models = (dict(rank_by_sql(prepared, "bm25", text=one)) for one in ("graph", "models"))
    assert twice["p2"] == pytest.approx(2 * once["p2"] + models["p2"])
    with pytest.raises(InputError, match="has no term; expected words that are no stop words"):
        fill(prepared, find_recipe("bm25"), {"text": "of the"})


def test_terms_of_any_spelling_are_stored_as_they_are(prepared: Database, tmp_path: Path) -> None:
    """What an index built from term ids may hold; our analysis makes no such terms."""
    index_corpus(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    terms = ["o'hara", 'say "x"', "back\\slash", "\u202eright to left", "a\u200db", "%:name", "日本語", "\\N"]
    paper_ids = np.array([row[0] for row in read_rows(prepared, "SELECT MIN(paper_id) FROM papers")])
    block = TermIds(paper_ids, np.array([8]), *[np.arange(8, dtype=np.int32)] * 2)
    write_sparse_bm25(tmp_path / "own", [block], GrowingVocabulary(zip(terms, range(8), strict=True)))
    with prepared.begin() as session:
        row = session.first(sa.select(side_indexes))
        assert row is not None
        write_down(
            session,
            row,
            SparseBm25Index.open(tmp_path / "own"),
            corpus="scifact",
            counted_in="scifact",
            weighing=Weighing(1.2, 0.75, "lucene"),
            progress=Silent(),
        )
    assert [
        term for (term,) in read_rows(prepared, "SELECT term FROM indexed_terms ORDER BY term_id")
    ] == terms


def test_an_empty_corpus_of_texts_is_written_down(initialised: Database, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "blank", [paper(1, title="", text=""), paper(2, title="", text="the of")])
    load(initialised, LoadRequest("beir", folder, corpus="blank"))
    write(initialised, tmp_path, "blank")
    assert counts(initialised) == {"term_indexes": 1, "indexed_papers": 2, "indexed_terms": 0, "postings": 0}


def test_both_databases_hold_the_same(both_prepared: tuple[Database, Database], tmp_path: Path) -> None:
    found = []
    for database in both_prepared:
        write(database, tmp_path / database.name, "synthetic")
        with database.read() as session:
            found.append(
                session.rows("SELECT * FROM paper_terms ORDER BY source_id, term")
                + session.rows(
                    "SELECT term_id, term, document_frequency, idf FROM indexed_terms ORDER BY term"
                )
            )
    assert found[0] == found[1]
    assert len(found[0]) > 10_000


def test_the_command_writes_and_removes(call: Call) -> None:
    made = call("index", "--corpus", "scifact", "-s", SYSTEM, "--postings")
    assert made.code == 0
    assert f"{NAME} is written down: 7 postings of 4 terms." in made.err
    again = call("index", "--corpus", "scifact", "-s", SYSTEM, "--postings")
    assert "written down" not in again.err
    assert call("sql", "--recipe", "telling-terms", "paper=p1", "--json").data[0]["term"] in {
        "citat",
        "retriev",
    }
    assert call("status", "--json", "--check").data["term_indexes"][0]["postings"] == 7
    assert call("index", "--corpus", "scifact", "-s", SYSTEM, "--no-postings").code == 0
    assert call("status", "--json").data["term_indexes"] == []
    assert call("index", "--corpus", "scifact", "-s", "tfidf", "--postings").code == 1
