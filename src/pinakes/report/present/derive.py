"""What `derive` has to say."""

from dataclasses import asdict

from pinakes.report.for_programs import print_data
from pinakes.report.formatting import format_seconds
from pinakes.report.layout import Row, Table, absent_cell, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import print_table, print_tables
from pinakes.texts.neighbours_made import CodeMade, NeighboursMade
from pinakes.texts.summaries.request import SummariesMade


def print_neighbours(made: NeighboursMade, out: Output) -> None:
    """What neighbours a corpus has by code, and why papers have none; or one JSON object."""
    if out.is_for_programs:
        print_data(asdict(made), out)
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
    print_table(Table(title, columns, [_make_row(code) for code in made.codes], note), out)


def _make_row(code: CodeMade) -> Row:
    without = sum(code.absent.values())
    reasons = ", ".join(f"{reason}: {papers:,}" for reason, papers in code.absent.items())
    counts = (f"{count:,}" for count in (code.made, code.unchanged, without))
    return make_row(code.code, code.category, *counts, reasons)


def print_summaries(made: SummariesMade, out: Output) -> None:
    """What examples a corpus has, why pairs are none, labels and splits: tables, or one JSON object."""
    if out.is_for_programs:
        print_data(asdict(made), out)
        return
    print_tables([_make_pairs(made), _make_labellers(made), _make_splits(made)], out)


def _make_pairs(made: SummariesMade) -> Table:
    rows = [make_row("examples", f"query from the {where}", f"{n:,}") for where, n in made.query_from.items()]
    rows += [make_row("absent", reason, f"{count:,}") for reason, count in made.absent.items()]
    note = (
        f"{made.producer}. {made.mentions:,} mentions, of which {made.mentions_without_context:,} without a "
        f"context; {made.examples:,} examples of {made.papers:,} papers with {made.sentences:,} sentences. "
        f"Made now: sentences of {made.split_papers:,} papers, {made.made_examples:,} examples, "
        f"{made.made_labellings:,} labellings, in {format_seconds(made.elapsed_s)}; removed: "
        f"{made.removed_examples:,} examples."
    )
    title = f"Pairs of papers and cited works of {made.corpus} ({made.pairs:,})"
    return Table(title, make_columns(["what", "which"], ["pairs"]), rows, note)


def _make_labellers(made: SummariesMade) -> Table:
    columns = make_columns(
        ["labeller"], ["examples", "labels", "mean an example", "without any", "mean share of sentences"]
    )
    rows = [
        make_row(
            one.labeller,
            f"{one.examples:,}",
            f"{one.labels:,}",
            f"{one.mean_positives:.2f}",
            f"{one.without_positives:,}",
            f"{one.mean_share:.2%}",
        )
        for one in made.labellers
    ]
    return Table("Relevant sentences", columns, rows)


def _make_splits(made: SummariesMade) -> Table:
    columns = make_columns(["split"], ["train", "dev", "test", "leaked examples", "leaked sentences"])
    rows = [
        make_row(
            split.scheme,
            *(f"{count:,}" for count in (split.train, split.dev, split.test)),
            *(
                absent_cell() if share is None else f"{share:.1%}"
                for share in (split.leaked_examples, split.leaked_sentences)
            ),
        )
        for split in made.splits
    ]
    note = "Leaked: of the test examples and of their sentences, the share of papers with training examples."
    return Table("Splits", columns, rows, note)
