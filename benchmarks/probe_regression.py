"""How fast labels and numbers are predicted: our solvers against scikit-learn's, in one run.

    python benchmarks/probe_regression.py [--quick] [--json FILE] [--threads N]

Three cases: the regression of SciRepEval (7 values of C, 3 folds) against GridSearchCV(LinearSVR), 23 labels
(5 values of C, 3 folds each) against GridSearchCV(LinearSVC(loss="hinge")), and few-shot draws of these
labels. Vectors are made: as long as each other, with the falling spectrum that encoders have. Both read
the same vectors in turn; seconds are wall time, with scikit-learn on all cores (of a draw on one, where its
workers cost more than they save). Beside the ratio stands what has to be equal: the chosen C, and how far
Kendall's tau-b or macro F1 are from each other, in points.
Leaves out: the classes of one label a paper (`probes`), and how near to the optimum each solver ends.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault(
    "PYTHONWARNINGS", "ignore"
)  # of scikit-learn's workers: most of its fits do not converge

import numpy as np
from _common import describe_machine, make_parser, report
from numpy.typing import NDArray
from scipy.stats import kendalltau
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC, LinearSVR

from pinakes.indexers.probes.base import CLASS_GRID, NUMBER_GRID, RULES, Predictions
from pinakes.indexers.probes.draws import draw_positives
from pinakes.indexers.probes.labels import predict_labels
from pinakes.indexers.probes.numbers import predict_numbers

CORRECTED = RULES["corrected"]
LABELS, DIMENSIONS, SHOTS = 23, 384, 5
Row = dict[str, Any]


def main() -> None:
    options = make_parser("Labels and numbers: our probes against scikit-learn's.").parse_args()
    warnings.simplefilter("ignore")
    warm_up()
    papers = 1_000 if options.quick else 5_000
    rows = [
        measure_numbers(papers, options),
        measure_labels(papers * 2 // 5, options),
        *measure_draws(2 if options.quick else 10, options),
    ]
    report(f"Labels and numbers, {DIMENSIONS} dimensions", rows, describe_machine(), options.json)


def warm_up() -> None:
    """Compile every kernel."""
    vectors, scores = make_papers(60, 8)
    predict_labels(vectors, scores[:, :2] > 0, vectors, CORRECTED, CLASS_GRID)
    predict_numbers(np.repeat(vectors, 12, axis=0), np.repeat(scores[:, 0], 12), vectors, CORRECTED, (1.0,))


def make_papers(count: int, dimensions: int = DIMENSIONS) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Vectors of length 1 about a common mean, and as many noisy scores a paper as there are labels."""
    generator = np.random.default_rng(7)
    spectrum = np.arange(1, dimensions + 1) ** -0.5
    vectors = generator.normal(size=(count, dimensions)) * spectrum + generator.normal(size=dimensions) * 0.1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    signal = vectors @ (generator.normal(size=(dimensions, LABELS)))
    return vectors.astype(np.float32), signal + generator.normal(size=signal.shape) * signal.std() * 1.5


def make_members(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Memberships, from a fiftieth to half of the papers."""
    shares = np.linspace(0.02, 0.5, scores.shape[1])
    return np.column_stack([s > np.quantile(s, 1 - share) for s, share in zip(scores.T, shares, strict=True)])


def take_time(job: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = job()
    return result, time.perf_counter() - started


def describe(case: str, ours: float, theirs: float, equal: str, points: float, found: Predictions) -> Row:
    return {
        "case": case,
        "ours s": ours,
        "scikit-learn s": theirs,
        "ratio": theirs / ours,
        "C equal": equal,
        "points apart": points,
        "open": found.open_count,
        "unconverged": found.unconverged,
    }


def measure_numbers(papers: int, options: argparse.Namespace) -> Row:
    vectors, scores = make_papers(papers + 2_000)
    train, test = slice(papers), slice(papers, None)
    targets = np.exp(scores[:, 0] / scores[:, 0].std())  # skewed, as citations are
    targets = np.log1p(targets)
    ours, ours_s = take_time(
        lambda: predict_numbers(
            vectors[train], targets[train], vectors[test], CORRECTED, NUMBER_GRID, options.threads
        )
    )
    search = GridSearchCV(LinearSVR(random_state=42), {"C": NUMBER_GRID}, cv=3, n_jobs=options.threads)
    wide = vectors.astype(np.float64)
    _, theirs_s = take_time(lambda: search.fit(wide[train], targets[train]))
    known = targets[test]
    apart = abs(
        kendalltau(known, ours.values).statistic - kendalltau(known, search.predict(wide[test])).statistic
    )
    equal = str(ours.chosen == (search.best_params_["C"],))
    return describe(f"regression of {papers}", ours_s, theirs_s, equal, 100 * apart, ours)


def fit_labels(vectors: NDArray[np.float64], members: NDArray[np.bool_], threads: int) -> list[Any]:
    """scikit-learn's search of each label; the labels one after the other, as the published code has it."""
    estimator = LinearSVC(max_iter=10_000, loss="hinge")
    return [
        GridSearchCV(estimator, {"C": CLASS_GRID}, cv=3, n_jobs=threads).fit(vectors, column)
        for column in members.T.astype(np.int64)
    ]


def compare_labels(
    case: str, vectors: NDArray[np.float32], members: NDArray[np.bool_], rows: Any, test: Any, threads: int
) -> Row:
    ours, ours_s = take_time(
        lambda: predict_labels(
            vectors[rows], members[rows], vectors[test], CORRECTED, CLASS_GRID, threads or None
        )
    )
    wide = vectors.astype(np.float64)
    # A draw is so small that starting workers costs more than they save.
    searches, theirs_s = take_time(
        lambda: fit_labels(wide[rows], members[rows], 1 if "draw" in case else threads)
    )
    predicted = np.column_stack([search.predict(wide[test]) for search in searches])
    scores = [
        f1_score(members[test], values, average="macro", zero_division=0)
        for values in (ours.values, predicted)
    ]
    same = sum(s.best_params_["C"] == c for s, c in zip(searches, ours.chosen, strict=True))
    return describe(case, ours_s, theirs_s, f"{same} of {LABELS}", 100 * abs(scores[0] - scores[1]), ours)


def measure_labels(papers: int, options: argparse.Namespace) -> Row:
    vectors, scores = make_papers(papers + 2_000)
    members, test = make_members(scores), slice(papers, None)
    case = f"{LABELS} labels of {papers}"
    return compare_labels(case, vectors, members, slice(papers), test, options.threads)


def measure_draws(draws: int, options: argparse.Namespace) -> list[Row]:
    vectors, scores = make_papers(7_000)
    members, test = make_members(scores), slice(5_000, None)
    return [
        compare_labels(f"draw {number}: {len(rows)} papers", vectors, members, rows, test, options.threads)
        for number, rows in enumerate(draw_positives(members[:5_000], SHOTS, draws))
    ]


if __name__ == "__main__":
    main()
