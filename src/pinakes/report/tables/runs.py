"""What made the runs of a report, and how much they cover."""

import orjson

from pinakes.report.data import BenchmarkReport, RunRow
from pinakes.report.formatting import format_seconds, format_time
from pinakes.report.layout import Table, flag_count, make_columns, make_row
from pinakes.report.tables.scores import coverage_cell


def coverage_table(report: BenchmarkReport) -> Table:
    """What each run was to rank and what it gave: queries, candidates without text, hits, time."""
    titles = ["queries", "candidates", "without text", "hits", "depth", "seconds"]
    rows = [
        make_row(
            run.label,
            f"run {run.run_id}",
            coverage_cell(run.queries_answered, run.queries_expected),
            f"{run.candidates_expected:,}",
            flag_count(run.candidates_without_text),
            f"{run.hit_count:,}",
            "whole pool" if run.depth is None else f"{run.depth:,}",
            f"{run.elapsed_s:.2f}",
        )
        for run in report.rank_runs()
    ]
    note = "A query without an answer counts as zero in every mean."
    return Table("Coverage", make_columns(["system", "from"], titles), rows, note)


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


def read_parameters(text: str) -> dict[str, object]:
    """The parameters of a run as an object."""
    found: dict[str, object] = orjson.loads(text)
    return found


def write_parameter(value: object) -> str:
    """A parameter as an option writes it.

    >>> write_parameter("l2"), write_parameter(20), write_parameter(True)
    ('l2', '20', 'true')
    """
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _flatten(value: object, prefix: str = "") -> list[tuple[str, str]]:
    if not isinstance(value, dict):
        return [(prefix, write_parameter(value))]
    parts = [_flatten(inner, f"{prefix}.{name}" if prefix else name) for name, inner in value.items()]
    return [pair for part in parts for pair in part]
