"""What `load` and `fetch` have to say."""

from collections.abc import Callable
from dataclasses import asdict

from pinakes.load.corrections import Corrections
from pinakes.load.fetch import FetchSummary
from pinakes.load.sources import list_sources
from pinakes.load.summary import SHOWN_PLACES, FileSummary, LoadSummary
from pinakes.loaders.staging import LEFT_OUT, REASONS, UNREAD
from pinakes.report.for_programs import print_data
from pinakes.report.formatting import format_seconds, shorten
from pinakes.report.layout import Cell, Table, absent_cell, flag_count, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import print_tables


def print_load(summary: LoadSummary, out: Output, *, say: Callable[[str], None]) -> None:
    """What became of a load: tables, or one JSON object; `say` takes what is no data."""
    if out.is_for_programs:
        record = asdict(summary)
        quality = record.pop("quality")
        print_data({**record, **quality}, out)
        return
    corpus = f"{summary.corpus} (dry run: nothing is kept)" if summary.is_dry else summary.corpus
    table = corrections_table(summary.corrections)
    print_tables([*load_tables(corpus, summary), *([table] if table else [])], out)
    for rows in summary.stale:
        derived = f"{rows['stale_rows']} rows of {rows['table_name']} by {rows['producer']}"
        say(f"{derived} are of an older text: make them again")


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
        notes.append(f"Removed, with the rows that referred to them: {gone}.")
    if corrections.cleared:
        cleared = ", ".join(f"{count:,} {name}" for name, count in corrections.cleared.items())
        notes.append(f"Named a removed paper and name none now: {cleared}.")
    if corrections.runs:
        ids = " ".join(map(str, corrections.runs))
        notes.append(f"Runs that rank papers which are gone: `pinakes remove run {ids}`.")
    columns = make_columns(["file", "table"], ["rows that its older version had"])
    return Table("No longer in their files", columns, rows, " ".join(notes))


def load_tables(corpus: str, summary: LoadSummary) -> list[Table]:
    """What became of a load: its files, why records, files and items are not in, what the corpus holds now.

    Args:
        corpus: what the corpus is called in the headings.
        summary: what became of the load.
    """
    tables = [_show_files(corpus, summary)]
    if summary.reasons:
        tables.append(_show_rejected(summary))
    if summary.unread:
        tables.append(_show_unread(summary))
    if summary.left_out:
        rows = [
            make_row(row["kind"], LEFT_OUT[row["reason"]], f"{row['items']:,}") for row in summary.left_out
        ]
        note = "Of accepted records, over all loads of these files: left_out_items."
        tables.append(Table("Left out", make_columns(["what", "because"], ["items"]), rows, note))
    held = [make_row(name.replace("_", " "), f"{count:,}") for name, count in summary.quality.items()]
    return [*tables, Table(f"Corpus {corpus}", make_columns(["holds"], ["count"]), held)]


def _show_files(corpus: str, summary: LoadSummary) -> Table:
    rows = [make_row(file.file, file.role, *_count_rows(file)) for file in summary.files]
    titles = ["records", "accepted", "of these updated", "of these unchanged", "rejected"]
    note = f"{format_seconds(summary.elapsed_s)}. A file that was in before is not read again."
    note += f" Files read: {summary.files_read:,}; not read: {len(summary.unread):,}."
    if skipped := sum(file.rows_skipped for file in summary.files):
        note += f" The mapping makes no row of {skipped:,} of the accepted records."
    lead = ("file", "records", "accepted", "rejected", "holds")
    return Table(f"Load of {corpus}", make_columns(["file", "holds"], titles), rows, note, lead=lead)


def _show_rejected(summary: LoadSummary) -> Table:
    rows = []
    for reason, count in sorted(summary.reasons.items()):
        first = summary.rejected_first.get(reason, [])
        places = "; ".join(f"{file}, {location}: {shorten(message)}" for file, location, message in first)
        rows.append(make_row(REASONS[reason], places, f"{count:,}"))
    note = "All records lie in rejected_rows, with the place and the raw text."
    return Table("Rejected", make_columns(["because", "first places"], ["records"]), rows, note)


def _show_unread(summary: LoadSummary) -> Table:
    by_reason: dict[str, list[str]] = {}
    for row in summary.unread:
        by_reason.setdefault(row["reason"], []).append(row["file"])
    rows = [
        make_row(UNREAD[reason], ", ".join(map(shorten, names[:SHOWN_PLACES])), f"{len(names):,}")
        for reason, names in by_reason.items()
    ]
    note = "Each file lies in unread_files, with the reason."
    return Table("Not read", make_columns(["because", "first files"], ["files"]), rows, note)


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
