"""The sentences of a document that citing sentences are: the same, or the most alike by their tokens."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pinakes.indexers.rouge.semantics import split_words

Integers = npt.NDArray[np.int64]


class SentenceIndex:
    """The sentences of a document, by their texts and by their tokens."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self.sentences = sentences

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, sentence in enumerate(self.sentences):
            places.setdefault(sentence, []).append(place)
        return places

    @cached_property
    def _postings(self) -> tuple[dict[str, tuple[Integers, Integers]], Integers]:
        """token -> the sentences that hold it, ascending, and how often; the tokens of each sentence."""
        gathered: dict[str, tuple[list[int], list[int]]] = {}
        lengths = np.zeros(len(self.sentences), dtype=np.int64)
        for place, sentence in enumerate(self.sentences):
            tokens = split_words(sentence)
            lengths[place] = len(tokens)
            for token, count in Counter(tokens).items():
                places, counts = gathered.setdefault(token, ([], []))
                places.append(place)
                counts.append(count)
        postings = {token: (np.array(held[0]), np.array(held[1])) for token, held in gathered.items()}
        return postings, lengths

    def find_same(self, citing: Iterable[str]) -> list[int]:
        """The places of all sentences that are one of the citing ones, ascending."""
        return sorted({place for sentence in citing for place in self._places.get(sentence, ())})

    def align(self, citing: Iterable[str], threshold: float) -> dict[int, float]:
        """Place -> F1, of the sentence that is most alike to each citing one, where it reaches the threshold.

        The F1 is that of the two multisets of tokens, 1 of equal texts; of several alike sentences the first
        is taken, and of several citing sentences that find the same one, the best.
        """
        aligned: dict[int, float] = {}
        for sentence in citing:
            place, score = self._find_nearest(sentence)
            if score >= threshold and score > aligned.get(place, 0.0):
                aligned[place] = score
        return dict(sorted(aligned.items()))

    def _find_nearest(self, sentence: str) -> tuple[int, float]:
        """The place of the most alike sentence and its F1; 0 and 0.0 where none shares a token."""
        if sentence in self._places:
            return self._places[sentence][0], 1.0
        postings, lengths = self._postings
        tokens = split_words(sentence)
        held = [(*postings[token], count) for token, count in Counter(tokens).items() if token in postings]
        if not held:
            return 0, 0.0
        places = np.concatenate([places for places, _, _ in held])
        shared = np.concatenate([np.minimum(counts, count) for _, counts, count in held])
        overlaps = np.bincount(places, weights=shared, minlength=len(lengths))
        scores = 2 * overlaps / (lengths + len(tokens))
        best = int(np.argmax(scores))
        return best, float(scores[best])
