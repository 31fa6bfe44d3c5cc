"""What `pinakes sample` plans to draw: options, random orders and pools, without a database."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import BenchmarkError, InputError, UnknownNameError
from pinakes.queries.definition import read_benchmark
from pinakes.sample.plan import Available, PlannedPool, SamplePlan, make_plan, plan_pools


def plan_sample(benchmark: str = "large_scale", **given: Any) -> SamplePlan:
    return make_plan(read_benchmark(benchmark), given)


def list_pools(plan: SamplePlan, *papers: Available) -> list[tuple[str, str, int]]:
    return [(pool.pool, pool.sample, pool.size) for one in papers for pool in plan_pools(plan, one)]


def test_the_benchmark_says_what_is_not_given() -> None:
    options = plan_sample().options
    assert (options.seed, options.year, options.queries, options.repeats) == ("1", 2019, 3800, 3)
    assert options.pool_sizes == (200_000, 500_000, 1_000_000, 2_000_000)
    assert (options.counted, options.assigned_by, options.exclude) == ("made", None, ())
    assert plan_sample("field_level").options.assigned_by == "mag"


def test_what_is_given_wins_over_the_benchmark() -> None:
    plan = plan_sample(year=2010, validation_queries=0, counted="received", seed="x")
    assert plan.options == replace(
        plan_sample().options, year=2010, validation_queries=0, counted="received", seed="x"
    )


def test_what_is_empty_says_nothing() -> None:
    assert plan_sample(year=None, pool_sizes=[], assigned_by="", exclude=()) == plan_sample()


def test_pool_sizes_are_planned_once_each_and_ascending() -> None:
    assert plan_sample(pool_sizes=[500, 100, 500]).options.pool_sizes == (100, 500)


def test_excluded_papers_are_the_lines_of_all_files(tmp_path: Path) -> None:
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for file, text in zip(files, ("b\n\n a \n", "a\nc"), strict=True):
        file.write_text(text)
    assert plan_sample(exclude=files).excluded == ("a", "b", "c")


@pytest.mark.parametrize(
    ("benchmark", "given", "said"),
    [
        ("large_scale", {"queries": 0}, "queries is 0; expected at least 1"),
        ("large_scale", {"repeats": 0}, "repeats is 0; expected at least 1"),
        ("large_scale", {"min_cited": 0}, "min_cited is 0; expected at least 1"),
        ("large_scale", {"pool_sizes": (100, 0)}, "pool_sizes is 0; expected at least 1"),
        ("large_scale", {"validation_pool_size": -5}, "validation_pool_size is -5; expected at least 1"),
        ("large_scale", {"validation_queries": -1}, "validation_queries is -1; expected at least 0"),
        ("large_scale", {"min_abstract": -1}, "min_abstract is -1; expected at least 0"),
        ("large_scale", {"min_citations": -1}, "min_citations is -1; expected at least 0"),
        ("large_scale", {"counted": "both"}, "counted is 'both'; expected one of made, received"),
        ("large_scale", {"year": "2019"}, "year is '2019'; expected a whole number"),
        ("large_scale", {"repeats": True}, "repeats is True; expected a whole number"),
        ("large_scale", {"seed": 1}, "seed is 1; expected a text"),
        ("large_scale", {"pool_sizes": 100}, "pool_sizes is 100; expected a list"),
        ("large_scale", {"exclude": (Path("/nowhere"),)}, "no file /nowhere"),
        ("large_scale", {"assigned_by": "mag"}, "large_scale has no fields"),
        ("field_level", {"pool_sizes": (10, 20)}, "field_level has pools of one size; found 2 sizes"),
    ],
)
def test_an_option_that_cannot_be_is_refused(benchmark: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan_sample(benchmark, **given)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown option of a sample 'sizes'; known: assigned_by, "):
        plan_sample(sizes=(100,))


def test_a_benchmark_that_is_not_sampled_is_refused() -> None:
    for name in ("scifact", "mdcr_constructed"):
        with pytest.raises(BenchmarkError, match=f"{name} is not sampled from a corpus"):
            plan_sample(name)


def test_a_benchmark_that_lacks_an_option_is_refused() -> None:
    benchmark = read_benchmark("large_scale")
    sampling = {name: value for name, value in (benchmark.sampling or {}).items() if name != "year"}
    with pytest.raises(InputError, match=r"year is missing; expected it in the \[sampling\] of large_scale"):
        make_plan(replace(benchmark, sampling=sampling), {})
    assert make_plan(replace(benchmark, sampling=sampling), {"year": 2019}) == plan_sample()


def test_each_repeat_has_an_order_and_tuning_has_one() -> None:
    assert plan_sample(repeats=2).list_orders() == [("test", 1), ("test", 2), ("validation", 1)]
    assert plan_sample(repeats=1, validation_queries=0).list_orders() == [("test", 1)]


def test_a_pool_of_each_size_is_planned_for_each_repeat() -> None:
    plan = plan_sample(pool_sizes=(100, 200), validation_pool_size=50, repeats=2)
    papers = Available("test", "", queries=3, cited=20, available=1000)
    assert list_pools(plan, papers, replace(papers, fold="validation")) == [
        ("100/1", "test/1", 100),
        ("100/2", "test/2", 100),
        ("200/1", "test/1", 200),
        ("200/2", "test/2", 200),
        ("validation/50/1", "validation/1", 50),
    ]


def test_a_field_has_pools_of_its_own() -> None:
    plan = plan_sample("field_level", pool_sizes=(100,), repeats=1)
    assert list(plan_pools(plan, Available("test", "Computer Science", 3, 20, 1000))) == [
        PlannedPool(
            pool="Computer_Science/100/1",
            sample="Computer_Science/test/1",
            requested_size=100,
            size=100,
            repeat=1,
            field="Computer Science",
            fold="test",
        )
    ]


@pytest.mark.parametrize(
    ("cited", "available", "expected"),
    [
        (20, 99, [("100/1", "test/1", 99)]),  # all there are, once
        (20, 100, [("100/1", "test/1", 100)]),  # every repeat would hold the same
        (20, 101, [("100/1", "test/1", 100), ("100/2", "test/2", 100)]),
        (130, 500, [("100/1", "test/1", 130), ("100/2", "test/2", 130)]),  # all that is cited
    ],
)
def test_a_pool_holds_what_is_cited_and_no_more_than_there_is(
    cited: int, available: int, expected: list[tuple[str, str, int]]
) -> None:
    plan = plan_sample(pool_sizes=(100,), repeats=2)
    assert list_pools(plan, Available("test", "", 3, cited, available)) == expected
