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

from pinakes.errors import EvaluationError
from pinakes.evaluators import bootstrap
from pinakes.evaluators.bootstrap import Resampling, find_interval, paired_p, resample_means
from pinakes.evaluators.labels import count_classes, count_labels, score_labels, score_numbers
from pinakes.evaluators.paired import compare_resampled
from pinakes.evaluators.resampled_labels import resample_classes, resample_labels
from pinakes.evaluators.resampled_numbers import resample_numbers
from pinakes.evaluators.significance import holm

Array = NDArray[Any]
RANDOM = np.random.default_rng(5)


def write_out(resampling: Resampling) -> list[Array]:
    """The units of each sample, one by one."""
    blocks = np.concatenate([counts for _part, counts in resampling.draw()])
    return [np.repeat(np.arange(len(counts)), counts) for counts in blocks]


def test_a_sample_has_as_many_units_as_there_are_and_every_run_sees_the_same_ones() -> None:
    first, second = (list(Resampling("toy", 7, count=30).draw()) for _ in range(2))
    ((part, counts),) = first
    assert part == slice(0, 30)
    assert counts.sum(axis=1).tolist() == [7] * 30
    assert (counts == second[0][1]).all()
    assert len(np.unique(counts, axis=0)) > 20
    others = (Resampling("other", 7, count=30), Resampling("toy", 7, count=30, seed=1))
    for other in others:
        assert (next(other.draw())[1] != counts).any()


def test_the_draws_are_those_of_numpys_generator_seeded_with_seed_and_name() -> None:
    name = int(hashlib.md5(b"toy").hexdigest()[:8], 16)
    chosen = np.random.default_rng([0, name]).integers(5, size=(4, 5))
    drawn = [sample.tolist() for sample in write_out(Resampling("toy", 5, count=4))]
    assert drawn == np.sort(chosen).tolist()


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


def test_a_part_of_the_units_is_looked_at_as_often_as_the_samples_of_all_have_it() -> None:
    rows = np.array([1, 4, 5])
    whole, part = Resampling("toy", 6, count=20), Resampling("toy", 6, count=20, rows=rows)
    assert (next(part.draw())[1] == next(whole.draw())[1][:, rows]).all()
    values = RANDOM.random((1, 6))
    expected = [
        values[0][sample[np.isin(sample, rows)]].mean() if np.isin(sample, rows).any() else np.nan
        for sample in write_out(whole)
    ]
    assert resample_means(part, values[:, rows])[0] == pytest.approx(np.array(expected), nan_ok=True)


MEASURES: dict[str, Callable[..., float]] = {
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


@pytest.mark.parametrize("measure", MEASURES)
def test_measures_of_one_class_a_paper_are_scikit_learns(measure: str) -> None:
    # few papers and many classes: in many a sample a class is missing, of the truth or of what is said
    true = RANDOM.integers(0, 6, 14)
    predicted = np.where(RANDOM.random((4, 14)) < 0.5, true, RANDOM.integers(0, 6, (4, 14)))
    resampling = Resampling("toy", 14, count=25)
    found = score_labels(measure, resample_classes(resampling, true, predicted, 6))
    expected = [
        [MEASURES[measure](true[sample], one[sample]) for one in predicted]
        for sample in write_out(resampling)
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("measure", BINARY)
def test_binary_measures_are_scikit_learns_of_the_positive_class(measure: str) -> None:
    true, predicted = RANDOM.integers(0, 2, 9), RANDOM.integers(0, 2, (3, 9))
    resampling = Resampling("toy", 9, count=25)
    counts = resample_classes(resampling, true, predicted, 2)
    for positive in (0, 1):
        expected = [
            [BINARY[measure](true[sample] == positive, one[sample] == positive) for one in predicted]
            for sample in write_out(resampling)
        ]
        assert score_labels(measure, counts, positive) == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("measure", ["F1_macro", "P_micro", "R_binary", "Accuracy"])
def test_a_missing_class_is_wrong_in_a_sample_as_in_all(measure: str, classes: int) -> None:
    true = RANDOM.integers(0, classes, 12)
    predicted = np.where(RANDOM.random((3, 12)) < 0.3, -1, RANDOM.integers(0, classes, (3, 12)))
    resampling = Resampling("toy", 12, count=25)
    found = score_labels(measure, resample_classes(resampling, true, predicted, classes), 1)
    expected = [
        [score_labels(measure, count_classes(true[sample], one[sample], classes), 1) for one in predicted]
        for sample in write_out(resampling)
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_measures_of_several_labels_a_paper_are_scikit_learns(measure: str) -> None:
    true = RANDOM.random((12, 5)) < 0.3
    predicted = RANDOM.random((3, 12, 5)) < 0.3
    true[:, 4] = False  # a label that no test paper has counts in the mean all the same
    resampling = Resampling("toy", 12, count=25)
    found = score_labels(measure, resample_labels(resampling, true, predicted, np.ones(12, bool)))
    expected = [
        [MEASURES[measure](true[sample], one[sample]) for one in predicted]
        for sample in write_out(resampling)
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_a_paper_without_an_answer_has_no_label_and_is_not_right() -> None:
    true = np.array([[True, False], [False, False], [False, True]])
    answered = np.array([True, False, False])
    resampling = Resampling("toy", 3, count=40)
    counts = resample_labels(resampling, true, true[None], answered)
    for measure in ("F1_micro", "Accuracy"):
        expected = [
            [score_labels(measure, count_labels(true[sample], true[sample], answered[sample]))]
            for sample in write_out(resampling)
        ]
        assert score_labels(measure, counts) == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("ties", ["none", "true", "both", "few values"])
def test_tau_is_scipys_of_the_sample_written_out(ties: str) -> None:
    true = RANDOM.normal(size=80)
    predicted = true + RANDOM.normal(size=80)
    if ties != "none":
        true = np.round(true)
    if ties in ("both", "few values"):
        predicted = np.round(predicted)
    if ties == "few values":
        true, predicted = np.sign(true), np.sign(predicted)
    resampling = Resampling("toy", 80, count=30)
    expected = [
        stats.kendalltau(true[sample], predicted[sample]).statistic for sample in write_out(resampling)
    ]
    found = resample_numbers("KendallTau", resampling, true, predicted)
    assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_pearsons_correlation_is_scipys_of_the_sample_written_out() -> None:
    true = 1e6 + RANDOM.normal(size=50)
    predicted = true - RANDOM.normal(size=50)
    resampling = Resampling("toy", 50, count=30)
    expected = [stats.pearsonr(true[sample], predicted[sample]).statistic for sample in write_out(resampling)]
    found = resample_numbers("Pearson", resampling, true, predicted)
    assert found == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("measure", ["KendallTau", "Pearson"])
@pytest.mark.parametrize("share", [0.1, 0.7])
def test_missing_numbers_are_worth_what_they_are_in_all(measure: str, share: float) -> None:
    true = np.round(RANDOM.normal(size=40), 1)
    predicted = np.round(true + RANDOM.normal(size=40), 1)
    predicted[RANDOM.random(40) < share] = np.nan
    resampling = Resampling("toy", 40, count=30)
    expected = [score_numbers(measure, true[sample], predicted[sample]) for sample in write_out(resampling)]
    found = resample_numbers(measure, resampling, true, predicted)
    assert found == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("measure", ["KendallTau", "Pearson"])
def test_a_correlation_that_is_undefined_is_zero(measure: str) -> None:
    true, constant = RANDOM.normal(size=9), np.full(9, 0.1)
    resampling = Resampling("toy", 9, count=20)
    assert resample_numbers(measure, resampling, true, constant).tolist() == [0.0] * 20
    assert resample_numbers(measure, resampling, constant, true).tolist() == [0.0] * 20
    missing = resample_numbers(measure, resampling, true, np.full(9, np.nan))
    assert set(np.round(missing, 12).tolist()) == ({-1.0} if measure == "KendallTau" else {0.0})
    # of two papers a sample often has one alone
    two = (np.array([0.0, 1.0]), np.array([0.3, 0.4]))
    pairs = resample_numbers(measure, Resampling("toy", 2, count=50), *two)
    assert set(np.round(pairs, 12).tolist()) == {0.0, 1.0}


THREADS = """
import sys
import numpy as np
from pinakes.evaluators.bootstrap import Resampling, resample_means
from pinakes.evaluators.labels import score_labels
from pinakes.evaluators.resampled_labels import resample_classes
from pinakes.evaluators.resampled_numbers import resample_numbers
random = np.random.default_rng(1)
resampling = Resampling("toy", 700, count=40)
truth, predicted = random.normal(size=(2, 700))
classes = random.integers(0, 4, (3, 700))
found = [
    resample_means(resampling, np.stack([truth, predicted])),
    resample_numbers("KendallTau", resampling, truth, predicted + truth),
    resample_numbers("Pearson", resampling, truth, predicted + truth),
    score_labels("F1_macro", resample_classes(resampling, classes[0], classes[1:], 4)),
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


def test_every_pair_is_compared_and_corrected_over_the_pairs() -> None:
    values = {"a": 0.5, "b": 0.52, "c": 0.7}
    resampled = {name: value + RANDOM.normal(0, 0.02, 1000) for name, value in values.items()}
    found = compare_resampled(values, resampled)
    assert [(one.a, one.b) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    for one in found:
        drawn = resampled[one.b] - resampled[one.a]
        assert one.difference == values[one.b] - values[one.a]
        assert one.interval == tuple(np.percentile(drawn, [2.5, 97.5]))
        assert one.p == paired_p(one.difference, drawn)
    assert [one.holm_p for one in found] == holm([one.p for one in found])
    assert [one.holm_p < 0.05 for one in found] == [False, True, True]
