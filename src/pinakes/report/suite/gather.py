"""From the database to the report on a suite: figures, averages, letters from the paired bootstrap."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.evaluate.resample import open_resampling, resample_figures
from pinakes.evaluators.bootstrap import RESAMPLES, Values, find_interval
from pinakes.evaluators.letters import assign_letters
from pinakes.evaluators.paired import compare_resampled
from pinakes.progress import Progress, Silent
from pinakes.queries.definition import Benchmark, PublishedScore
from pinakes.queries.suites import AVERAGE, Suite
from pinakes.report.suite.data import (
    Board,
    Figure,
    FigureKey,
    FigureScore,
    Standing,
    SuiteReport,
    mean_of,
)
from pinakes.report.tables.significance import SIGNIFICANT
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.suite import OpenSuite, open_suite

Scores = Mapping[str, Mapping[FigureKey, FigureScore]]
"""system -> figure -> its score"""
Resamples = Mapping[tuple[int, FigureKey], Values]
"""run and figure -> its values over resamples"""


def gather_suite(database: Database, name: str, *, progress: Progress | None = None) -> SuiteReport:
    """All that the report on a suite says, from stored scores and from resamples of what was answered.

    Raises:
        UnknownNameError, BenchmarkError: there is no such suite, or a folder is not as it should be.
        EvaluationError: no benchmark of it has a run that was scored.
    """
    opened = open_suite(database, name)
    figures = list_figures(opened)
    scores = read_suite_scores(database, name)
    if not any(
        one.value is not None for of in scores.values() for row in of.values() for one in row.values()
    ):
        raise EvaluationError(
            f"{name} has no scores yet; make some with `pinakes run {name} --system …` and "
            f"`pinakes evaluate {name}`."
        )
    resamples = _resample(database, opened, scores, progress or Silent())
    formats = [None, *_list_published_formats(opened.suite)]
    boards = [
        board
        for mode, of_mode in scores.items()
        for format_ in formats
        if (board := make_board(opened.suite, figures, of_mode, resamples, mode, format_)) is not None
    ]
    return SuiteReport(opened.suite, figures, scores, boards, _list_warnings(scores, boards))


def list_figures(opened: OpenSuite) -> list[Figure]:
    """The figures of a suite by group, benchmark and number."""
    return [
        Figure(
            FigureKey(one.name, number),
            one.suite.group,
            one.format,
            scores,
            one.name not in opened.suite.beside,
        )
        for one in opened.members
        if one.suite is not None
        for number, scores in enumerate(one.suite.figures, start=1)
    ]


def read_suite_scores(database: Database, name: str) -> dict[str, dict[str, dict[FigureKey, FigureScore]]]:
    """The rows of the view `suite_scores`: mode -> system -> figure -> score."""
    names = ("run_id", "value", "low", "high", "queries_expected", "queries_answered")
    keys = ("mode", "system", "benchmark", "figure")
    view = sa.table("suite_scores", *map(sa.column, ("suite", *keys, *names)))
    with database.read() as session:
        rows = session.rows(sa.select(view).where(view.c.suite == name))
    found: dict[str, dict[str, dict[FigureKey, FigureScore]]] = {}
    for row in sorted(rows, key=lambda row: tuple(row[key] for key in keys)):
        of_system = found.setdefault(row["mode"], {}).setdefault(row["system"], {})
        of_system[FigureKey(row["benchmark"], row["figure"])] = FigureScore(*(row[name] for name in names))
    return found


def _resample(
    database: Database, opened: OpenSuite, scores: Mapping[str, Scores], progress: Progress
) -> Resamples:
    """The values of figures over resamples, which are the same for all runs of a benchmark."""
    runs = {
        (key.benchmark, score.run_id)
        for of_mode in scores.values()
        for of_system in of_mode.values()
        for key, score in of_system.items()
        if score.value is not None
    }
    progress.start(f"resample {opened.suite.name}", len(runs))
    found: dict[tuple[int, FigureKey], Values] = {}
    try:
        for name, of_benchmark in groupby(sorted(runs), key=lambda run: run[0]):
            benchmark = open_benchmark(database, name)
            resample_run = open_resampling(database, benchmark, _list_measures(benchmark))
            for _name, run_id in of_benchmark:
                for number, values in resample_figures(benchmark, resample_run(run_id)).items():
                    found[run_id, FigureKey(name, number)] = values
                progress.advance(1)
    finally:
        progress.finish()
    return found


def _list_measures(benchmark: Benchmark) -> list[str]:
    figures = benchmark.suite.figures if benchmark.suite is not None else ()
    return sorted({measure for figure in figures for _subset, measure in figure})


def _list_published_formats(suite: Suite) -> list[str]:
    named = (score.measure.removeprefix(AVERAGE).strip("()") for score in suite.published)
    return list(dict.fromkeys(filter(None, named)))


def make_board(
    suite: Suite,
    figures: Sequence[Figure],
    scores: Scores,
    resamples: Resamples,
    mode: str,
    format_: str | None,
) -> Board | None:
    """The ranking over the figures of the system that has the most of them; None where no system has one.

    Those that have all of these are ranked, the others stand apart: no average goes over fewer figures than
    another one beside it.
    """
    expected = [one for one in figures if one.in_average and format_ in (None, one.format)]
    has = {system: _list_scored(expected, of_system) for system, of_system in scores.items()}
    chosen = choose_figures(list(has.values()))
    if not chosen:
        return None
    of_board = [one for one in expected if one.key in chosen]
    complete = {system: scores[system] for system, keys in has.items() if chosen <= keys}
    means = {system: _average(of_board, of_system) for system, of_system in complete.items()}
    ranked = sorted(means, key=lambda system: (-means[system][AVERAGE], system))
    drawn = {system: _resample_average(of_board, complete[system], resamples) for system in ranked}
    differences = compare_resampled({system: means[system][AVERAGE] for system in ranked}, drawn)
    letters = assign_letters(ranked, [(one.a, one.b) for one in differences if one.holm_p < SIGNIFICANT])
    published = _find_published(suite, format_)
    standings = [
        Standing(
            system,
            means[system],
            find_interval(drawn[system]),
            letters[system],
            _cover(of_board, complete[system]),
            published.get(system, {}),
        )
        for system in ranked
    ]
    apart = {system: len(keys & chosen) for system, keys in has.items() if keys and not chosen <= keys}
    fixed = sum(
        any((of_system[one.key].run_id, one.key) not in resamples for of_system in complete.values())
        for one in of_board
    )
    return Board(mode, format_, of_board, expected, standings, apart, differences, fixed)


def _list_scored(
    figures: Iterable[Figure], of_system: Mapping[FigureKey, FigureScore]
) -> frozenset[FigureKey]:
    """The figures that a system has a value of."""
    return frozenset(
        one.key for one in figures if one.key in of_system and of_system[one.key].value is not None
    )


def choose_figures(sets: Sequence[frozenset[FigureKey]]) -> frozenset[FigureKey]:
    """The largest set of figures that a system has; of equals that of most systems, then the first by name.

    >>> a, b, c = (FigureKey(name, 1) for name in "abc")
    >>> choose_figures([frozenset([a, c]), frozenset([a, b]), frozenset([b])]) == {a, b}
    True
    """
    shared = Counter({one: sum(one <= other for other in sets) for one in sets})
    order = sorted(shared, key=lambda one: (-len(one), -shared[one], sorted(one)))
    return order[0] if order else frozenset()


def _average(figures: Sequence[Figure], of_system: Mapping[FigureKey, FigureScore]) -> dict[str, float]:
    """Group, and `Average` -> the mean of its figures."""
    values = {one: of_system[one.key].value or 0.0 for one in figures}
    groups = dict.fromkeys(one.group for one in figures)
    means = {group: mean_of(value for one, value in values.items() if one.group == group) for group in groups}
    return {**means, AVERAGE: mean_of(values.values())}


def _resample_average(
    figures: Sequence[Figure], of_system: Mapping[FigureKey, FigureScore], resamples: Resamples
) -> Values:
    """The average over all figures in each resample; a figure without resamples stays as it is."""
    drawn = [
        resamples.get((of_system[one.key].run_id, one.key), np.full(RESAMPLES, of_system[one.key].value))
        for one in figures
    ]
    average: Values = np.mean(drawn, axis=0)
    return average


def _cover(figures: Sequence[Figure], of_system: Mapping[FigureKey, FigureScore]) -> float:
    """The share of the figures' queries and test papers that have an answer."""
    found = [of_system[one.key] for one in figures]
    expected = sum(one.queries_expected or 0 for one in found)
    return sum(one.queries_answered or 0 for one in found) / expected if expected else 0.0


def _find_published(suite: Suite, format_: str | None) -> dict[str, dict[str, dict[str, PublishedScore]]]:
    """Our name of a system -> source -> group -> what was published of it."""
    measure = AVERAGE if format_ is None else f"{AVERAGE}({format_})"
    found: dict[str, dict[str, dict[str, PublishedScore]]] = {}
    for score in suite.published:
        for name in suite.ours.get(score.system, ()):
            if score.measure == measure:
                found.setdefault(name, {}).setdefault(score.source, {})[score.subset] = score
    return found


def _list_warnings(scores: Mapping[str, Scores], boards: Sequence[Board]) -> list[str]:
    """What a reader must know before comparing: what was left out, and what has no answer."""
    said = []
    for board in boards:
        if board.format is None and not board.is_complete:
            counts = f"{len(board.figures)} of {len(board.expected)}"
            said.append(
                f"The averages of the mode {board.mode} go over {counts} figures; where a group lacks some, "
                "no published average stands beside it."
            )
    for mode, of_mode in scores.items():
        for system, of_system in of_mode.items():
            without = sorted({key.benchmark for key, one in of_system.items() if one.value is None})
            if without:
                listed = ", ".join(without)
                said.append(f"{system} ({mode}) has runs without all of their scores: {listed}.")
            missing = {
                key.benchmark: (one.queries_expected or 0) - (one.queries_answered or 0)
                for key, one in of_system.items()
            }
            lacking = ", ".join(f"{name} {count:,}" for name, count in sorted(missing.items()) if count)
            if lacking:
                said.append(f"{system} ({mode}) has no answer to some queries or test papers: {lacking}.")
    return said
