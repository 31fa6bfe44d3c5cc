"""Sentences added to the citing ones, each the one that makes the summary most like the query: by ROUGE."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.texts.summaries.labellers import Labeller

if TYPE_CHECKING:
    from pinakes.indexers.rouge.greedy import Augmentation


def augment_example(
    labeller: Labeller, query: str, sentences: Sequence[str], contexts: Sequence[str]
) -> "Augmentation":
    """What the greedy labeller adds to the citing contexts.

    The contexts are one text: as published without anything between them, else with a space.
    """
    from pinakes.indexers.rouge.greedy import GreedySettings, augment

    cited = ("" if labeller.is_published else " ").join(contexts)
    settings = GreedySettings(labeller.metric, labeller.stat, labeller.semantics, labeller.start)
    return augment(query, sentences, cited or None, settings)
