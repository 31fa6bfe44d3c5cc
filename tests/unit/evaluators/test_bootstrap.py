"""Samples of papers drawn again, and what measures are over them: scikit-learn's and scipy's values."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn import metrics

from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluators import bootstrap
from pinakes.evaluators.bootstrap import Resampling, find_interval, paired_p, resample_means
from pinakes.evaluators.resampled_labels import (
    resample_classes,
    resample_exact_matches,
    resample_labels,
    score_counts,
)
from pinakes.evaluators.resampled_numbers import resample_pearson, resample_tau

Array = NDArray[Any]
RANDOM = np.random.default_rng(5)


def write_out(resampling: Resampling) -> list[Array]:
    """The units of each sample, one by one."""
    blocks = np.concatenate([counts for _part, counts in resampling.draw()])
    return [np.repeat(np.arange(resampling.size), counts) for counts in blocks]


def test_a_sample_has_as_many_units_as_there_are_and_every_run_sees_the_same_ones() -> None:
    first, second = (list(Resampling("toy", 7, count=30).draw()) for _ in range(2))
    ((part, counts),) = first
    assert part == slice(0, 30)
    assert counts.sum(axis=1).tolist() == [7] * 30
    assert (counts == second[0][1]).all()
    assert len(np.unique(counts, axis=0)) == 30
    others = (Resampling("other", 7, count=30), Resampling("toy", 7, count=30, seed=1))
    for other in others:
        assert (next(other.draw())[1] != counts).any()


def test_the_draws_are_those_of_numpys_generator_seeded_with_seed_name_and_number() -> None:
    name = int(hashlib.md5(b"toy").hexdigest()[:8], 16)
    chosen = np.random.default_rng([0, name, 3]).integers(5, size=5)
    assert write_out(Resampling("toy", 5, count=4))[3].tolist() == sorted(chosen.tolist())


def test_blocks_change_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    resampling = Resampling("toy", 40, count=25)
    whole = np.concatenate([counts for _part, counts in resampling.draw()])
    monkeypatch.setattr(bootstrap, "MOST_COUNTS", 130)
    blocks = list(resampling.draw())
    assert [part.stop - part.start for part, _counts in blocks] == [3] * 8 + [1]
    assert (np.concatenate([counts for _part, counts in blocks]) == whole).all()


@pytest.mark.parametrize(("size", "count"), [(0, 10), (10, 0)])
def test_nothing_cannot_be_sampled(size: int, count: int) -> None:
    with pytest.raises(EvaluationError, match="expected one or more of each"):
        Resampling("toy", size, count=count)


def test_means_are_those_of_the_samples_written_out() -> None:
    resampling = Resampling("toy", 60, count=20)
    values = RANDOM.random((3, 60))
    expected = [[row[sample].mean() for sample in write_out(resampling)] for row in values]
    assert resample_means(resampling, values) == pytest.approx(np.array(expected), abs=1e-12)


def test_a_unit_of_several_queries_counts_with_all_of_them() -> None:
    resampling = Resampling("toy", 4, count=20)
    queries = np.array([3.0, 1.0, 2.0, 5.0])
    sums = np.array([[1.5, 1.0, 0.0, 2.0]])
    expected = [sums[0][sample].sum() / queries[sample].sum() for sample in write_out(resampling)]
    assert resample_means(resampling, sums, queries)[0] == pytest.approx(np.array(expected), abs=1e-12)


def test_the_interval_of_a_mean_is_near_to_that_of_the_normal_distribution() -> None:
    values = RANDOM.normal(0.5, 0.1, 400)
    low, high = find_interval(resample_means(Resampling("toy", 400), values[None])[0])
    margin = 1.96 * values.std() / 20
    assert (low, high) == pytest.approx((values.mean() - margin, values.mean() + margin), abs=0.15 * margin)


SINGLE: dict[str, Callable[..., float]] = {
    "F1_macro": lambda t, p: metrics.f1_score(t, p, average="macro", zero_division=0),
    "F1_micro": lambda t, p: metrics.f1_score(t, p, average="micro", zero_division=0),
    "P_macro": lambda t, p: metrics.precision_score(t, p, average="macro", zero_division=0),
    "R_macro": lambda t, p: metrics.recall_score(t, p, average="macro", zero_division=0),
    "Accuracy": lambda t, p: metrics.accuracy_score(t, p),
}
BINARY: dict[str, Callable[..., float]] = {
    "F1_binary": lambda t, p: metrics.f1_score(t, p, zero_division=0),
    "P_binary": lambda t, p: metrics.precision_score(t, p, zero_division=0),
    "R_binary": lambda t, p: metrics.recall_score(t, p, zero_division=0),
}


@pytest.mark.parametrize("measure", SINGLE)
def test_measures_of_one_class_a_paper_are_scikit_learns(measure: str) -> None:
    # few papers and many classes: in many a sample a class is missing, of the truth or of what is said
    truth = RANDOM.integers(0, 6, 14)
    predicted = np.where(RANDOM.random((4, 14)) < 0.5, truth, RANDOM.integers(0, 6, (4, 14)))
    resampling = Resampling("toy", 14, count=25)
    found = score_counts(measure, resample_classes(resampling, truth, predicted, 6))
    expected = [
        [SINGLE[measure](truth[sample], one[sample]) for one in predicted] for sample in write_out(resampling)
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("measure", BINARY)
def test_binary_measures_are_scikit_learns_of_the_positive_class(measure: str) -> None:
    truth, predicted = RANDOM.integers(0, 2, 9), RANDOM.integers(0, 2, (3, 9))
    resampling = Resampling("toy", 9, count=25)
    counts = resample_classes(resampling, truth, predicted, 2)
    for positive in (0, 1):
        expected = [
            [BINARY[measure](truth[sample] == positive, one[sample] == positive) for one in predicted]
            for sample in write_out(resampling)
        ]
        assert score_counts(measure, counts, positive) == pytest.approx(np.array(expected), abs=1e-12)


def test_a_paper_without_a_prediction_is_wrong() -> None:
    # of class 0: two papers, one found; of class 1: two, one said and right
    truth, predicted = np.array([0, 0, 1, 1]), np.array([[0, -1, -1, 1]])
    resampling = Resampling("toy", 4, count=200)
    counts = resample_classes(resampling, truth, predicted, 2)
    once = next(number for number, sample in enumerate(write_out(resampling)) if len(set(sample)) == 4)
    found = {measure: float(score_counts(measure, counts)[once, 0]) for measure in SINGLE}
    expected = {"F1_macro": 2 / 3, "F1_micro": 2 / 3, "P_macro": 1.0, "R_macro": 0.5, "Accuracy": 0.5}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["F1_macro", "F1_micro", "P_macro", "R_macro"])
def test_measures_of_several_labels_a_paper_are_scikit_learns(measure: str) -> None:
    truth = RANDOM.random((12, 5)) < 0.3
    predicted = RANDOM.random((3, 12, 5)) < 0.4
    truth[:, 4] = False  # a label that no test paper has counts in the mean all the same
    resampling = Resampling("toy", 12, count=25)
    found = score_counts(measure, resample_labels(resampling, truth, predicted))
    expected = [
        [SINGLE[measure](truth[sample], one[sample]) for one in predicted] for sample in write_out(resampling)
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_several_labels_are_right_if_all_are() -> None:
    truth = RANDOM.random((12, 2)) < 0.5
    predicted = RANDOM.random((3, 12, 2)) < 0.5
    resampling = Resampling("toy", 12, count=25)
    expected = [
        [metrics.accuracy_score(truth[sample], one[sample]) for one in predicted]
        for sample in write_out(resampling)
    ]
    assert resample_exact_matches(resampling, truth, predicted) == pytest.approx(np.array(expected))


def test_an_unknown_measure_is_refused() -> None:
    counts = resample_classes(Resampling("toy", 2, count=1), np.array([0, 1]), np.array([[0, 1]]), 2)
    with pytest.raises(UnknownNameError, match="unknown resampled measure 'F2'; known: Accuracy, F1_binary"):
        score_counts("F2", counts)


@pytest.mark.parametrize("ties", ["none", "truth", "both", "few values"])
def test_tau_is_scipys_of_the_sample_written_out(ties: str) -> None:
    truth = RANDOM.normal(size=80)
    predicted = truth + RANDOM.normal(size=80)
    if ties != "none":
        truth = np.round(truth)
    if ties in ("both", "few values"):
        predicted = np.round(predicted)
    if ties == "few values":
        truth, predicted = np.sign(truth), np.sign(predicted)
    resampling = Resampling("toy", 80, count=30)
    expected = [
        stats.kendalltau(truth[sample], predicted[sample]).statistic for sample in write_out(resampling)
    ]
    assert resample_tau(resampling, truth, predicted) == pytest.approx(np.array(expected), abs=1e-12)


def test_pearsons_correlation_is_scipys_of_the_sample_written_out() -> None:
    truth = 1e6 + RANDOM.normal(size=50)
    predicted = truth - RANDOM.normal(size=50)
    resampling = Resampling("toy", 50, count=30)
    expected = [
        stats.pearsonr(truth[sample], predicted[sample]).statistic for sample in write_out(resampling)
    ]
    assert resample_pearson(resampling, truth, predicted) == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("correlate", [resample_tau, resample_pearson])
def test_a_correlation_that_is_undefined_is_zero(correlate: Callable[..., Array]) -> None:
    truth, constant = RANDOM.normal(size=9), np.full(9, 0.1)
    resampling = Resampling("toy", 9, count=20)
    assert correlate(resampling, truth, constant).tolist() == [0.0] * 20
    assert correlate(resampling, constant, truth).tolist() == [0.0] * 20
    # of two papers a sample often has one alone
    pairs = correlate(Resampling("toy", 2, count=50), np.array([0.0, 1.0]), np.array([0.3, 0.4]))
    assert set(np.round(pairs, 12).tolist()) == {0.0, 1.0}


THREADS = """
import sys
import numpy as np
from pinakes.evaluators.bootstrap import Resampling, resample_means
from pinakes.evaluators.resampled_labels import resample_classes, score_counts
from pinakes.evaluators.resampled_numbers import resample_pearson, resample_tau
random = np.random.default_rng(1)
resampling = Resampling("toy", 700, count=40)
truth, predicted = random.normal(size=(2, 700))
classes = random.integers(0, 4, (3, 700))
found = [
    resample_means(resampling, np.stack([truth, predicted])),
    resample_tau(resampling, truth, predicted + truth),
    resample_pearson(resampling, truth, predicted + truth),
    score_counts("F1_macro", resample_classes(resampling, classes[0], classes[1:], 4)),
]
sys.stdout.buffer.write(b"".join(np.ascontiguousarray(one).tobytes() for one in found))
"""


def test_the_bits_are_the_same_at_any_number_of_threads() -> None:
    found = []
    for threads in ("1", "2"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        program = f"import os; os.cpu_count = lambda: {threads}\n{THREADS}"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, env=environment
        )
        found.append(done.stdout)
    assert len(found[0]) == 8 * (2 * 40 + 40 + 40 + 2 * 40)
    assert found[0] == found[1]


def test_a_difference_is_as_sure_as_its_resamples_are_close() -> None:
    resampled = 0.02 + RANDOM.normal(0, 0.01, 1000)
    expected = 2 * stats.norm.sf(0.02 / resampled.std(ddof=1))
    assert paired_p(0.02, resampled) == pytest.approx(expected)
    assert paired_p(-0.02, -resampled) == pytest.approx(expected)
    assert paired_p(0.0, resampled) == 1.0


def test_the_paired_test_is_near_to_the_t_test_of_many_queries() -> None:
    a = RANDOM.random(500)
    b = a + RANDOM.normal(0.01, 0.1, 500)
    means = resample_means(Resampling("toy", 500), np.stack([a, b]))
    expected = stats.ttest_rel(b, a).pvalue
    assert paired_p(float(b.mean() - a.mean()), means[1] - means[0]) == pytest.approx(expected, rel=0.25)
