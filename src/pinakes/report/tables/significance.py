"""Whether the systems differ: pairs of runs over all queries and in each group, as a table and in words."""

from dataclasses import replace
from typing import Final

from pinakes.evaluate.compare import ResampledPair
from pinakes.report.data import BenchmarkReport, PairTest
from pinakes.report.formatting import format_difference, format_effect, format_p, format_subset
from pinakes.report.layout import Cell, Row, Table, make_columns, make_row

SIGNIFICANT: Final = 0.05
MOST_SENTENCES: Final = 10


def comparison_table(report: BenchmarkReport, subset: str = "all") -> Table:
    """Every pair of runs by the headline measure over a subset, p values after Holm's correction."""
    found = report.list_pairs(subset)
    confidence = next((round(pair.confidence * 100) for pair in found), 95)
    titles = ["B - A", f"{confidence} % interval", "wins/ties/losses of B", "effect size"]
    columns = make_columns(["A", "B"], [*titles, "t-test", "Wilcoxon", "randomisation"])
    pairs = len(found)
    repeated = " A query of several pools counts once, by its mean over them." if report.has_repeats else ""
    corrected = f"after Holm's correction over the {pairs} pairs" if pairs > 1 else "of the one pair"
    note = (
        f"{report.headline_measure} over {_count_queries(report, subset)}. The last three columns are p "
        f"values {corrected}; those below {SIGNIFICANT} stand out.{repeated}"
    )
    rows = [_comparison_row(report, pair) for pair in found]
    title = "Do the systems differ?" + ("" if subset == "all" else f" {format_subset(subset).capitalize()}")
    return Table(title, columns, rows, note)


def resampled_table(report: BenchmarkReport) -> Table:
    """Every pair of runs by the headline measure and the paired bootstrap, p after Holm's correction."""
    columns = make_columns(["queries", "A", "B"], ["B - A", "95 % interval", "p", "p after Holm"])
    rows = [_resampled_row(report, pair) for pair in report.resampled]
    note = f"{report.headline_measure}: the paired bootstrap, on the same resamples of the test papers."
    return Table("Do the systems differ?", columns, rows, note)


def _resampled_row(report: BenchmarkReport, pair: ResampledPair) -> Row:
    found = pair.difference
    low, high = (format_difference(end, report.scale, pair.measure) for end in found.interval)
    return make_row(
        format_subset(pair.subset),
        report.find_run(pair.run_a).label,
        report.find_run(pair.run_b).label,
        format_difference(found.difference, report.scale, pair.measure),
        f"{low} to {high}",
        *(Cell(format_p(p), "best" if p < SIGNIFICANT else "plain") for p in (found.p, found.holm_p)),
    )


def _comparison_row(report: BenchmarkReport, pair: PairTest) -> Row:
    measure = report.headline_measure
    low, high = (format_difference(end, report.scale, measure) for end in pair.interval)
    p_values = (pair.t_test_p, pair.wilcoxon_p, pair.randomisation_p)
    return make_row(
        report.find_run(pair.run_a).label,
        report.find_run(pair.run_b).label,
        format_difference(pair.mean_difference, report.scale, measure),
        f"{low} to {high}",
        f"{pair.wins}/{pair.ties}/{pair.losses}",
        format_effect(pair.effect_size),
        *(Cell(format_p(p), "best" if p < SIGNIFICANT else "plain") for p in p_values),
    )


def _count_queries(report: BenchmarkReport, subset: str) -> str:
    """The queries of a comparison in words."""
    if subset == "all":
        return "all queries"
    queries = next(pair.queries for pair in report.list_pairs(subset))
    return f"the {queries} queries of {format_subset(subset)}"


def list_compared(report: BenchmarkReport) -> list[str]:
    """The subsets in which runs were compared, all queries first."""
    return list(dict.fromkeys(pair.subset for pair in report.comparisons))


def describe_winner(report: BenchmarkReport, subset: str = "all") -> list[str]:
    """Sentences on the run that is best in a subset: which it is surely above, and which perhaps not.

    A difference is sure where the randomisation test has p below 0.05 after Holm's correction. Of many
    runs the first ten have a sentence each, the nearest first.
    """
    pairs = report.list_pairs(subset)
    if not pairs:
        return []
    best = _find_best(pairs)
    margins = [_turn(pair, best) for pair in pairs if best in (pair.run_a, pair.run_b)]
    margins.sort(key=lambda pair: (pair.mean_difference, pair.run_a))
    sure = [pair for pair in margins if pair.randomisation_p < SIGNIFICANT and pair.mean_difference > 0]
    sentences = [_describe(report, pair, "") for pair in sure[:MOST_SENTENCES]]
    if len(sure) > MOST_SENTENCES:
        sentences.append(f"It is surely above {len(sure) - MOST_SENTENCES} more, by larger differences.")
    open_ = [pair for pair in margins if pair not in sure]
    sentences += [_describe(report, pair, ", which may be chance") for pair in open_[:MOST_SENTENCES]]
    if len(open_) > MOST_SENTENCES:
        sentences.append(f"So may its difference from {len(open_) - MOST_SENTENCES} more.")
    return sentences


def finding_table(report: BenchmarkReport) -> Table:
    """What follows from the pairs of each subset, in words."""
    rows = [
        make_row(format_subset(subset), finding)
        for subset in list_compared(report)
        for finding in describe_winner(report, subset)
    ]
    return Table("Which system is best?", make_columns(["queries", "finding"]), rows)


def _find_best(pairs: list[PairTest]) -> int:
    """The run with the highest mean: the one whose differences from the others are the highest on average."""
    gains: dict[int, float] = {}
    for pair in pairs:
        gains[pair.run_a] = gains.get(pair.run_a, 0.0) - pair.mean_difference
        gains[pair.run_b] = gains.get(pair.run_b, 0.0) + pair.mean_difference
    return max(gains, key=lambda run_id: (gains[run_id], -run_id))


def _turn(pair: PairTest, best: int) -> PairTest:
    """The pair with the best run as b, so that the difference is what it is above the other by."""
    if pair.run_b == best:
        return pair
    low, high = pair.interval
    return replace(
        pair,
        run_a=pair.run_b,
        run_b=pair.run_a,
        mean_difference=-pair.mean_difference,
        interval=(-high, -low),
        wins=pair.losses,
        losses=pair.wins,
        effect_size=-pair.effect_size,
    )


def _describe(report: BenchmarkReport, pair: PairTest, doubt: str) -> str:
    """A pair in words, run b first."""

    def write(value: float) -> str:
        return format_difference(value, report.scale, report.headline_measure).removeprefix("+")

    labels = [report.find_run(run_id).label for run_id in (pair.run_b, pair.run_a)]
    low, high = map(write, pair.interval)
    corrected = " after Holm" if len(report.list_pairs(pair.subset)) > 1 else ""
    p = format_p(pair.randomisation_p)
    shown_p = f"p {p}" if p.startswith("<") else f"p = {p}"
    return (
        f"{labels[0]} is above {labels[1]} by {write(pair.mean_difference)}{doubt} "
        f"({pair.confidence * 100:.0f} % {low} to {high}, {shown_p}{corrected})."
    )
