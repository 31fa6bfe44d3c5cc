"""What `explain` has to say: what each term adds to a score, and what adds nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from pinakes.report.for_programs import print_data
from pinakes.report.formatting import shorten
from pinakes.report.layout import Row, Table, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import STANDARD, print_table
from pinakes.search.explain import Explanation

_TITLE_LENGTH = 60
_NUMBERS = ("times", "tf", "df", "idf", "norm", "weight", "score", "share")


def print_explanation(found: Explanation, out: Output = STANDARD) -> None:
    """Print a score term by term, or one JSON object, unrounded."""
    if out.is_for_programs:
        print_data(asdict(found), out)
    else:
        print_table(make_table(found), out)


def make_table(found: Explanation) -> Table:
    """A row a term, the greatest part first, and the sum."""
    title = f" ({shorten(found.title, _TITLE_LENGTH)})" if found.title else ""
    rows = list(_list_rows(found))
    return Table(
        f"{found.source_id}{title} for {shorten(found.query, _TITLE_LENGTH)}",
        make_columns(["term"], _NUMBERS, ["words"]),
        rows,
        " ".join(_list_notes(found)),
        lead=("term", "tf", "df", "idf", "norm", "weight", "score", "share"),
    )


def _list_rows(found: Explanation) -> Iterator[Row]:
    for one in found.terms:
        yield make_row(
            one.term,
            f"{one.times:,}",
            f"{one.frequency:,}",
            f"{one.document_frequency:,}",
            f"{one.idf:.4f}",
            f"{one.length_norm:.4f}",
            f"{one.weight:.6f}",
            f"{one.score:.6f}",
            f"{100 * one.share:.1f} %",
            ", ".join(one.words),
        )
    whole = "100.0 %" if found.total else ""
    yield make_row("total", *[""] * 6, f"{found.total:.6f}", whole, "")


def _list_notes(found: Explanation) -> Iterator[str]:
    of = f"query {found.query} of {found.benchmark}" if found.benchmark else found.corpus
    rank = f"rank {found.rank:,} of {found.ranked:,}" if found.rank else "in no ranking"
    yield f"Score {found.score:.6f} by {found.system}, {rank} ({of})."
    yield (
        f"k1 {found.k1:g}, b {found.b:g} ({found.tuning}); {found.length:,} terms, the mean of "
        f"{found.papers:,} papers is {found.average_length:.1f}."
    )
    lacking = [one.term for one in found.terms if one.document_frequency and not one.frequency]
    yield from _say("The paper lacks", lacking)
    yield from _say("No paper has", [one.term for one in found.terms if not one.document_frequency])
    yield from _say("No terms are", [f"{one.word} ({one.reason})" for one in found.dropped])


def _say(what: str, names: Iterable[str]) -> Iterator[str]:
    if listed := ", ".join(names):
        yield f"{what}: {listed}."
