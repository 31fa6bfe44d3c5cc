"""What to sample, with every default filled in and every number checked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pinakes.errors import BenchmarkError, InputError
from pinakes.queries.definition import Benchmark
from pinakes.run.files import read_text
from pinakes.schema.sampling import COUNTED


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """What to sample, from what; None: as the benchmark's `[sampling]` says.

    Attributes:
        queries, validation_queries: in all, or for each field; validation queries serve tuning alone.
        pool_sizes: papers of a pool; a benchmark of fields has one size.
        counted: which citations the pre-filter counts: made or received.
        min_cited: papers that a query cites at least, of those that the corpus holds.
        exclude: files of source ids that must be no query, one a line, as of a model's training set.
    """

    benchmark: str
    corpus: str
    seed: str | None = None
    year: int | None = None
    queries: int | None = None
    validation_queries: int | None = None
    pool_sizes: tuple[int, ...] | None = None
    validation_pool_size: int | None = None
    repeats: int | None = None
    min_abstract: int | None = None
    min_citations: int | None = None
    counted: str | None = None
    min_cited: int | None = None
    assigned_by: str | None = None
    exclude: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """A request with every default filled in."""

    benchmark: str
    seed: str
    year: int
    query_count: int
    validation_count: int
    pool_sizes: tuple[int, ...]
    validation_pool_size: int
    repeats: int
    min_abstract: int
    min_citations: int
    counted: str
    min_cited: int
    assigned_by: str | None
    exclude: tuple[str, ...] = field(default_factory=tuple)


def make_plan(benchmark: Benchmark, request: SampleRequest) -> SamplePlan:
    """The request with the benchmark's `[sampling]` for what it does not say.

    Raises:
        BenchmarkError: the benchmark is not one that is sampled.
        InputError: a number is not as it should be, or a file of exclusions cannot be read.
    """
    if benchmark.sampling is None or "pool_sizes" not in benchmark.sampling:
        raise BenchmarkError(
            f"{benchmark.name} is not sampled from a corpus; expected a benchmark whose benchmark.toml has a "
            "table [sampling] with pool_sizes, as large_scale or field_level."
        )
    defaults = benchmark.sampling
    names = (
        "seed",
        "year",
        "validation_pool_size",
        "repeats",
        "min_abstract",
        "min_citations",
        "counted",
    )
    given = {name: getattr(request, name) for name in (*names, "min_cited")}
    chosen = {name: defaults[name] if value is None else value for name, value in given.items()}
    plan = SamplePlan(
        benchmark=benchmark.name,
        query_count=_choose(request.queries, defaults["queries"]),
        validation_count=_choose(request.validation_queries, defaults["validation_queries"]),
        pool_sizes=tuple(sorted(set(request.pool_sizes or defaults["pool_sizes"]))),
        assigned_by=request.assigned_by or defaults.get("assigned_by"),
        exclude=tuple(sorted(_read_exclusions(request.exclude))),
        **chosen,
    )
    _check_plan(plan, has_fields="assigned_by" in defaults)
    return plan


def _choose(given: int | None, default: int) -> int:
    return default if given is None else given


def _check_plan(plan: SamplePlan, *, has_fields: bool) -> None:
    positive = (plan.query_count, plan.repeats, plan.min_cited, plan.validation_pool_size, *plan.pool_sizes)
    if min(positive) < 1 or min(plan.validation_count, plan.min_abstract, plan.min_citations) < 0:
        raise InputError(
            "expected at least one query, one repeat, one cited paper and one paper in a pool, and nothing "
            "below zero."
        )
    if plan.counted not in COUNTED:
        raise InputError(f"counted is {plan.counted!r}; expected one of {', '.join(COUNTED)}.")
    if has_fields and len(plan.pool_sizes) > 1:
        raise InputError(f"{plan.benchmark} has pools of one size; found {len(plan.pool_sizes)} sizes.")
    if not has_fields and plan.assigned_by:
        raise InputError(f"{plan.benchmark} has no fields; assigned_by says nothing there.")


def _read_exclusions(paths: Sequence[Path]) -> set[str]:
    lines = (line.strip() for path in paths for line in read_text(path).splitlines())
    return {line for line in lines if line}
