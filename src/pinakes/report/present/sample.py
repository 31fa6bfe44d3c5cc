"""What `sample` and `construct` have to say."""

import sys
from dataclasses import asdict

from pinakes.report.formatting import format_seconds
from pinakes.report.layout import Cell, Table, absent_cell, make_row, number_columns, text_columns
from pinakes.report.terminal import print_object, print_records, print_tables
from pinakes.sample.construct_plan import ConstructionSummary, ModelChoice
from pinakes.sample.sample import SampleSummary


def print_sample(summary: SampleSummary, *, as_json: bool) -> None:
    """What was drawn: how far the pre-filter narrowed the corpus, and every pool; or one JSON object."""
    if as_json:
        print_object(asdict(summary))
        return
    funnel = [{"papers of the corpus": name, "count": count} for name, count in summary.funnel.items()]
    print_records(funnel)
    print_records([asdict(pool) for pool in summary.pools])
    lines = [
        f"{summary.queries} of {summary.requested_queries} queries, "
        f"{summary.validation_queries} for validation; "
        f"{summary.excluded_held} of {summary.excluded} excluded papers are in the corpus"
    ]
    short = [pool.pool for pool in summary.pools if pool.size < pool.requested_size]
    if short:
        lines.append(f"smaller than requested, for want of papers, and so drawn once: {', '.join(short)}")
    print("\n".join(lines), file=sys.stderr)


def print_construction(summary: ConstructionSummary, *, as_json: bool) -> None:
    """The runs that were looked at, the types, and the clashes: tables, or one JSON object."""
    if as_json:
        print_object(asdict(summary))
        return
    print_tables([_model_table(summary), _type_table(summary), *_clash_tables(summary)])


def _model_table(summary: ConstructionSummary) -> Table:
    rows = tuple(
        make_row(
            model.system, f"run {model.run_id}", f"{model.queries:,}", _jaccard_cell(model), _mark(model)
        )
        for model in summary.models
    )
    columns = (
        *text_columns("system", "from"),
        *number_columns(["queries", "mean Jaccard"]),
        *text_columns("drawn from"),
    )
    note = "Of its best negatives and those of the other runs: the lower, the more a run is wrong by itself."
    return Table(f"Runs of {summary.drawn_from}", columns, rows, note)


def _jaccard_cell(model: ModelChoice) -> Cell | str:
    return absent_cell() if model.mean_jaccard is None else f"{model.mean_jaccard:.4f}"


def _mark(model: ModelChoice) -> str:
    return "yes" if model.is_chosen else ""


def _type_table(summary: ConstructionSummary) -> Table:
    rows = tuple(
        make_row(
            counted.source,
            f"{counted.candidates:,}",
            Cell(f"{counted.queries_with_fewer:,}", "warning" if counted.queries_with_fewer else "plain"),
        )
        for counted in summary.types
    )
    columns = (*text_columns("type"), *number_columns(["candidates", "queries with fewer"]))
    left_out = f"; {summary.left_out:,} without a cited paper or a negative are left out"
    note = (
        f"{summary.queries:,} queries{left_out if summary.left_out else ''}; seed {summary.seed}; "
        f"{format_seconds(summary.elapsed_s)}."
    )
    return Table(f"Candidates of {summary.benchmark}", columns, rows, note)


def _clash_tables(summary: ConstructionSummary) -> list[Table]:
    rows = tuple(make_row(clash.source, clash.kept_source, f"{clash.clashes:,}") for clash in summary.clashes)
    columns = (*text_columns("type", "taken by"), *number_columns(["pairs"]))
    note = "Papers that the type would have drawn for a query, had an earlier one not taken them."
    return [Table("Clashes", columns, rows, note)] if rows else []
