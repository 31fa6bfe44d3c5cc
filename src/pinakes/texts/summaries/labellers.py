"""Who says which sentences are relevant: the names of labellers, and what they mean."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from pinakes.errors import InputError

Kind = Literal["exact", "aligned", "greedy"]

METRICS: Final = ("rouge1", "rouge2", "rougeL")
STATS: Final = ("f", "recall")
SEMANTICS: Final = ("rouge_score", "rouge_score_plain", "rouge")
STARTS: Final = ("zero", "citing")

DEFAULT: Final = ("citing exact", "citing aligned 0.6", "greedy rouge2 f rouge_score citing")
AS_PUBLISHED: Final = "greedy rouge2 f rouge zero"
"""the labeller of the published dataset"""
THRESHOLD: Final = 0.6
"""F1 from which two sentences are aligned, of the citing sentences of a greedy labeller"""


@dataclass(frozen=True, slots=True)
class Labeller:
    """Who says that a sentence is relevant.

    Attributes:
        name: as in `summary_labels.labeller`.
        kind: exact and aligned look for the citing sentences; greedy adds sentences to these.
        threshold: of aligned: the least F1 of two sentences' tokens, above 0 and at most 1.
        metric, stat, semantics, start: of greedy, as `indexers.rouge.greedy.GreedySettings` says.
    """

    name: str
    kind: Kind
    threshold: float = 0.0
    metric: str = ""
    stat: str = ""
    semantics: str = ""
    start: str = ""

    @property
    def is_published(self) -> bool:
        """Whether it reads texts as the published code does."""
        return self.semantics == "rouge"


def parse_labeller(name: str) -> Labeller:
    """The labeller of that name; `InputError` where none is named so.

    >>> parse_labeller(" citing  aligned 0.60").name
    'citing aligned 0.6'
    >>> parse_labeller("greedy rougeL recall rouge zero").semantics
    'rouge'
    """
    match name.split():
        case ["citing", "exact"]:
            return Labeller("citing exact", "exact")
        case ["citing", "aligned", number] if re.fullmatch(r"0?\.\d+|1(\.0*)?", number) and float(number):
            return Labeller(f"citing aligned {float(number):g}", "aligned", threshold=float(number))
        case ["greedy", metric, stat, semantics, start] if (
            metric in METRICS and stat in STATS and semantics in SEMANTICS and start in STARTS
        ):
            written = f"greedy {metric} {stat} {semantics} {start}"
            return Labeller(written, "greedy", metric=metric, stat=stat, semantics=semantics, start=start)
    choices = " ".join("|".join(names) for names in (METRICS, STATS, SEMANTICS, STARTS))
    raise InputError(
        f"unknown labeller {name!r}; expected `citing exact`, `citing aligned F1` with F1 above 0 and at "
        f"most 1, or `greedy {choices}`."
    )


def parse_labellers(names: Iterable[str]) -> tuple[Labeller, ...]:
    """The labellers, each once, in their order; `InputError` where there is none, or one is unknown."""
    named = {labeller.name: labeller for labeller in map(parse_labeller, names)}
    if not named:
        raise InputError("no labeller is named; expected one at least.")
    return tuple(named.values())


def choose_labellers(named: Iterable[str], *, as_published: bool = False) -> tuple[str, ...]:
    """The names of the labellers that are asked for: those named, else the default, and the published one.

    >>> choose_labellers(["citing exact"], as_published=True)
    ('citing exact', 'greedy rouge2 f rouge zero')
    """
    chosen = tuple(named) or DEFAULT
    return (*chosen, AS_PUBLISHED) if as_published else chosen
