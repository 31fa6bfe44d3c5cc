"""The tables that say what was made: coverage and origin of runs, and what became of a load."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from pinakes.report.data import BenchmarkReport, RunRow
from pinakes.report.formatting import ABSENT, format_seconds, format_time
from pinakes.report.layout import Cell, Table, make_row, number_columns, text_columns
from pinakes.report.tables import coverage_cell


def coverage_table(report: BenchmarkReport) -> Table:
    """What each run was owed and what it gave: queries, candidates without text, hits, time."""
    titles = ["queries", "candidates", "without text", "hits", "depth", "seconds"]
    rows = [
        make_row(
            run.label,
            f"run {run.run_id}",
            coverage_cell(run.queries_answered, run.queries_expected),
            f"{run.candidates_expected:,}",
            Cell(f"{run.candidates_without_text:,}", "warning" if run.candidates_without_text else "plain"),
            f"{run.hit_count:,}",
            "whole pool" if run.depth is None else f"{run.depth:,}",
            f"{run.elapsed_s:.2f}",
        )
        for run in report.rank_runs()
    ]
    columns = (*text_columns("system", "from"), *number_columns(titles))
    note = "A query without an answer counts as zero in every mean."
    return Table("Coverage", columns, tuple(rows), note)


def describe_run(run: RunRow) -> list[tuple[str, str]]:
    """All that made a run, as names and values in the order in which one reads them."""
    encoder = " ".join(part for part in (run.encoder, run.encoder_revision) if part)
    facts = {
        "run": str(run.run_id),
        "system": run.system,
        "imported from": run.imported_from,
        "sha256 of the import": run.import_digest,
        "encoder": encoder,
        "precision": run.precision,
        "query template": run.query_template,
        "paper template": run.paper_template,
        "depth": "whole pool" if run.depth is None else str(run.depth),
        "started": format_time(run.started_at),
        "took": format_seconds(run.elapsed_s),
        "device": run.device,
        "Pinakes": run.code_version,
        "digest of the rows": run.dataset_digest,
        "digest of the definition": run.view_digest + ("" if run.is_current else " (not today's)"),
        "run digest": run.run_digest,
    }
    return [*((name, value) for name, value in facts.items() if value), *list_parameters(run.parameters)]


def list_parameters(text: str) -> list[tuple[str, str]]:
    """The parameters of a system, nested ones with a dot.

    >>> list_parameters('{"k1": 1.2, "analysis": {"stemmer": "english"}}')
    [('analysis.stemmer', 'english'), ('k1', '1.2')]
    """
    return sorted(_flatten(orjson.loads(text)))


def _flatten(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    if not isinstance(value, dict):
        return [(prefix, value if isinstance(value, str) else orjson.dumps(value).decode())]
    parts = [_flatten(inner, f"{prefix}.{name}" if prefix else name) for name, inner in value.items()]
    return [pair for part in parts for pair in part]


def load_tables(
    corpus: str,
    files: Sequence[Mapping[str, Any]],
    reasons: Mapping[str, int],
    counts: Mapping[str, int],
    elapsed_s: float,
) -> list[Table]:
    """What became of a load: file by file, why records were rejected, what the corpus holds now.

    Args:
        files: for each file `file`, `role`, `was_loaded_before`, `rows_in`, `rows_loaded`, `rows_updated`,
            `rows_unchanged`, `rows_rejected`, and `rows_skipped` where a mapping passes over records.
        reasons: reason -> rejected records of the corpus.
        counts: what the corpus holds and lacks -> how many.
    """
    names = ("rows_in", "rows_loaded", "rows_updated", "rows_unchanged", "rows_rejected")
    rows = [make_row(str(file["file"]), str(file["role"]), *_count_rows(file, names)) for file in files]
    titles = ["records", "accepted", "of these updated", "of these unchanged", "rejected"]
    columns = (*text_columns("file", "holds"), *number_columns(titles))
    note = f"{format_seconds(elapsed_s)}. A file that was in before is not read again."
    if skipped := sum(int(file.get("rows_skipped", 0)) for file in files):
        note += f" The mapping makes no row of {skipped:,} of the accepted records."
    tables = [Table(f"Load of {corpus}", columns, tuple(rows), note)]
    if reasons:
        rejected = tuple(make_row(reason, f"{count:,}") for reason, count in sorted(reasons.items()))
        columns = (*text_columns("reason"), *number_columns(["records"]))
        note = "The records lie in rejected_rows, with the place and the raw text."
        tables.append(Table("Rejected", columns, rejected, note))
    held = tuple(make_row(name.replace("_", " "), f"{count:,}") for name, count in counts.items())
    columns = (*text_columns("holds"), *number_columns(["count"]))
    return [*tables, Table(f"Corpus {corpus}", columns, held)]


def _count_rows(file: Mapping[str, Any], names: Sequence[str]) -> list[Cell]:
    if file["was_loaded_before"] and not file["rows_in"]:
        return [Cell("in before"), *(Cell(ABSENT, "absent") for _name in names[1:])]
    rejected = Cell(f"{file['rows_rejected']:,}", "warning" if file["rows_rejected"] else "plain")
    return [*(Cell(f"{file[name]:,}") for name in names[:-1]), rejected]
