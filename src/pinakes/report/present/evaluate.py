"""What `evaluate` has to say."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pinakes.database import Database
from pinakes.evaluate.accept import read_accepted
from pinakes.evaluate.evaluate import RunScores
from pinakes.queries.definition import MODES
from pinakes.records import Score
from pinakes.report.formatting import format_value
from pinakes.report.layout import Cell, Table, make_columns, make_row, value_cell
from pinakes.report.output import Output
from pinakes.report.subsets import is_shown
from pinakes.report.tables.scores import coverage_cell
from pinakes.report.terminal import print_records, print_tables
from pinakes.tasks.base import Unjudged, describe_unjudged, find_task
from pinakes.workload.benchmark import open_benchmark

_MISSING: Final = {
    "corrected": "A query without an answer counts as zero, a paper without a prediction as wrong.",
    "published": "What has no answer is counted as the published code of its task does.",
}
_LEAD: Final = ("run_id", "system", "query_id", "measure", "value", "subset")
_NONE: Final = Unjudged([], 0)
_COUNTED: Final = {
    "corrected": "each missing one counts as zero, or as wrong",
    "published": "the others are counted as the published code of its task does",
}


def print_scores(results: Sequence[RunScores], out: Output, *, per_query: bool) -> None:
    """Scores of subsets, a table for each mode, a row each of subset and run; or records."""
    if out.is_for_programs or per_query:
        print_records(list_score_rows(results, per_query=per_query), out, lead=_LEAD)
        return
    modes = [mode for mode in MODES if any(result.mode == mode for result in results)]
    print_tables([_score_table([one for one in results if one.mode == mode], mode) for mode in modes], out)


def _score_table(results: Sequence[RunScores], mode: str) -> Table:
    found = {(r.run_id, s.subset, s.measure): s for r in results for s in r.aggregates()}
    named = list(dict.fromkeys(subset for _, subset, _ in found))
    subsets = [subset for subset in named if is_shown(subset)]
    measures = list(dict.fromkeys(measure for _, _, measure in found))
    rows = []
    for subset in subsets:
        for result in results:
            scores = [found.get((result.run_id, subset, measure)) for measure in measures]
            first = next((score for score in scores if score is not None), None)
            if first is None:  # what another run alone was asked
                continue
            coverage = coverage_cell(first.queries_answered, first.queries_expected)
            cells = [
                _value_cell(result, subset, measure, score)
                for measure, score in zip(measures, scores, strict=True)
            ]
            rows.append(make_row(subset, result.system, f"run {result.run_id}", coverage, *cells))
    columns = make_columns(["subset", "system", "from"], ["queries", *measures])
    note = _MISSING[mode]
    if any(result.intervals for result in results):
        note += " In parentheses the 95 % bootstrap interval."
    if len(subsets) < len(named):
        more = len(named) - len(subsets)
        note += f" {more} subsets more, repeats and parts of types, are in the table scores."
    title = "Scores" if mode == MODES[0] else "Scores as the published code has them"
    lead = ("subset", "system", "from", *measures[:3], "queries")
    return Table(title, columns, rows, note, lead=lead)


def _value_cell(result: RunScores, subset: str, measure: str, score: Score | None) -> Cell:
    cell = value_cell(score.value if score else None, "share", measure)
    interval = result.intervals.get((subset, measure))
    if interval is None or cell.kind == "absent":
        return cell
    return replace(cell, note=" to ".join(format_value(end, "share", measure) for end in interval))


def describe_coverage(results: Sequence[RunScores]) -> Iterator[str]:
    """A line for queries that no run is scored by, and one for each run that did not answer every query."""
    for unjudged in [result.unjudged for result in results[:1] if result.unjudged.query_ids]:
        yield f"{describe_unjudged(unjudged)}; they are left out of every score"
    for result in results:
        of_all = next((score for score in result.aggregates() if score.subset == "all"), None)
        if of_all is not None and of_all.queries_missing:
            yield (
                f"run {result.run_id} ({result.system}) answers {of_all.queries_answered} of "
                f"{of_all.queries_expected} queries; {_COUNTED[result.mode]}"
            )


def describe_first(results: Sequence[RunScores]) -> Iterator[str]:
    """A line for each run whose first values were accepted by themselves."""
    for result in results:
        if result.accepted:
            yield (
                f"run {result.run_id} ({result.system}): first values of {', '.join(result.accepted)}; they "
                "count as accepted"
            )


def describe_each(scored: Mapping[str, Sequence[RunScores]]) -> Iterator[str]:
    """Of several benchmarks: what runs do not answer, first values, and how many runs were scored."""
    for benchmark, results in scored.items():
        for line in [
            *describe_coverage([replace(one, unjudged=_NONE) for one in results]),
            *describe_first(results),
        ]:
            yield f"{benchmark}: {line}"
    runs = sum(map(len, scored.values()))
    changed = sum(bool(results) for results in scored.values())
    same = f"; nothing changed in {len(scored) - changed}" if changed < len(scored) else ""
    yield f"{runs} runs of {changed} benchmarks evaluated{same}"


def print_each(database: Database, scored: Mapping[str, Sequence[RunScores]], out: Output) -> None:
    """Print the rows of `list_each`; nothing where there are none to look at."""
    rows = list_each(database, scored)
    if rows or out.is_for_programs:
        print_records(rows, out)


def list_each(database: Database, scored: Mapping[str, Sequence[RunScores]]) -> list[dict[str, object]]:
    """The headline value of each run of several benchmarks over all queries, beside the accepted one."""
    rows: list[dict[str, object]] = []
    for benchmark, results in scored.items():
        if not results:
            continue
        opened = open_benchmark(database, benchmark)
        headline = find_task(opened).name_measure(opened.headline_measure)
        accepted = read_accepted(database, benchmark, headline)
        for result in results:
            found = {score.measure: score.value for score in result.aggregates() if score.subset == "all"}
            rows.append(
                {
                    "benchmark": benchmark,
                    "system": result.system,
                    "run_id": result.run_id,
                    "mode": result.mode,
                    "measure": headline,
                    "value": found.get(headline),
                    "accepted": accepted.get(result.run_id),
                }
            )
    return rows


def list_score_rows(results: Iterable[RunScores], *, per_query: bool) -> list[dict[str, object]]:
    """Scores as rows: of subsets, or of single queries."""
    return [
        {
            "run_id": result.run_id,
            "system": result.system,
            "mode": result.mode,
            "subset": score.subset,
            "measure": score.measure,
            **({"query_id": score.query_id} if per_query else {}),
            "value": score.value,
            **({} if per_query else _list_ends(result, score)),
            "queries_expected": score.queries_expected,
            "queries_answered": score.queries_answered,
            "queries_missing": score.queries_missing,
        }
        for result in results
        for score in result.scores
        if (score.query_id is not None) == per_query
    ]


def _list_ends(result: RunScores, score: Score) -> dict[str, object]:
    low, high = result.intervals.get((score.subset, score.measure), (None, None))
    return {"low": low, "high": high}
