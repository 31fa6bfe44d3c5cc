"""`pinakes construct`: MDCR's candidates from stored runs and citations, the same on both databases."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import BenchmarkError, InputError, RunError, UnknownNameError
from pinakes.load.load import LoadRequest, load
from pinakes.report.status import find_orphans
from pinakes.sample.construct import construct
from pinakes.sample.construct_plan import (
    ConstructionPlan,
    ConstructionRequest,
    ConstructionSummary,
    plan_construction,
)
from pinakes.sample.sample import sample
from pinakes.schema import (
    sampled_queries,
)
from tests.mdcr_reference import Candidates, Reference, ask, rank_pools
from tests.mdcr_worlds import NUMBERS, make_small_world, make_world, rank_small_world
from tests.sampled_rows import add_rows, add_run
from tests.templates import Templates

pytestmark = pytest.mark.in_turn

TAKEN = """
SELECT candidates.query_id, candidates.source, papers.source_id
FROM constructed_candidates AS candidates INNER JOIN papers ON candidates.paper_id = papers.paper_id
WHERE candidates.benchmark = 'mdcr_constructed'
"""
PLACES = "SELECT query_id, source, position FROM constructed_candidates ORDER BY query_id, source, position"


def make(database: Database, **given: Any) -> ConstructionSummary:
    return construct(database, ConstructionRequest("mdcr_constructed", **given))


def fill(database: Database, _folder: Path) -> None:
    make_world(database)


@pytest.fixture(params=["duckdb", "postgresql"])
def world(request: pytest.FixtureRequest, templates: Templates) -> Iterator[Database]:
    with templates.copy(request.param, fill) as opened:
        yield opened


@pytest.fixture
def both_worlds(templates: Templates) -> Iterator[tuple[Database, Database]]:
    with templates.copy("duckdb", fill) as duck, templates.copy("postgresql", fill) as post:
        yield duck, post


def read_candidates(database: Database) -> dict[str, set[tuple[str, str]]]:
    found = defaultdict(set)
    for query_id, source, paper in ask(database, TAKEN):
        found[query_id].add((source, paper))
    return dict(found)


def as_sets(candidates: Candidates) -> dict[str, set[tuple[str, str]]]:
    return {query_id: set(pairs) for query_id, pairs in candidates.items()}


@pytest.mark.parametrize("top_of", ["candidates", "negatives"])
def test_both_databases_construct_what_the_plain_walk_through_the_paper_gives(
    both_worlds: tuple[Database, Database], top_of: str
) -> None:
    summaries = []
    for database in both_worlds:
        summary = make(database, top_of=top_of)
        expected = Reference(database, "1", models=3, top=200, top_of=top_of)
        candidates, clashes = expected.construct()
        assert read_candidates(database) == as_sets(candidates)
        assert {(clash.source, clash.kept_source): clash.clashes for clash in summary.clashes} == clashes
        assert {model.system: model.mean_jaccard for model in summary.models} == pytest.approx(
            expected.jaccard, abs=1e-12
        )
        assert [model.system for model in summary.models if model.is_chosen] == expected.models
        assert summary.queries == len(candidates) > 8
        summaries.append(summary)
    duck, post = summaries
    assert (duck.models, duck.types, duck.clashes) == (post.models, post.types, post.clashes)
    assert duck.clashes
    for query in (TAKEN + " ORDER BY 1, 2, 3", PLACES):
        assert ask(both_worlds[0], query) == ask(both_worlds[1], query)


def test_a_candidate_has_one_type_and_what_a_query_cites_is_no_negative(world: Database) -> None:
    summary = make(world)
    rows = ask(world, "SELECT query_id, paper_id, source FROM mdcr_constructed.candidates")
    assert len({(query_id, paper) for query_id, paper, _ in rows}) == len(rows)
    cited = set(
        ask(
            world,
            "SELECT query_id, paper_id FROM sampled_citations WHERE benchmark = 'mdcr_constructed' "
            "UNION SELECT query_id, paper_id FROM sampled_queries WHERE benchmark = 'mdcr_constructed'",
        )
    )
    assert len(cited) > summary.queries
    assert not {(query_id, paper) for query_id, paper, source in rows if source != "cited"} & cited
    assert find_orphans(world) == {}


def test_each_type_numbers_its_candidates_from_one_and_tells_what_it_lacks(world: Database) -> None:
    summary = make(world)
    places = defaultdict(list)
    for query_id, source, position in ask(world, PLACES):
        places[query_id, source].append(position)
    assert all(found == list(range(1, len(found) + 1)) for found in places.values())
    for counted in summary.types:
        wanted = 5 if counted.source == "cited" else 10
        sizes = [len(found) for (_, source), found in places.items() if source == counted.source]
        assert max(sizes) <= wanted
        assert counted.candidates == sum(sizes)
        assert counted.queries_with_fewer == summary.queries - sizes.count(wanted)
    assert [counted.source for counted in summary.types] == [
        "cited",
        *(model.system for model in summary.models if model.is_chosen),
        "graph",
        "most_cited",
        "random",
    ]


def test_a_second_construction_replaces_the_first_and_a_seed_decides_the_draw(world: Database) -> None:
    make(world)
    first = sorted(ask(world, TAKEN))
    make(world)
    assert sorted(ask(world, TAKEN)) == first
    other = make(world, seed="2")
    changed = sorted(ask(world, TAKEN))
    assert other.seed == "2"
    assert changed != first
    assert ask(world, "SELECT seed FROM samplings WHERE benchmark = 'mdcr_constructed'") == [("2",)]
    make(world)
    assert sorted(ask(world, TAKEN)) == first


def test_a_construction_that_fails_leaves_the_one_before(world: Database) -> None:
    make(world)
    before = sorted(ask(world, TAKEN))
    add_run(world, 9, "field_level", "empty")
    with pytest.raises(RunError, match=r"run 9 \(empty\) ranks no query of the first pools of field_level"):
        make(world, seed="2")
    assert sorted(ask(world, TAKEN)) == before
    assert make(world, run_ids=(1, 2)).queries


def test_the_newest_run_of_a_system_counts_and_models_can_be_named(world: Database) -> None:
    add_run(world, 7, "field_level", "bm25")
    copy = "INSERT INTO hits SELECT 7, query_id, paper_id, rank, score FROM hits WHERE run_id = 1"
    with world.begin() as session:
        session.execute(copy)
    summary = make(world, models=("scibert", "bm25"))
    assert sorted(model.run_id for model in summary.models) == [1, 3, 4, 7]
    assert sorted(model.system for model in summary.models if model.is_chosen) == ["bm25", "scibert"]
    assert ask(
        world,
        "SELECT run_id, system, is_chosen FROM construction_models WHERE benchmark = 'mdcr_constructed' "
        "ORDER BY run_id",
    ) == [(1, "scibert", True), (3, "specter", False), (4, "scincl", False), (7, "bm25", True)]
    # scibert and bm25 ranked alike: they share every negative with each other.
    means = {model.system: model.mean_jaccard or 0.0 for model in summary.models}
    assert min(means["bm25"], means["scibert"]) > max(means["scincl"], means["specter"])


def test_a_models_negatives_are_among_its_200_best_candidates_unless_negatives_are_asked_for(
    initialised: Database,
) -> None:
    make_small_world(initialised)
    names = ["a", "h1", "b", "q", "h2", "x1", "x2", "c"]
    rank_small_world(initialised, {"bm25": names})
    drawn = "SELECT papers.source_id FROM constructed_candidates AS candidates INNER JOIN papers "
    drawn += "ON candidates.paper_id = papers.paper_id WHERE candidates.source = 'bm25' ORDER BY source_id"
    top_of = "SELECT top_of FROM construction_models"
    with_top = "pinakes.sample.construct.plan_construction"

    def cut(benchmark: Any, request: ConstructionRequest) -> ConstructionPlan:
        return replace(plan_construction(benchmark, request), top=4)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(with_top, cut)
        make(initialised)
        # The query has no place: a, h1, b and h2 are the four best, of which two are cited.
        assert ask(initialised, drawn) == [("h1",), ("h2",)]
        assert ask(initialised, top_of) == [("candidates",)]
        make(initialised, top_of="negatives")
        assert ask(initialised, drawn) == [("h1",), ("h2",), ("x1",), ("x2",)]
        assert ask(initialised, top_of) == [("negatives",)]


def test_a_single_run_is_drawn_from_without_a_comparison(world: Database) -> None:
    (model,) = make(world, run_ids=(2,)).models
    assert (model.system, model.mean_jaccard, model.is_chosen) == ("bm25", None, True)


def test_what_cannot_be_constructed_is_refused_with_what_to_do(initialised: Database) -> None:
    with pytest.raises(BenchmarkError, match="scifact is not constructed"):
        construct(initialised, ConstructionRequest("scifact"))
    with pytest.raises(RunError, match="draw them with `pinakes sample field_level --corpus …`"):
        make(initialised)
    load(initialised, LoadRequest("synthetic", options={"papers": "1500"}))
    given: dict[str, Any] = {"queries": 2, "validation_queries": 0}
    fields = {**given, "pool_sizes": (60,), "assigned_by": "synthetic"}
    sample(initialised, "field_level", "synthetic", fields)
    sample(initialised, "large_scale", "synthetic", {**given, "pool_sizes": (200,)})
    with pytest.raises(RunError, match="make one with `pinakes run field_level --system …`"):
        make(initialised)
    with pytest.raises(RunError, match="large_scale has no fields"):
        make(initialised, drawn_from="large_scale")
    rank_pools(initialised, ("bm25", "graph"))
    with pytest.raises(RunError, match="field_level has no run 5; its runs: 1, 2"):
        make(initialised, run_ids=(5,))
    with pytest.raises(InputError, match="a system is called graph"):
        make(initialised)
    with pytest.raises(UnknownNameError, match="unknown system with a run 'scincl'; known: bm25"):
        make(initialised, run_ids=(1,), models=("scincl",))
    add_run(initialised, 3, "field_level", "bm25")
    with pytest.raises(InputError, match="two of the runs are of bm25"):
        make(initialised, run_ids=(1, 3))


def test_the_graph_is_walked_from_the_cited_paper_with_the_greatest_overlap(initialised: Database) -> None:
    make_small_world(initialised)
    rank_small_world(initialised, {"bm25": ["h1"]})
    make(initialised)
    drawn = ask(
        initialised,
        "SELECT papers.source_id FROM constructed_candidates AS candidates INNER JOIN papers "
        "ON candidates.paper_id = papers.paper_id WHERE candidates.source = 'graph' ORDER BY position",
    )
    # The neighbours of a (x1 and x2, in md5's order), of b (x1 again), of c (y1 and z1); never late, never q.
    names = [name for (name,) in drawn]
    assert (set(names[:2]), set(names[2:]), len(names)) == ({"x1", "x2"}, {"y1", "z1"}, 4)


def test_the_mean_jaccard_index_of_negatives_is_as_by_hand(initialised: Database) -> None:
    make_small_world(initialised)
    rank_small_world(
        initialised,
        {
            "one": ["a", "h1", "q", "h2", "x1"],  # negatives h1 h2 x1
            "two": ["h1", "b", "x1", "y1"],  # h1 x1 y1: two of four shared with one
            "three": ["y1", "c"],  # y1: none of four shared with one, one of three with two
        },
    )
    summary = make(initialised)
    assert {model.system: model.mean_jaccard for model in summary.models} == pytest.approx(
        {"one": (2 / 4 + 0) / 2, "two": (2 / 4 + 1 / 3) / 2, "three": (0 + 1 / 3) / 2}
    )
    assert [model.system for model in summary.models] == ["three", "one", "two"]
    # three takes y1, and one takes the rest of what two would have drawn.
    assert {(clash.source, clash.kept_source): clash.clashes for clash in summary.clashes}[
        "two", "three"
    ] == 1
    drawn = dict(ask(initialised, "SELECT source, COUNT(*) FROM constructed_candidates GROUP BY source"))
    assert (drawn["three"], drawn["one"], drawn.get("two", 0)) == (1, 3, 0)
    assert {counted.source: counted.queries_with_fewer for counted in summary.types}["two"] == 1


def test_a_query_with_no_negative_is_left_out(initialised: Database) -> None:
    make_small_world(initialised)
    add_rows(initialised, sampled_queries, [("field_level", "late_Art", NUMBERS["late"], "Art", "test")])
    rank_small_world(initialised, {"bm25": ["h1"]})
    summary = make(initialised)
    assert (summary.queries, summary.left_out) == (1, 1)  # late cites nothing that was sampled
    assert ask(initialised, "SELECT query_id FROM mdcr_constructed.queries") == [("q_Art",)]
