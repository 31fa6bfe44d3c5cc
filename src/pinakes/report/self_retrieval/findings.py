"""What loss against change shows, in words."""

from collections.abc import Sequence
from typing import Final

from pinakes.report.asked_runs import AskedRun
from pinakes.report.self_retrieval.aggregate import add_losses, name_bin
from pinakes.report.self_retrieval.data import LossBin, SelfReport

FEWEST_PAIRS: Final = 30
"""below these a bin is not drawn and nothing is said of it"""
_APART: Final = 0.05
"""share of neighbours by which categories must differ, of like change, for what is changed to matter"""


def describe_loss(report: SelfReport, run: AskedRun) -> str:
    """How the loss of a run grows with the change, and whether the categories differ at the same change."""
    bins = keep_large(add_losses(report.losses, run.run_id, [one.code for one in report.codes]))
    if len(bins) < 2:
        return f"{run.name}: too few neighbours to say how the loss follows the change."
    least, most = bins[0], bins[-1]
    said = (
        f"{run.name}: of the neighbours that have {name_bin(least.place)} of their characters changed, "
        f"{_share(least)} do not find their original first; of those that have "
        f"{name_bin(most.place)} changed, {_share(most)} do not."
    )
    return f"{said} {_compare_categories(report, run)}".strip()


def keep_large(bins: Sequence[LossBin]) -> list[LossBin]:
    """The bins of at least `FEWEST_PAIRS` pairs."""
    return [one for one in bins if one.pairs >= FEWEST_PAIRS]


def _compare_categories(report: SelfReport, run: AskedRun) -> str:
    """In the bin where most categories meet, the lowest and the highest loss."""
    by_place: dict[int, dict[str, LossBin]] = {}
    for category in report.list_categories():
        for one in keep_large(add_losses(report.losses, run.run_id, report.list_codes(category))):
            by_place.setdefault(one.place, {})[category] = one
    shared = {place: found for place, found in by_place.items() if len(found) > 1 and place > 0}
    if not shared:
        return ""
    place = max(shared, key=lambda one: (len(shared[one]), sum(bin.pairs for bin in shared[one].values())))
    found = shared[place]
    losses = {category: one.not_first / one.pairs for category, one in found.items()}
    low, high = min(losses, key=lambda name: losses[name]), max(losses, key=lambda name: losses[name])
    matters = (
        "what is changed matters besides how much"
        if losses[high] - losses[low] > _APART
        else "the categories hardly differ"
    )
    return (
        f"Of those with {name_bin(place)} changed it is {_share(found[low])} in {low} and "
        f"{_share(found[high])} in {high}: {matters}."
    )


def _share(one: LossBin) -> str:
    return f"{100 * one.not_first / one.pairs:.1f}\u00a0%"
