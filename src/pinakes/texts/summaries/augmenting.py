"""Sentences added to the citing ones, each the one that makes the summary most like the query: by ROUGE."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from pinakes.texts.summaries.labellers import Labeller

if TYPE_CHECKING:
    from pinakes.indexers.rouge.document import Document
    from pinakes.indexers.rouge.greedy import Augmentation


def read_sentences(sentences: Sequence[str], semantics: str) -> "Document":
    """A paper's sentences as augmentation reads them, for all examples of the paper."""
    from pinakes.indexers.rouge.document import read_document

    return read_document(sentences, semantics)


def augment_example(
    labeller: Labeller, query: str, document: "Document", contexts: Sequence[str]
) -> "Augmentation":
    """What the greedy labeller adds to the citing contexts.

    The contexts are one text: as published without anything between them, else with a space.
    """
    from pinakes.indexers.rouge.greedy import GreedySettings, augment

    cited = ("" if labeller.is_published else " ").join(contexts)
    names = cast(Any, (labeller.metric, labeller.stat, labeller.semantics, labeller.start))
    return augment(query, document, cited or None, GreedySettings(*names))
