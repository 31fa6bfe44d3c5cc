"""What `load` and `fetch` have to say."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pinakes.load.corrections import Corrections
from pinakes.load.fetch import FetchSummary
from pinakes.load.sources import list_sources
from pinakes.load.summary import FileSummary, LoadSummary
from pinakes.report.formatting import format_seconds
from pinakes.report.layout import Cell, Table, absent_cell, flag_count, make_columns, make_row
from pinakes.report.terminal import print_object, print_table, print_tables


def print_load(summary: LoadSummary, *, as_json: bool) -> None:
    """What became of a load: tables, or one JSON object."""
    if as_json:
        record = asdict(summary)
        quality = record.pop("quality")
        print_object({**record, **quality})
        return
    corpus = f"{summary.corpus} (dry run: nothing is kept)" if summary.is_dry else summary.corpus
    print_tables(load_tables(corpus, summary.files, summary.reasons, summary.quality, summary.elapsed_s))
    if table := corrections_table(summary.corrections):
        print()
        print_table(table)
    for rows in summary.stale:
        derived = f"{rows['stale_rows']} rows of {rows['table_name']} by {rows['producer']}"
        print(f"{derived} are of an older text: make them again", file=sys.stderr)


def corrections_table(corrections: Corrections) -> Table | None:
    """What newer versions of files lack, and what became of it; None where they lack nothing."""
    if not corrections.lacking:
        return None
    rows = [make_row(one.file, one.table, f"{one.rows:,}") for one in corrections.lacking]
    notes = [f"{file}: they stay, {why}." for file, why in corrections.kept.items()]
    if corrections.command:
        notes.append(f"They stay in force; `{corrections.command}` removes them.")
    if corrections.removed:
        gone = ", ".join(f"{count:,} {name}" for name, count in corrections.removed.items())
        notes.append(f"Removed, with what hung on them: {gone}.")
    if corrections.cleared:
        cleared = ", ".join(f"{count:,} {name}" for name, count in corrections.cleared.items())
        notes.append(f"Named a removed paper and name none now: {cleared}.")
    if corrections.runs:
        ids = " ".join(map(str, corrections.runs))
        notes.append(f"Runs that rank papers which are gone: `pinakes remove run {ids}`.")
    columns = make_columns(["file", "table"], ["rows that its older version had"])
    return Table("No longer in their files", columns, rows, " ".join(notes))


def load_tables(
    corpus: str,
    files: Sequence[FileSummary],
    reasons: Mapping[str, int],
    counts: Mapping[str, int],
    elapsed_s: float,
) -> list[Table]:
    """What became of a load: file by file, why records were rejected, what the corpus holds now.

    Args:
        reasons: reason -> rejected records of the corpus.
        counts: what the corpus holds and lacks -> how many.
    """
    rows = [make_row(file.file, file.role, *_count_rows(file)) for file in files]
    titles = ["records", "accepted", "of these updated", "of these unchanged", "rejected"]
    columns = make_columns(["file", "holds"], titles)
    note = f"{format_seconds(elapsed_s)}. A file that was in before is not read again."
    if skipped := sum(file.rows_skipped for file in files):
        note += f" The mapping makes no row of {skipped:,} of the accepted records."
    tables = [Table(f"Load of {corpus}", columns, rows, note)]
    if reasons:
        rejected = [make_row(reason, f"{count:,}") for reason, count in sorted(reasons.items())]
        note = "The records lie in rejected_rows, with the place and the raw text."
        tables.append(Table("Rejected", make_columns(["reason"], ["records"]), rejected, note))
    held = [make_row(name.replace("_", " "), f"{count:,}") for name, count in counts.items()]
    return [*tables, Table(f"Corpus {corpus}", make_columns(["holds"], ["count"]), held)]


def _count_rows(file: FileSummary) -> list[Cell]:
    if file.was_loaded_before and not file.rows_in:
        return [Cell("in before"), *[absent_cell()] * 4]
    counts = (file.rows_in, file.rows_loaded, file.rows_updated, file.rows_unchanged)
    return [*(Cell(f"{count:,}") for count in counts), flag_count(file.rows_rejected)]


def source_rows() -> list[dict[str, object]]:
    """The datasets that can be fetched, as rows."""
    return [
        {
            "dataset": source.name,
            "loader": source.loader,
            "licence": source.licence,
            "fetched by": "hand" if source.manual else "pinakes fetch",
            "page": source.page,
        }
        for source in list_sources()
    ]


def fetched_rows(summary: FetchSummary) -> list[dict[str, object]]:
    """What became of a dataset's files, as rows; a digest that nobody publishes stands with its file."""
    return [
        {
            "file": str(file.path),
            "bytes": file.size,
            "was there": "yes" if file.existing else "no",
            "checked against": "what is published" if file.is_vouched else "the first fetch",
            "sha256": file.sha256,
        }
        for file in summary.files
    ]
