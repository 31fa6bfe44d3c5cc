"""What `sample` and `construct` have to say."""

from collections.abc import Callable
from dataclasses import asdict

from pinakes.report.for_programs import print_data
from pinakes.report.formatting import format_seconds
from pinakes.report.layout import Table, absent_cell, flag_count, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import make_record_table, print_tables
from pinakes.sample.construct_plan import ConstructionSummary
from pinakes.sample.sample import SampleSummary


def print_sample(summary: SampleSummary, out: Output, *, say: Callable[[str], None]) -> None:
    """What was drawn: how far the pre-filter narrowed the corpus, and every pool; or one JSON object.

    `say` takes what is no data.
    """
    if out.is_for_programs:
        print_data(asdict(summary), out)
        return
    funnel = [{"papers of the corpus": name, "count": count} for name, count in summary.funnel.items()]
    pools = make_record_table([asdict(pool) for pool in summary.pools], title="Pools")
    print_tables([make_record_table(funnel, title="Papers"), pools], out)
    lines = [
        f"{summary.queries} of {summary.requested_queries} queries, "
        f"{summary.validation_queries} for validation; "
        f"{summary.excluded_held} of {summary.excluded} excluded papers are in the corpus"
    ]
    short = [pool.pool for pool in summary.pools if pool.size < pool.requested_size]
    if short:
        lines.append(f"smaller than requested, for want of papers, and so drawn once: {', '.join(short)}")
    for line in lines:
        say(line)


def print_construction(summary: ConstructionSummary, out: Output) -> None:
    """The runs that were looked at, the types, and the clashes: tables, or one JSON object."""
    if out.is_for_programs:
        print_data(asdict(summary), out)
        return
    print_tables([_model_table(summary), _type_table(summary), *_clash_tables(summary)], out)


def _model_table(summary: ConstructionSummary) -> Table:
    rows = [
        make_row(
            model.system,
            f"run {model.run_id}",
            f"{model.queries:,}",
            absent_cell() if model.mean_jaccard is None else f"{model.mean_jaccard:.4f}",
            "yes" if model.is_chosen else "",
        )
        for model in summary.models
    ]
    columns = make_columns(["system", "from"], ["queries", "mean Jaccard"], ["drawn from"])
    note = "Of its best negatives and those of the other runs: the lower, the more a run is wrong by itself."
    return Table(f"Runs of {summary.drawn_from}", columns, rows, note)


def _type_table(summary: ConstructionSummary) -> Table:
    rows = [
        make_row(counted.source, f"{counted.candidates:,}", flag_count(counted.queries_with_fewer))
        for counted in summary.types
    ]
    columns = make_columns(["type"], ["candidates", "queries with fewer"])
    left_out = f"; {summary.left_out:,} without a cited paper or a negative are left out"
    note = (
        f"{summary.queries:,} queries{left_out if summary.left_out else ''}; seed {summary.seed}; "
        f"{format_seconds(summary.elapsed_s)}."
    )
    return Table(f"Candidates of {summary.benchmark}", columns, rows, note)


def _clash_tables(summary: ConstructionSummary) -> list[Table]:
    rows = [make_row(clash.source, clash.kept_source, f"{clash.clashes:,}") for clash in summary.clashes]
    columns = make_columns(["type", "taken by"], ["pairs"])
    note = "Papers that the type would have drawn for a query, had an earlier one not taken them."
    return [Table("Clashes", columns, rows, note)] if rows else []
