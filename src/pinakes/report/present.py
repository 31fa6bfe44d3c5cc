"""What steps have to say, as rows and lines for a terminal."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson

from pinakes.load.fetch import FetchSummary
from pinakes.load.sources import list_sources
from pinakes.load.summary import LoadSummary
from pinakes.progress import Progress, Silent
from pinakes.records import Score
from pinakes.report.formatting import format_field, format_value
from pinakes.report.layout import Cell, Table, absent_cell, make_row, number_columns, text_columns
from pinakes.report.progress import make_progress
from pinakes.report.run_tables import load_tables
from pinakes.report.subsets import is_shown
from pinakes.report.tables import coverage_cell
from pinakes.report.terminal import print_report, print_rows, print_tables

if TYPE_CHECKING:  # these import scipy, which takes seconds
    from pinakes.evaluate.compare import PairComparison
    from pinakes.evaluate.evaluate import RunScores
    from pinakes.run.tune import TuneSummary
    from pinakes.sample.sample import SampleSummary

__all__ = [
    "comparison_rows",
    "describe_coverage",
    "fetched_rows",
    "print_load",
    "print_records",
    "print_report",
    "print_rows",
    "print_sample",
    "print_scores",
    "print_status",
    "print_tuning",
    "score_rows",
    "show_progress",
    "source_rows",
]


def show_progress(*, quiet: bool) -> Progress:
    """A display of progress on stderr, or none."""
    return Silent() if quiet else make_progress()


def print_load(summary: LoadSummary, *, as_json: bool) -> None:
    """What became of a load: tables, or one JSON object."""
    if as_json:
        print_object(asdict(summary))
    else:
        print_tables(list_load_tables(summary))
        for rows in summary.stale:
            made = f"{rows['stale_rows']} rows of {rows['table_name']} by {rows['producer']}"
            print(f"{made} are of an older text: make them again", file=sys.stderr)


def print_tuning(summary: "TuneSummary", *, as_json: bool) -> None:
    """Every pair of k1 and b with its mean, the chosen one marked; or one JSON object."""
    if as_json:
        print_object(asdict(summary))
        return
    rows = [{**asdict(point), "chosen": "yes" if point == summary.chosen else ""} for point in summary.points]
    print_records(rows, as_json=False)
    told = f"{summary.measure} over {summary.query_count} queries ({summary.validation})"
    print(f"{told}: k1 {summary.chosen.k1:g}, b {summary.chosen.b:g}", file=sys.stderr)


def print_sample(summary: "SampleSummary", *, as_json: bool) -> None:
    """What was drawn: how far the pre-filter narrowed the corpus, and every pool; or one JSON object."""
    if as_json:
        print_object(asdict(summary))
        return
    funnel = [{"papers of the corpus": name, "count": count} for name, count in summary.funnel.items()]
    print_records(funnel, as_json=False)
    print_records([asdict(pool) for pool in summary.pools], as_json=False)
    told = [
        f"{summary.queries} of {summary.requested_queries} queries, "
        f"{summary.validation_queries} for validation; "
        f"{summary.excluded_held} of {summary.excluded} excluded papers are in the corpus"
    ]
    short = [pool.pool for pool in summary.pools if pool.size < pool.requested_size]
    if short:
        told.append(f"smaller than asked, for want of papers, and so drawn once: {', '.join(short)}")
    print("\n".join(told), file=sys.stderr)


def list_load_tables(summary: LoadSummary) -> list[Table]:
    """What became of a load, as tables to print."""
    files = [asdict(file) for file in summary.files]
    corpus = f"{summary.corpus} (dry run: nothing is kept)" if summary.is_dry else summary.corpus
    return load_tables(corpus, files, summary.reasons, summary.quality, summary.elapsed_s)


def source_rows() -> list[dict[str, Any]]:
    """The known datasets as rows."""
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


def fetched_rows(summary: FetchSummary) -> list[dict[str, Any]]:
    """What became of a dataset's files, as rows; a digest that nobody publishes is told with its file."""
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


def print_status(found: Mapping[str, Sequence[Mapping[str, Any]]], *, as_json: bool) -> None:
    """What a database holds: a table for each kind of thing, or one JSON object."""
    if as_json:
        print_object(found)
        return
    for name, rows in found.items():
        sys.stdout.write(f"{name.replace('_', ' ')}{'' if rows else ': none'}\n")
        if rows:
            print_records(rows, as_json=False)
        sys.stdout.write("\n")


def print_records(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Records of one kind: a table, rounded, or a JSON array, unrounded."""
    columns = list(rows[0]) if rows else []
    if as_json:
        print_rows(columns, (tuple(row.values()) for row in rows), "json")
        return
    print_rows(columns, (tuple(format_field(name, value) for name, value in row.items()) for row in rows))


def print_object(content: Any) -> None:
    """One JSON object on stdout."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    sys.stdout.write(orjson.dumps(content, default=str, option=options).decode())


def score_rows(results: Iterable["RunScores"], *, per_query: bool) -> list[dict[str, Any]]:
    """Scores as rows: of subsets, or of single queries."""
    return [
        {
            "run_id": result.run_id,
            "system": result.system,
            "subset": score.subset,
            "measure": score.measure,
            **({"query_id": score.query_id} if per_query else {}),
            "value": score.value,
            "queries_expected": score.queries_expected,
            "queries_answered": score.queries_answered,
            "queries_missing": score.queries_missing,
        }
        for result in results
        for score in result.scores
        if (score.query_id is not None) == per_query
    ]


def print_scores(results: Sequence["RunScores"], *, per_query: bool, as_json: bool) -> None:
    """Scores of subsets as a table, a row each of subset and run; or records, of subsets or of queries."""
    if as_json or per_query:
        print_records(score_rows(results, per_query=per_query), as_json=as_json)
        return
    print_tables([_score_table(results)])


def _score_table(results: Sequence["RunScores"]) -> Table:
    found = {(r.run_id, s.subset, s.measure): s for r in results for s in r.aggregates()}
    named = list(dict.fromkeys(subset for _, subset, _ in found))
    subsets = [subset for subset in named if is_shown(subset)]
    measures = list(dict.fromkeys(measure for _, _, measure in found))
    rows = []
    for subset in subsets:
        for result in results:
            cells = [found.get((result.run_id, subset, measure)) for measure in measures]
            known = next(cell for cell in cells if cell is not None)
            values = [_score_cell(cell) for cell in cells]
            coverage = coverage_cell(known.queries_answered, known.queries_expected)
            rows.append(make_row(subset, result.system, f"run {result.run_id}", coverage, *values))
    columns = (*text_columns("subset", "system", "from"), *number_columns(["queries", *measures]))
    note = "A query without an answer counts as zero."
    if len(subsets) < len(named):
        more = len(named) - len(subsets)
        note += f" {more} subsets more, repeats and parts of types, are in the table scores."
    return Table("Scores", columns, tuple(rows), note)


def _score_cell(score: Score | None) -> Cell | str:
    return absent_cell() if score is None else format_value(score.value, "share", score.measure)


def describe_coverage(results: Iterable["RunScores"]) -> Iterator[str]:
    """A line for each run that did not answer every query."""
    for result in results:
        of_all = next((score for score in result.aggregates() if score.subset == "all"), None)
        if of_all is not None and of_all.queries_missing:
            yield (
                f"run {result.run_id} ({result.system}) answers {of_all.queries_answered} of "
                f"{of_all.queries_expected} queries; each missing one counts as zero"
            )


def comparison_rows(pairs: Sequence["PairComparison"]) -> list[Mapping[str, Any]]:
    """Comparisons as rows: b against a."""
    return [
        {
            "measure": pair.measure,
            "subset": pair.subset,
            "a": f"{pair.system_a} (run {pair.run_a})",
            "b": f"{pair.system_b} (run {pair.run_b})",
            "queries": pair.comparison.queries,
            "mean_difference": pair.comparison.mean_difference,
            "interval_low": pair.comparison.interval[0],
            "interval_high": pair.comparison.interval[1],
            "wins": pair.comparison.wins,
            "ties": pair.comparison.ties,
            "losses": pair.comparison.losses,
            "t_test_p": pair.comparison.t_test_p,
            "wilcoxon_p": pair.comparison.wilcoxon_p,
            "randomisation_p": pair.comparison.randomisation_p,
            "holm_t_test_p": pair.holm_t_test,
            "holm_wilcoxon_p": pair.holm_wilcoxon,
            "holm_randomisation_p": pair.holm_randomisation,
        }
        for pair in pairs
    ]
