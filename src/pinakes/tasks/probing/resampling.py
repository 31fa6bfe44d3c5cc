"""What probes are worth over resamples of the test papers: of every setting, and of groups of `all`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.evaluators.bootstrap import Resampling, Values
from pinakes.evaluators.labels import score_labels
from pinakes.evaluators.resampled_labels import resample_classes, resample_labels
from pinakes.evaluators.resampled_numbers import resample_numbers
from pinakes.queries.definition import Benchmark
from pinakes.tasks.base import ResampleRun, read_mode
from pinakes.tasks.probing.scoring import ALL, DECIMALS, Predicted, ProbeScoring, open_probe_scoring


def prepare_resampling(
    database: Database, benchmark: Benchmark, names: Sequence[str], *, target: str, known: Mapping[str, str]
) -> ResampleRun:
    """What gives the values of a run over resamples, by its id; a setting's are means over its draws.

    A group has none where a sample of the test papers has none of it: it is too small. Raises as
    `prepare_scoring` does.
    """
    scoring = open_probe_scoring(database, benchmark, names, target=target, known=known)
    return lambda run_id: dict(_resample(scoring, run_id))


def _resample(scoring: ProbeScoring, run_id: int) -> Iterator[tuple[tuple[str, str], Values]]:
    is_published = read_mode(scoring.database, run_id) == "published"
    papers = len(scoring.labelled.test)
    for setting, of_setting in groupby(scoring.read(run_id), key=lambda one: one.setting):
        draws = list(of_setting)
        subsets = {setting: np.ones(papers, bool)} | (scoring.list_groups() if setting == ALL else {})
        # the vectors that are missing are the same in every draw
        answered = np.logical_and.reduce([draw.answered for draw in draws])
        for subset, chosen in subsets.items():
            rows = np.flatnonzero(chosen & answered if is_published else chosen)
            resampling = Resampling(scoring.benchmark.name, papers, rows=rows)
            if len(rows) < papers and not _is_large_enough(resampling):
                continue
            for measure, values in _measure(scoring, draws, rows, resampling):
                rounded = np.round(values, DECIMALS) if is_published and setting != ALL else values
                yield (subset, measure), rounded.mean(axis=1)


def _is_large_enough(resampling: Resampling) -> bool:
    return all(counts.any(axis=1).all() for _part, counts in resampling.draw())


def _measure(
    scoring: ProbeScoring, draws: Sequence[Predicted], rows: NDArray[np.intp], resampling: Resampling
) -> Iterator[tuple[str, Values]]:
    """Each measure with its values (samples, draws) over the test papers of these rows."""
    test = scoring.labelled.test
    if test.values.size:
        for measure in scoring.measures:
            found = [
                resample_numbers(measure, resampling, test.values[rows], draw.values[rows]) for draw in draws
            ]
            yield measure, np.stack(found, axis=1)
        return
    if test.members.size:
        members = np.stack([draw.members[rows] for draw in draws])
        counts = resample_labels(resampling, test.members[rows], members, draws[0].answered[rows])
    else:
        codes = np.stack([draw.codes[rows] for draw in draws])
        classes = max(map(scoring.count_classes, draws))
        counts = resample_classes(resampling, test.codes[rows], codes, classes)
    for measure in scoring.measures:
        yield measure, score_labels(measure, counts, scoring.positive)
