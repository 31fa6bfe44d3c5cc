"""`pinakes sample`: queries and pools drawn by SQL, the same on both databases."""

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.cli import run_command
from pinakes.database import Database, connect
from pinakes.errors import BenchmarkError, InputError, UnknownNameError
from pinakes.load.load import LoadRequest, load
from pinakes.report.status import find_orphans
from pinakes.sample import sample as sample_module
from pinakes.sample.sample import SampleSummary, sample
from pinakes.schema import create_schema, duplicate_papers

pytestmark = pytest.mark.in_turn

SIZES = (150, 400, 900)


def load_world(database: Database, papers: int = 1500) -> None:
    load(database, LoadRequest("synthetic", options={"papers": str(papers)}))


def sample_world(database: Database, **given: Any) -> SampleSummary:
    sizes = {"pool_sizes": SIZES, "validation_pool_size": 120}
    chosen: dict[str, Any] = {"queries": 8, "validation_queries": 5, **sizes, **given}
    return sample(database, "large_scale", "synthetic", chosen)


def sample_fields(database: Database, **given: Any) -> SampleSummary:
    sizes = {"pool_sizes": (60,), "validation_pool_size": 40}
    counts = {"queries": 2, "validation_queries": 1}
    chosen: dict[str, Any] = {**counts, **sizes, "assigned_by": "synthetic", **given}
    return sample(database, "field_level", "synthetic", chosen)


def ask(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query)]


MEMBERS = """
SELECT pool_members.sample, pool_members.position, papers.source_id
FROM pool_members INNER JOIN papers ON pool_members.paper_id = papers.paper_id
WHERE pool_members.benchmark = '{}'
ORDER BY pool_members.sample, pool_members.position
"""
DRAWN = """
SELECT sampled_queries.query_id, papers.source_id, sampled_queries.field, sampled_queries.fold
FROM sampled_queries INNER JOIN papers ON sampled_queries.paper_id = papers.paper_id
WHERE sampled_queries.benchmark = '{}'
ORDER BY sampled_queries.query_id
"""
CITED = """
SELECT sampled_citations.query_id, papers.source_id
FROM sampled_citations INNER JOIN papers ON sampled_citations.paper_id = papers.paper_id
WHERE sampled_citations.benchmark = '{}'
ORDER BY sampled_citations.query_id, papers.source_id
"""
POOLS = """
SELECT pool, sample, requested_size, size, repeat, field, fold FROM pools WHERE benchmark = '{}' ORDER BY pool
"""


@pytest.mark.parametrize("benchmark", ["large_scale", "field_level"])
def test_both_databases_draw_the_same_queries_and_pools(
    both_databases: tuple[Database, Database], benchmark: str
) -> None:
    summaries = []
    for database in both_databases:
        load_world(database)
        made = sample_world(database) if benchmark == "large_scale" else sample_fields(database)
        summaries.append((made.funnel, made.queries, made.validation_queries, made.pools))
    assert summaries[0] == summaries[1]
    for query in (DRAWN, CITED, POOLS, MEMBERS):
        duck, post = (ask(database, query.format(benchmark)) for database in both_databases)
        assert duck
        assert duck == post
    for view in ("queries", "candidates", "judgments"):
        counted = f"SELECT COUNT(*) FROM {benchmark}.{view}"
        assert ask(both_databases[0], counted) == ask(both_databases[1], counted)


def test_pools_of_a_repeat_are_nested_and_hold_what_is_cited(database: Database) -> None:
    load_world(database)
    made = sample_world(database)
    assert made.queries == 8
    pools: dict[str, set[int]] = {}
    for pool, paper_id in ask(database, "SELECT pool, paper_id FROM large_scale.candidates"):
        assert paper_id not in pools.setdefault(pool, set())
        pools[pool].add(paper_id)
    cited = {
        paper
        for (paper,) in ask(
            database,
            "SELECT DISTINCT paper_id FROM large_scale.judgments WHERE query_id NOT LIKE 'validation/%'",
        )
    }
    assert cited
    sizes = {pool.pool: pool.size for pool in made.pools}
    assert {pool: len(members) for pool, members in pools.items()} == sizes
    for repeat in (1, 2, 3):
        nested = [pools[f"{size}/{repeat}"] for size in SIZES]
        assert cited <= nested[0] < nested[1] < nested[2]
    assert pools["400/1"] - cited != pools["400/2"] - cited


def test_what_fills_a_pool_passes_the_pre_filter_and_is_not_younger(database: Database) -> None:
    load_world(database)
    sample_world(database, year=2010, min_citations=6, min_abstract=500)
    drawn = """
    SELECT papers.year, LENGTH(papers.abstract), COUNT(DISTINCT citation_links.cited_paper_id)
    FROM pool_members
    INNER JOIN papers ON pool_members.paper_id = papers.paper_id
    LEFT JOIN citation_links ON papers.paper_id = citation_links.citing_paper_id
    WHERE pool_members.paper_id NOT IN (SELECT paper_id FROM sampled_citations)
    GROUP BY papers.paper_id, papers.year, papers.abstract
    """
    found = ask(database, drawn)
    assert len(found) > 50
    assert max(year for year, _, _ in found) == 2010
    assert min(length for _, length, _ in found) >= 500
    assert min(citations for _, _, citations in found) >= 6
    years = """
    SELECT DISTINCT year FROM sampled_queries
    INNER JOIN papers ON sampled_queries.paper_id = papers.paper_id
    """
    assert ask(database, years) == [(2010,)]


def test_received_citations_can_be_counted_instead_of_made_ones(database: Database) -> None:
    load_world(database)
    made = sample_world(database, year=2010, counted="received")
    received = """
    SELECT MIN(prefiltered_papers.citations), COUNT(*) FROM prefiltered_papers WHERE benchmark = 'large_scale'
    AND citations = (SELECT COUNT(*) FROM citation_links WHERE cited_paper_id = prefiltered_papers.paper_id)
    """
    ((least, agreeing),) = ask(database, received)
    ((papers,),) = ask(database, "SELECT COUNT(*) FROM prefiltered_papers WHERE benchmark = 'large_scale'")
    assert least >= 3
    assert agreeing == papers
    assert made.queries > 0


SELF_CITING = """
INSERT INTO citations (citation_id, citing_paper_id, reference_id, batch_id)
SELECT
    (SELECT MAX(citation_id) FROM citations) + ROW_NUMBER() OVER (ORDER BY papers.paper_id),
    papers.paper_id,
    cited_references.reference_id,
    papers.batch_id
FROM papers INNER JOIN cited_references ON papers.paper_id = cited_references.paper_id
"""
COUNTS = {
    "made": "SELECT COUNT(*) FROM citation_links WHERE citing_paper_id = papers.paper_id",
    "received": "SELECT COUNT(*) FROM citation_links WHERE cited_paper_id = papers.paper_id",
}


@pytest.mark.parametrize("counted", ["made", "received", "either"])
def test_a_paper_that_cites_itself_has_no_citation_by_that_in_the_pre_filter(
    database: Database, counted: str
) -> None:
    load_world(database, 600)
    sample_world(database, year=2015, counted=counted, min_cited=1)
    passing = "SELECT paper_id, citations FROM prefiltered_papers WHERE benchmark = 'large_scale' ORDER BY 1"
    before = ask(database, passing)
    drawn = ask(database, DRAWN.format("large_scale"))
    with database.begin() as session:
        session.execute(SELF_CITING)
    loops = "SELECT COUNT(*) FROM citation_links WHERE citing_paper_id = cited_paper_id"
    assert ask(database, loops)[0][0] > 50
    assert ask(database, passing) == before
    sample_world(database, year=2015, counted=counted, min_cited=1)
    assert ask(database, DRAWN.format("large_scale")) == drawn


def test_a_paper_with_enough_citations_of_either_kind_passes(database: Database) -> None:
    load_world(database, 600)
    sample_world(database, year=2015, counted="either", min_citations=4)
    made, received = COUNTS["made"], COUNTS["received"]
    expected = ask(
        database,
        f"SELECT paper_id, GREATEST(({made}), ({received})) AS citations FROM papers "
        f"WHERE year IS NOT NULL AND TRIM(title) <> '' AND LENGTH(COALESCE(abstract, '')) >= 30 "
        f"AND (({made}) >= 4 OR ({received}) >= 4) ORDER BY 1",
    )
    passing = "SELECT paper_id, citations FROM prefiltered_papers WHERE benchmark = 'large_scale' ORDER BY 1"
    assert ask(database, passing) == expected
    by_one = {
        counted: len(ask(database, f"SELECT 1 FROM papers WHERE ({count}) >= 4"))
        for counted, count in COUNTS.items()
    }
    assert len(expected) > max(by_one.values()) * 1.02


def test_a_paper_is_excluded_by_the_id_of_one_that_was_merged_into_it(
    database: Database, tmp_path: Path
) -> None:
    load_world(database)
    sample_world(database)
    (kept,) = ask(database, "SELECT MIN(paper_id) FROM sampled_queries")[0]
    other = ask(database, f"SELECT MAX(paper_id) FROM papers WHERE paper_id <> {kept}")[0][0]
    (source_id,) = ask(database, f"SELECT source_id FROM papers WHERE paper_id = {other}")[0]
    with database.begin() as session:
        row = {"paper_id": other, "kept_paper_id": kept, "matched_by": "doi"}
        columns = {column.name: row.get(column.name, 1) for column in duplicate_papers.columns}
        session.execute(sa.insert(duplicate_papers).values(**columns))
    excluded = tmp_path / "train.txt"
    excluded.write_text(f"{source_id}\n")
    sample_world(database)
    of_kept = f"SELECT COUNT(*) FROM sampled_queries WHERE paper_id = {kept}"
    assert ask(database, of_kept) == [(1,)]
    sample_world(database, exclude=(excluded,))
    assert ask(database, of_kept) == [(0,)]


def test_a_field_is_filled_with_what_its_papers_cite(database: Database) -> None:
    load_world(database)
    sample_fields(database)
    strangers = """
    SELECT COUNT(*)
    FROM pools
    INNER JOIN pool_members
        ON pools.benchmark = pool_members.benchmark
        AND pools.sample = pool_members.sample
        AND pool_members.position <= pools.size
    WHERE pools.benchmark = 'field_level' AND NOT EXISTS (
        SELECT 1 FROM citation_links
        INNER JOIN paper_fields ON citation_links.citing_paper_id = paper_fields.paper_id
        WHERE paper_fields.field = pools.field AND citation_links.cited_paper_id = pool_members.paper_id
    )
    """
    assert ask(database, strangers) == [(0,)]
    requested = ask(database, "SELECT DISTINCT field FROM pools WHERE benchmark = 'field_level'")
    assert len(requested) == 19
    own = """
    SELECT COUNT(*) FROM sampled_queries WHERE benchmark = 'field_level' AND NOT EXISTS (
        SELECT 1 FROM paper_fields
        WHERE paper_fields.paper_id = sampled_queries.paper_id AND paper_fields.field = sampled_queries.field
    )
    """
    assert ask(database, own) == [(0,)]


def test_sorting_only_what_can_be_in_a_pool_draws_what_sorting_all_draws(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too few at first, since nearly all is left out; then all. Or enough at once."""
    load_world(database, 600)
    drawn = []
    for spare in ((10**9,), (-(10**9), 10**9), (8, 10**9), (8,)):
        monkeypatch.setattr(sample_module, "_SPARE", spare)
        sample_fields(database, pool_sizes=(20,), validation_pool_size=10)
        drawn.append(ask(database, MEMBERS.format("field_level")))
    assert len(drawn[0]) > 100
    assert all(members == drawn[0] for members in drawn)


def test_no_paper_is_a_query_of_both_folds(database: Database) -> None:
    load_world(database)
    sample_fields(database, year=2015, queries=20, validation_queries=20)
    shared = """
    SELECT COUNT(*) FROM sampled_queries AS test
    INNER JOIN sampled_queries AS other ON test.paper_id = other.paper_id
    WHERE test.fold = 'test' AND other.fold = 'validation'
    """
    assert ask(database, shared) == [(0,)]
    folds = dict(ask(database, "SELECT fold, COUNT(*) FROM sampled_queries GROUP BY fold"))
    assert min(folds.values()) > 10


def test_an_exhausted_pool_is_not_repeated_and_says_its_size(database: Database) -> None:
    load_world(database)
    made = sample_world(database, pool_sizes=(150, 1_000_000), validation_queries=0)
    assert [(pool.pool, pool.size < pool.requested_size) for pool in made.pools] == [
        ("150/1", False),
        ("150/2", False),
        ("150/3", False),
        ("1000000/1", True),
    ]
    whole = "SELECT COUNT(*) FROM large_scale.candidates WHERE pool = '1000000/1'"
    assert ask(database, whole) == [(made.pools[-1].size,)]
    assert made.funnel["with_citations_until_year"] <= made.pools[-1].size


def test_excluded_papers_are_no_queries(database: Database, tmp_path: Path) -> None:
    load_world(database)
    sample_world(database)
    before = {row[1] for row in ask(database, DRAWN.format("large_scale"))}
    excluded = tmp_path / "train.txt"
    excluded.write_text("\n".join(sorted(before)[:4]) + "\nunknown\n\n")
    made = sample_world(database, exclude=(excluded,))
    after = {row[1] for row in ask(database, DRAWN.format("large_scale"))}
    assert not after & set(sorted(before)[:4])
    assert len(after) == len(before)
    assert (made.excluded, made.excluded_held) == (5, 4)


def test_sampling_again_changes_nothing_and_another_seed_everything(database: Database) -> None:
    load_world(database)
    sample_world(database)
    first = [ask(database, query.format("large_scale")) for query in (DRAWN, CITED, POOLS, MEMBERS)]
    sample_world(database)
    assert [ask(database, query.format("large_scale")) for query in (DRAWN, CITED, POOLS, MEMBERS)] == first
    sample_world(database, seed="2")
    again = [ask(database, query.format("large_scale")) for query in (DRAWN, CITED, POOLS, MEMBERS)]
    assert all(new != old for new, old in zip(again[:2], first[:2], strict=True))
    assert again[3] != first[3]


def test_two_benchmarks_stand_side_by_side(database: Database) -> None:
    load_world(database)
    sample_world(database)
    before = ask(database, MEMBERS.format("large_scale"))
    sample_fields(database)
    assert ask(database, MEMBERS.format("large_scale")) == before


def test_our_own_ids_play_no_part(tmp_path: Path) -> None:
    drawn = []
    for number, others in enumerate(("300", None)):
        with connect(f"duckdb:///{tmp_path / f'{number}.duckdb'}") as database:
            create_schema(database)
            if others:  # ids of ours begin elsewhere
                load(
                    database,
                    LoadRequest("synthetic", options={"papers": others, "seed": "9"}, corpus="before"),
                )
            load_world(database)
            sample_world(database)
            drawn.append([ask(database, query.format("large_scale")) for query in (DRAWN, MEMBERS)])
    assert drawn[0] == drawn[1]


def test_a_failed_draw_leaves_the_old_sample(database: Database) -> None:
    load_world(database)
    sample_world(database)
    before = ask(database, MEMBERS.format("large_scale"))
    with pytest.raises(BenchmarkError, match="no paper of the year 1900 can be a query"):
        sample_world(database, year=1900)
    assert ask(database, MEMBERS.format("large_scale")) == before


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"repeats": 0}, InputError, "repeats is 0; expected at least 1"),
        ({"pool_size": (100,)}, UnknownNameError, "unknown option of a sample 'pool_size'"),
        ({"counted": "both"}, InputError, "made, received, either"),
        ({"assigned_by": "mag"}, InputError, "no fields"),
        ({"exclude": (Path("/nowhere"),)}, InputError, "no file"),
    ],
)
def test_what_cannot_be_sampled_is_refused(
    database: Database, given: dict[str, Any], error: type[Exception], said: str
) -> None:
    load_world(database, 100)
    with pytest.raises(error, match=said):
        sample_world(database, **given)


def test_unknown_names_are_refused(database: Database) -> None:
    with pytest.raises(BenchmarkError, match="not sampled from a corpus"):
        sample(database, "scifact", "synthetic")
    with pytest.raises(UnknownNameError, match="corpus"):
        sample(database, "large_scale", "nowhere")
    load_world(database, 100)
    with pytest.raises(InputError, match="pools of one size"):
        sample_fields(database, pool_sizes=(10, 20))


def test_a_sample_leaves_no_orphans_and_a_lost_query_is_found(database: Database) -> None:
    load_world(database, 300)
    sample_world(database)
    assert find_orphans(database) == {}
    with database.begin() as session:
        session.execute("DELETE FROM sampled_queries WHERE fold = 'validation'")
    assert set(find_orphans(database)) == {"sampled_citations.query_id"}


def test_the_command_prints_the_funnel_and_every_pool(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    excluded = tmp_path / "train.txt"
    excluded.write_text("syn-00000001\n")
    with connect(database_url) as database:
        create_schema(database)
        load_world(database, 600)
    requested = (
        "sample large_scale --corpus synthetic --year 2015 --queries 3 --validation-queries 2 --pool-size 100"
    )
    chosen = (
        "--pool-size 100000 --validation-pool-size 90 --repeats 2 --seed x --counted received --min-cited 2"
    )
    filtered = ["--min-abstract", "10", "--min-citations", "1", "--exclude", str(excluded)]
    assert run_command([*requested.split(), *chosen.split(), *filtered, "--db", database_url]) == 0
    told = capsys.readouterr()
    assert "with_citations_until_year" in told.out
    pools = [line.split()[0] for line in told.out.splitlines() if "/" in line.split(" ")[0]]
    assert pools == ["100/1", "100/2", "100000/1", "validation/90/1"]
    assert "1 of 1 excluded papers are in the corpus" in told.err
    assert "drawn once: 100000/1" in told.err


FILLING = """
SELECT REPLACE(pools.field, ' ', '_') || '/test/1', links.cited_paper_id
FROM pools
INNER JOIN paper_fields ON pools.field = paper_fields.field AND paper_fields.assigned_by = 'many'
INNER JOIN citation_links AS links ON paper_fields.paper_id = links.citing_paper_id
INNER JOIN prefiltered_papers AS filled
    ON links.cited_paper_id = filled.paper_id AND filled.benchmark = 'field_level'
INNER JOIN samplings ON samplings.benchmark = 'field_level' AND filled.year <= samplings.year
WHERE pools.benchmark = 'field_level' AND pools.fold = 'test' AND pools.repeat = 1
    AND links.citing_paper_id <> links.cited_paper_id
UNION
SELECT REPLACE(sampled_queries.field, ' ', '_') || '/test/1', sampled_citations.paper_id
FROM sampled_queries
INNER JOIN sampled_citations
    ON sampled_queries.benchmark = sampled_citations.benchmark
    AND sampled_queries.query_id = sampled_citations.query_id
WHERE sampled_queries.benchmark = 'field_level' AND sampled_queries.fold = 'test'
"""


def test_each_of_many_fields_is_filled_with_what_its_papers_cite(database: Database) -> None:
    load_world(database)
    with database.begin() as session:
        for step in (1, 2, 3):  # a paper is of three fields
            session.execute(
                f"INSERT INTO paper_fields (paper_id, field, assigned_by) "
                f"SELECT paper_id, 'field ' || CAST({step} * paper_id % 211 AS TEXT), 'many' FROM papers "
                f"WHERE {step} = 1 OR paper_id % 211 <> 0"
            )
    sample_fields(database, assigned_by="many", pool_sizes=(5000,), min_cited=1, queries=1, repeats=1)
    members: dict[str, set[int]] = {}
    for name, paper_id in ask(
        database, "SELECT sample, paper_id FROM pool_members WHERE benchmark = 'field_level'"
    ):
        if "/test/" in name:
            members.setdefault(name, set()).add(paper_id)
    expected: dict[str, set[int]] = {}
    for name, paper_id in ask(database, FILLING):
        expected.setdefault(name, set()).add(paper_id)
    assert len(expected) > 60
    assert members == expected


def test_who_may_make_no_tables_samples_with_temporary_ones(postgres_database: Database) -> None:
    with postgres_database.begin() as session:
        assert session.name_scratch() == "UNLOGGED"
        session.execute("CREATE ROLE reads_only_here")
        session.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        session.execute("SET LOCAL ROLE reads_only_here")
        assert session.name_scratch() == "TEMPORARY"
        session.execute("RESET ROLE")
        session.execute("DROP ROLE reads_only_here")
