"""What `derive` has to say."""

from dataclasses import asdict

from pinakes.report.formatting import format_seconds
from pinakes.report.layout import Row, Table, make_columns, make_row
from pinakes.report.terminal import print_object, print_table
from pinakes.texts.neighbours_made import CodeMade, NeighboursMade


def print_neighbours(made: NeighboursMade, *, as_json: bool) -> None:
    """What neighbours a corpus has by code, and why papers have none; or one JSON object."""
    if as_json:
        print_object(asdict(made))
        return
    columns = make_columns(
        ["code", "category"], ["papers with it", "as the paper is", "without"], ["why without"]
    )
    equal = made.texts - made.distinct_texts
    note = (
        f"{made.producer}. Made now: {made.derived_rows:,} for {made.derived_papers:,} papers, with "
        f"{made.analysed:,} analyses, in {format_seconds(made.elapsed_s)}. Of the {made.texts:,} texts "
        f"(papers and variants) {made.distinct_texts:,} are distinct; the other {equal:,} need no vector of "
        "their own."
    )
    title = f"Neighbours of {made.corpus} ({made.papers:,} papers)"
    print_table(Table(title, columns, [_make_row(code) for code in made.codes], note))


def _make_row(code: CodeMade) -> Row:
    without = sum(code.absent.values())
    reasons = ", ".join(f"{reason}: {papers:,}" for reason, papers in code.absent.items())
    counts = (f"{count:,}" for count in (code.made, code.unchanged, without))
    return make_row(code.code, code.category, *counts, reasons)
