"""Signatures in, clusters out: learnt from train blocks, cut as suits dev blocks, given for test blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.disambiguation.features import PairFeatures
from pinakes.indexers.disambiguation.linkage import Linked, Quality, choose_threshold, link_block
from pinakes.indexers.disambiguation.prepare import prepare_features
from pinakes.indexers.disambiguation.same_person import SamePerson, train
from pinakes.indexers.disambiguation.signatures import Signature, SignedPapers
from pinakes.indexers.disambiguation.split import Split, list_pairs, sample_pairs

TRAIN_PAIRS: Final = 100_000
PAIRS_AT_ONCE: Final = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Blocked:
    """Signatures with what is known of them.

    Attributes:
        blocks: the block of each.
        splits: block -> its split; pairs are sampled from the blocks in this order.
        clusters: the person of each, where it is known: of train and dev blocks; others are not looked at.
    """

    signatures: Sequence[Signature]
    papers: SignedPapers
    blocks: Sequence[str]
    splits: Mapping[str, Split]
    clusters: Sequence[str | None]

    def list_members(self, split: Split) -> dict[str, NDArray[np.int64]]:
        """The positions of the signatures of each block of a split, in the order of `splits`.

        In train and dev blocks, of those alone whose person is known.
        """
        members: dict[str, list[int]] = {block: [] for block, one in self.splits.items() if one == split}
        for position, block in enumerate(self.blocks):
            if self.splits[block] == split and (split == "test" or self.clusters[position] is not None):
                members[block].append(position)
        filled = {block: positions for block, positions in members.items() if positions}
        return {block: np.array(positions, dtype=np.int64) for block, positions in filled.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """The clusters of the test blocks, and how they came about.

    Attributes:
        clusters: position of a signature -> its cluster, `<block>#<number>`.
        train_pairs, same_pairs: pairs that were trained on, and those of one person among them.
        threshold: of the distance at which clusters are no longer joined.
        dev_quality: what it was chosen by; None where no dev block has two signatures.
    """

    clusters: Mapping[int, str]
    train_pairs: int
    same_pairs: int
    threshold: float
    dev_quality: float | None


def disambiguate(blocked: Blocked, quality: Quality, seed: int, train_pairs: int = TRAIN_PAIRS) -> Clustering:
    """The clusters of the signatures in test blocks.

    `quality` says how well predicted clusters are the true ones. The same at any number of threads, and from
    a second call. Raises `IndexingError` where there is nothing to train on, and for vectors that are no
    numbers.
    """
    features = prepare_features(blocked.signatures, blocked.papers)
    pairs = sample_pairs(blocked.list_members("train"), train_pairs, seed)
    person = np.array(blocked.clusters, dtype=object)
    same = (person[pairs[:, 0]] == person[pairs[:, 1]]).astype(bool)
    model = train(features.compute(pairs), same, seed)
    dev, test = blocked.list_members("dev"), blocked.list_members("test")
    linked = [_link(features, model, members) for members in dev.values()]
    truth = [person[members].tolist() for members in dev.values()]
    threshold, dev_quality = choose_threshold(linked, truth, quality)
    clusters = {
        position: f"{block}#{label + 1}"
        for block, members in test.items()
        for position, label in zip(
            members.tolist(), _link(features, model, members).cut(threshold).tolist(), strict=True
        )
    }
    return Clustering(clusters, len(pairs), int(same.sum()), threshold, dev_quality)


def _link(features: PairFeatures, model: SamePerson, members: NDArray[np.int64]) -> Linked:
    pairs = list_pairs(members)
    parts = [
        model.measure_distances(features.compute(pairs[first : first + PAIRS_AT_ONCE]))
        for first in range(0, len(pairs), PAIRS_AT_ONCE)
    ]
    return link_block(len(members), np.concatenate([np.empty(0, np.float64), *parts]))
