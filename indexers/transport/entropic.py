"""A plan of transport that is smoothed by entropy, as the geomloss library gives it to ASPIRE.

Of all plans with the given marginals it is the one of the least cost + epsilon x KL(plan | product of the
marginals) (Cuturi 2013; geomloss: `blur` 0.05 with p = 1 is epsilon 0.05, without its debiasing). Against
the product or against a uniform measure is the same plan. One pair at a time, in float64 and in one order.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.jit import jit

Numbers = NDArray[np.float64]

TOLERANCE: Final = 1e-11
MOST_SWEEPS: Final = 10_000


def plan_entropic(rows: Numbers, columns: Numbers, distances: Numbers, regularisation: float) -> Numbers:
    """The plan (q, n) of weights `rows` (q,) and `columns` (n,), all above 0, over distances (q, n).

    Sinkhorn's sweeps over the potentials end when the marginals are met to 1e-11 in all, or after 10,000:
    they are many where distances are hundreds of times the regularisation, and there the plan is all but the
    exact one. What then is missing is spread so that the marginals hold (Altschuler, Weed and Rigollet 2017,
    algorithm 2).

    >>> plan = plan_entropic(np.full(2, 0.5), np.full(2, 0.5), np.array([[0.0, 1.0], [1.0, 0.0]]), 1.0)
    >>> plan.round(4).tolist()
    [[0.3655, 0.1345], [0.1345, 0.3655]]
    """
    plan = np.empty(distances.shape)
    sweep_plan(rows, columns, distances, regularisation, TOLERANCE, MOST_SWEEPS, plan)
    return meet_marginals(plan, rows, columns)


def meet_marginals(plan: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """A plan near `plan` (q, n) whose sums are `rows` (q,) and `columns` (n,), and which is never negative.

    >>> meet_marginals(np.array([[0.5, 0.0]]), np.array([1.0]), np.array([0.5, 0.5])).tolist()
    [[0.5, 0.5]]
    """
    plan = plan * (rows / np.maximum(rows, plan.sum(axis=1)))[:, None]
    plan = plan * (columns / np.maximum(columns, plan.sum(axis=0)))[None, :]
    missing_rows = np.maximum(rows - plan.sum(axis=1), 0.0)
    missing_columns = np.maximum(columns - plan.sum(axis=0), 0.0)
    missing = float(missing_rows.sum())
    if missing > 0:
        plan = plan + np.outer(missing_rows, missing_columns) / missing
    return plan


@jit
def lift_potential(
    distances: Numbers, weights: Numbers, potential: Numbers, epsilon: float, lifted: Numbers
) -> None:
    """Write the potential of the rows for which their sums hold, given that of the columns."""
    for i in range(distances.shape[0]):
        largest = -np.inf
        for j in range(distances.shape[1]):
            largest = max(largest, potential[j] - distances[i, j])
        total = 0.0
        for j in range(distances.shape[1]):
            total += weights[j] * math.exp((potential[j] - distances[i, j] - largest) / epsilon)
        lifted[i] = -(largest + epsilon * math.log(total))


@jit
def sweep_plan(
    rows: Numbers,
    columns: Numbers,
    distances: Numbers,
    epsilon: float,
    tolerance: float,
    most_sweeps: int,
    plan: Numbers,
) -> None:
    """Write the plan after Sinkhorn's sweeps, in logarithms, so that nothing under- or overflows."""
    of_rows, of_columns = np.zeros(len(rows)), np.zeros(len(columns))
    turned = distances.T.copy()
    for _ in range(most_sweeps):
        lift_potential(distances, columns, of_columns, epsilon, of_rows)
        missing = 0.0
        for j in range(len(columns)):
            total = 0.0
            for i in range(len(rows)):
                of_pair = of_rows[i] + of_columns[j] - distances[i, j]
                plan[i, j] = rows[i] * columns[j] * math.exp(of_pair / epsilon)
                total += plan[i, j]
            missing += abs(total - columns[j])
        if missing < tolerance:
            break
        lift_potential(turned, rows, of_rows, epsilon, of_columns)
