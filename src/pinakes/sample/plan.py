"""What to sample: every option with its value, and the pools that the papers at hand allow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pinakes.errors import BenchmarkError, InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.streams import read_text
from pinakes.queries.definition import Benchmark
from pinakes.sample.options import OptionValue, SampleOptions, choose_options

TEST: Final = "test"
VALIDATION: Final = "validation"


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """A benchmark's options, and the ids of papers that must be no query."""

    benchmark: str
    options: SampleOptions
    excluded: tuple[str, ...]

    def list_orders(self) -> list[tuple[str, int]]:
        """The random orders of papers that pools are cut from, by fold and repeat: (fold, repeat)."""
        orders = [(TEST, repeat) for repeat in range(1, self.options.repeats + 1)]
        return [*orders, (VALIDATION, 1)] if self.options.validation_queries else orders

    def list_sizes(self, fold: str) -> tuple[int, ...]:
        """The sizes of the fold's pools, ascending."""
        return self.options.pool_sizes if fold == TEST else (self.options.validation_pool_size,)


@dataclass(frozen=True, slots=True)
class Available:
    """What a fold and field (empty: none) has: queries, papers that they cite, and papers for a pool."""

    fold: str
    field: str
    queries: int
    cited: int
    available: int


@dataclass(frozen=True, slots=True)
class PlannedPool:
    """A row of `pools`, but for the benchmark."""

    pool: str
    sample: str
    requested_size: int
    size: int
    repeat: int
    field: str | None
    fold: str


def make_plan(benchmark: Benchmark, given: Mapping[str, OptionValue]) -> SamplePlan:
    """The given options, and the benchmark's `[sampling]` for the others.

    Raises:
        BenchmarkError: the benchmark is not one that is sampled.
        UnknownNameError: there is no such option.
        InputError: a value is not as it should be, or a file of exclusions cannot be read.
    """
    if benchmark.sampling is None or "pool_sizes" not in benchmark.sampling:
        raise BenchmarkError(
            f"{benchmark.name} is not sampled from a corpus; expected a benchmark whose benchmark.toml has a "
            "table [sampling] with pool_sizes, as large_scale or field_level."
        )
    options = choose_options(benchmark.name, benchmark.sampling, given)
    has_fields = "assigned_by" in benchmark.sampling
    if has_fields and len(options.pool_sizes) > 1:
        raise InputError(f"{benchmark.name} has pools of one size; found {len(options.pool_sizes)} sizes.")
    if not has_fields and options.assigned_by:
        raise InputError(f"{benchmark.name} has no fields; assigned_by says nothing there.")
    lines = {
        line.strip()
        for path in options.exclude
        for line in read_text(InputFile(path, path.name, "")).splitlines()
    }
    return SamplePlan(benchmark.name, options, tuple(sorted(lines - {""})))


def plan_pools(plan: SamplePlan, papers: Available) -> Iterator[PlannedPool]:
    """The pools of one fold and field: of each size, repeated where the papers are more than that.

    A pool holds all cited papers, however many, and no more papers than there are.
    """
    prefix = f"{papers.field.replace(' ', '_')}/" if papers.field else ""
    between = "" if papers.fold == TEST else f"{VALIDATION}/"
    repeats = [repeat for fold, repeat in plan.list_orders() if fold == papers.fold]
    for requested in plan.list_sizes(papers.fold):
        for repeat in repeats if papers.available > requested else repeats[:1]:
            yield PlannedPool(
                pool=f"{prefix}{between}{requested}/{repeat}",
                sample=f"{prefix}{papers.fold}/{repeat}",
                requested_size=requested,
                size=max(papers.cited, min(requested, papers.available)),
                repeat=repeat,
                field=papers.field or None,
                fold=papers.fold,
            )
