"""What `pinakes construct` plans: defaults, the runs to compare, the order of types; without a database."""

import pytest

from pinakes.errors import BenchmarkError, InputError, PinakesError, RunError, UnknownNameError
from pinakes.queries.definition import read_benchmark
from pinakes.sample.construct_plan import (
    ConstructionPlan,
    ConstructionRequest,
    ModelChoice,
    choose_sources,
    list_types,
    plan_construction,
)

SYSTEMS = {1: "bm25", 2: "specter", 5: "bm25"}


def plan_built(**given: str) -> ConstructionPlan:
    request = ConstructionRequest("mdcr_constructed", **given)  # type: ignore[arg-type]
    return plan_construction(read_benchmark("mdcr_constructed"), request)


def test_the_benchmark_says_what_is_not_requested() -> None:
    expected = ConstructionPlan("mdcr_constructed", "field_level", "1", 3, 200, "candidates", 5, 10, 200)
    assert plan_built() == expected
    assert plan_built(drawn_from="own", seed="2").drawn_from == "own"
    assert plan_built(seed="2").seed == "2"
    assert plan_built(top_of="negatives").top_of == "negatives"


def test_the_best_are_those_of_candidates_or_of_negatives() -> None:
    with pytest.raises(InputError, match="top_of is 'all'; expected one of candidates, negatives"):
        plan_built(top_of="all")


def test_a_benchmark_that_is_not_constructed_is_refused() -> None:
    with pytest.raises(BenchmarkError, match="field_level is not constructed"):
        plan_construction(read_benchmark("field_level"), ConstructionRequest("field_level"))


def test_the_newest_run_of_each_system_is_compared_unless_runs_are_named() -> None:
    assert choose_sources(SYSTEMS, ConstructionRequest("x"), "own") == {2: "specter", 5: "bm25"}
    named = ConstructionRequest("x", run_ids=(2, 1, 2))
    assert choose_sources(SYSTEMS, named, "own") == {1: "bm25", 2: "specter"}


@pytest.mark.parametrize(
    ("systems", "request_", "error", "said"),
    [
        ({}, ConstructionRequest("x"), RunError, "own has no run that negatives could be drawn from"),
        (SYSTEMS, ConstructionRequest("x", run_ids=(9,)), RunError, "own has no run 9; its runs: 1, 2, 5"),
        (SYSTEMS, ConstructionRequest("x", run_ids=(1, 5)), InputError, "two of the runs are of bm25"),
        ({1: "true"}, ConstructionRequest("x"), InputError, "a system is called true"),
        ({1: "graph"}, ConstructionRequest("x"), InputError, "a system is called graph"),
        (
            SYSTEMS,
            ConstructionRequest("x", models=("bm25", "scincl")),
            UnknownNameError,
            "unknown system with a run 'scincl'; known: bm25, specter",
        ),
    ],
)
def test_runs_that_cannot_serve_are_refused(
    systems: dict[int, str], request_: ConstructionRequest, error: type[PinakesError], said: str
) -> None:
    with pytest.raises(error, match=said):
        choose_sources(systems, request_, "own")


def test_types_take_papers_in_the_order_of_the_paper() -> None:
    models = [
        ModelChoice(5, "bm25", 10, 0.1, is_chosen=True),
        ModelChoice(2, "specter", 10, 0.2, is_chosen=False),
    ]
    types = [(type_.source, type_.wanted, type_.run_id) for type_ in list_types(plan_built(), models)]
    assert types == [
        ("cited", 5, None),
        ("bm25", 10, 5),
        ("graph", 10, None),
        ("most_cited", 10, None),
        ("random", 10, None),
    ]
