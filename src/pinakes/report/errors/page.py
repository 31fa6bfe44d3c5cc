"""An error analysis as one HTML page that needs nothing else, as lines of JSON, and as a short table."""

from collections.abc import Sequence
from pathlib import Path

import orjson

from pinakes.report.data import RunRow
from pinakes.report.errors.data import MISSING, ErrorCandidate, ErrorQuery, ErrorReport
from pinakes.report.formatting import ABSENT, format_value
from pinakes.report.layout import Cell, Row, Table, absent_cell, make_columns, make_row
from pinakes.report.pages import make_environment, write_files


def render_error_page(errors: ErrorReport) -> str:
    """The whole page: the same bytes for the same data."""
    page = make_environment().get_template("errors.html")
    high = f"Too high: grade below {errors.relevant_from}, or not judged"
    low = f"Too low: grade {errors.relevant_from} or more, the lowest first"
    return page.render(
        errors=errors,
        value=_write_value,
        rank=_rank_cell,
        # the field of a query, the heading of its candidates, and what is said where there are none
        kinds=[
            ("false_positives", high, "Nothing of the kind is ranked."),
            ("low", low, "Nothing is relevant."),
        ],
        absent=ABSENT,
        left_out=left_out_note(errors),
    )


def _write_value(errors: ErrorReport, query: ErrorQuery, run: RunRow) -> str:
    """A run's value of a query, as a report prints it."""
    value = query.values.get(run.run_id)
    return ABSENT if value is None else format_value(value, errors.scale, errors.measure)


def _rank_cell(candidate: ErrorCandidate, run: RunRow) -> Cell:
    """The rank with the score beside it; what the run does not rank is to be seen."""
    ranked = candidate.ranked.get(run.run_id)
    return Cell(str(ranked.rank), note=f"{ranked.score:.4g}") if ranked else Cell("not ranked", "warning")


def render_error_lines(errors: ErrorReport) -> str:
    """A line of JSON for each query and candidate: query_id, kind, source_id, grade, sources, ranks, scores.

    `ranks` and `scores` are by run id, null where the run does not rank the candidate; in the page's order.
    """
    lines = [
        orjson.dumps(_describe(errors, query, kind, candidate)).decode()
        for query in errors.queries
        for kind, candidates in (("false_positive", query.false_positives), ("low", query.low))
        for candidate in candidates
    ]
    return "".join(f"{line}\n" for line in lines)


def _describe(
    errors: ErrorReport, query: ErrorQuery, kind: str, candidate: ErrorCandidate
) -> dict[str, object]:
    ranked = {str(run.run_id): candidate.ranked.get(run.run_id) for run in errors.runs}
    return {
        "query_id": query.query_id,
        "kind": kind,
        "source_id": candidate.source_id,
        "title": candidate.title,
        "grade": candidate.grade,
        "sources": candidate.sources,
        "ranks": {run: one and one.rank for run, one in ranked.items()},
        "scores": {run: one and one.score for run, one in ranked.items()},
    }


def error_table(errors: ErrorReport) -> Table:
    """A row for each query, the worst first: its values, and what the first run has highest and lowest."""
    titles = [*(run.label for run in errors.runs), "relevant"]
    columns = make_columns(["query"], titles, ["highest that is not", "lowest that is"])
    rows = [_query_row(errors, query) for query in errors.queries]
    title = f"{errors.measure} of the worst queries of {errors.name}"
    return Table(title, columns, rows, left_out_note(errors))


def _query_row(errors: ErrorReport, query: ErrorQuery) -> Row:
    values = [_write_value(errors, query, run) for run in errors.runs]
    lead = errors.runs[:1]
    high = min(query.false_positives, key=lambda one: one.find_ranks(lead), default=None)
    low = max(query.low, key=lambda one: one.find_ranks(lead), default=None)
    return make_row(query.query_id, *values, str(query.relevant), _name(high, lead), _name(low, lead))


def _name(candidate: ErrorCandidate | None, lead: Sequence[RunRow]) -> Cell:
    """A candidate's source id, with its rank in the first run."""
    if candidate is None:
        return absent_cell()
    (rank,) = candidate.find_ranks(lead)
    return Cell(candidate.source_id, note="not ranked" if rank == MISSING else f"rank {rank}")


def left_out_note(errors: ErrorReport) -> str:
    """How many queries are not there, and how one asks for them; empty where all are."""
    if not errors.left_out:
        return ""
    return f"{errors.left_out:,} better queries are left out; `--query ID` asks for any of them."


def write_errors(errors: ErrorReport, folder: Path) -> list[Path]:
    """Write `errors.html` and `errors.jsonl` into a folder, which is made; the paths of both."""
    contents = {"errors.html": render_error_page(errors), "errors.jsonl": render_error_lines(errors)}
    return write_files(folder, contents)
