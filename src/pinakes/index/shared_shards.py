"""Files of vectors that the workers of a cluster write; each text is encoded once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pinakes.indexers.encoder.encode import text_digest
from pinakes.indexers.encoder.vector_shards import VectorShards
from pinakes.progress import Progress

if TYPE_CHECKING:  # imported late: Ray
    from pinakes.cluster.encoding import ClusterEncoder, UnwrittenShard


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A shard that is written when the shards that have its texts in hand, itself among them, are done."""

    ids: list[Any]
    digests: list[str]
    awaited: set[int]


def share_shards(
    parts: Iterable[tuple[int, Sequence[tuple[Any, str]]]],
    encoders: "ClusterEncoder",
    shards: VectorShards,
    progress: Progress,
) -> int:
    """Have every numbered part, rows of id and text, in its shard; how many texts were encoded."""
    sharing = _Sharing(shards, progress)
    for shard, written in encoders.write(sharing.cut(parts)):
        shards.take(written, list(shard.missing) if shard.alone else shard.digests, aside=shard.alone)
        sharing.finish(shard)
    return sharing.encoded


class _Sharing:
    """Which texts are in hand, for which shard, and which shards wait for them."""

    def __init__(self, shards: VectorShards, progress: Progress) -> None:
        self._shards, self._progress = shards, progress
        self._in_hand: dict[str, int] = {}
        self._waiting: dict[int, _Waiting] = {}
        self.encoded = 0

    def cut(self, parts: Iterable[tuple[int, Sequence[tuple[Any, str]]]]) -> Iterator["UnwrittenShard"]:
        """The shards that have texts to encode; one that is there, or waits for others alone, is none."""
        from pinakes.cluster.encoding import UnwrittenShard  # late: Ray

        for number, part in parts:
            ids, digests = [key for key, _ in part], [text_digest(text) for _, text in part]
            if self._shards.holds(number, ids, digests):
                self._progress.advance(len(part))
                continue
            known = self._shards.find(digests)
            texts = {digest: text for digest, (_, text) in zip(digests, part, strict=True)}
            awaited = {digest for digest in texts if digest not in known and digest in self._in_hand}
            missing = {
                digest: text
                for digest, text in texts.items()
                if digest not in known and digest not in awaited
            }
            owners = {self._in_hand[digest] for digest in awaited}
            if owners or not missing:
                self._waiting[number] = _Waiting(ids, digests, owners | ({number} if missing else set()))
            if not missing:
                self._write_whole()
                continue
            self._in_hand |= dict.fromkeys(missing, number)
            folder, settings = self._shards.address, self._shards.settings
            yield UnwrittenShard(
                folder,
                number,
                settings,
                None if owners else pa.array(ids),
                [] if owners else digests,
                missing,
                {} if owners else known,
                alone=bool(owners),
            )

    def finish(self, shard: "UnwrittenShard") -> None:
        """What a shard had in hand is encoded: write those that waited for it alone."""
        self.encoded += len(shard.missing)
        for digest in shard.missing:
            del self._in_hand[digest]
        self._progress.advance(len(shard.digests))
        for waiting in self._waiting.values():
            waiting.awaited.discard(shard.number)
        self._write_whole()

    def _write_whole(self) -> None:
        for number, waiting in list(self._waiting.items()):
            if waiting.awaited:
                continue
            vectors = self._shards.find(waiting.digests)
            stacked = np.stack([vectors[digest] for digest in waiting.digests])
            self._shards.write(number, pa.array(waiting.ids), waiting.digests, stacked)
            self._progress.advance(len(waiting.digests))
            del self._waiting[number]
