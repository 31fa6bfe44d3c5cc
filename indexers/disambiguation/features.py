"""What tells whether two signatures are of one person: a row of numbers for each pair, as S2AND has it.

Source: s2and/featurizer.py. Names, affiliations and e-mails are of the signatures; co-authors, venue, year,
title and references of their papers; the cosine is of the papers' vectors. Counts of names are of the
signatures that are compared, S2AND's of all of Semantic Scholar. Leaves out what needs more than is loaded:
the journal beside the venue, and the languages of titles.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.disambiguation.names import NameParts, compare_first_names
from pinakes.indexers.disambiguation.overlap import Counts, Floats, Pairs, compare_pairs
from pinakes.indexers.disambiguation.signatures import SignedPapers
from pinakes.indexers.exact.scores import check_vectors, score_rows

MOST: Final = 50
"""a difference of years or of places counts as so much at most"""

NAMES: Final[Mapping[str, int]] = {
    "first_names_equal": 1,
    "middle_initials_overlap": 1,
    "middle_names_equal": 1,
    "middle_one_missing": 0,
    "first_is_initial": 0,
    "middle_is_initial": 0,
    "first_name_count": 0,
    "full_name_count": -1,
    "last_name_count": -1,
    "block_count": -1,
    "first_name_count_max": 0,
    "full_name_count_max": -1,
    "first_name_edits": 0,
    "first_name_beginning": 0,
    "first_name_subsequence": 0,
    "first_name_jaro_winkler": 0,
}
"""features of names -> 1 where more of it makes one person likelier, -1 where less likely, 0 where either"""
OTHERS: Final[Mapping[str, int]] = {
    "affiliations": 0,
    "email_name_equal": 1,
    "email_host_equal": 1,
    "coauthor_blocks": 1,
    "coauthor_letters": 0,
    "coauthors": 1,
    "venue": 0,
    "years_apart": -1,
    "title_words": 1,
    "title_letters": 1,
    "cited_authors": 1,
    "cited_titles": 1,
    "cited_venues": 1,
    "cited_author_blocks": 1,
    "one_cites_other": 1,
    "references": 1,
    "places_apart": 0,
    "abstracts": 0,
    "cosine": 0,
}
"""features of everything else, in the same way"""
FEATURES: Final = (*NAMES, *OTHERS)


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """Computes the features of pairs of signatures (`prepare_features` makes it).

    Attributes:
        papers: what the signatures stand on.
        owner: each signature's position in these (n,).
        names: of each signature.
        of_signatures, of_papers: feature -> what each counts, and the most that is divided by.
        counts: how many signatures have the same first, full and last name, and the same block (n, 4).
        known: what is a number of each signature (n,), nan where it is not known: `place`, `year`,
            `abstract`, and `email_name` and `email_host`, a number for each distinct text.
    """

    papers: SignedPapers
    owner: NDArray[np.int64]
    names: Sequence[NameParts]
    of_signatures: Mapping[str, tuple[Counts, float]]
    of_papers: Mapping[str, tuple[Counts, float]]
    counts: Floats
    known: Mapping[str, Floats]

    def compute(self, pairs: Pairs) -> NDArray[np.float32]:
        """The features (m, `FEATURES`) of pairs of positions of signatures (m, 2); nan where not known."""
        found = {**self._compare_names(pairs), **self._compare_counts(pairs)}
        paper_pairs = self.owner[pairs]
        for side, table in ((pairs, self.of_signatures), (paper_pairs, self.of_papers)):
            for name, (counts, largest) in table.items():
                found[name] = compare_pairs(counts, side, largest)
        found |= self._compare_numbers(pairs)
        found["one_cites_other"] = self._find_citing(paper_pairs)
        found["cosine"] = self._compare_vectors(paper_pairs)
        return np.stack([found[name] for name in FEATURES], axis=1).astype(np.float32)

    def _compare_names(self, pairs: Pairs) -> dict[str, Floats]:
        names, numbers = _number_distinct(self.names)
        both = np.sort(numbers[pairs], axis=1)  # what is said of two names does not depend on their order
        distinct, place = np.unique(both, axis=0, return_inverse=True)
        said = [_compare_two_names(names[one], names[other]) for one, other in distinct.tolist()]
        values = np.array(said, dtype=np.float64).reshape(len(said), len(_OF_NAMES))[place.ravel()]
        return dict(zip(_OF_NAMES, values.T, strict=True))

    def _compare_counts(self, pairs: Pairs) -> dict[str, Floats]:
        left, right = self.counts[pairs[:, 0]], self.counts[pairs[:, 1]]
        least, most = np.fmin(left, right), np.maximum(left, right)
        columns = (*least.T, *most.T[:2])
        return dict(zip(_COUNTS, columns, strict=True))

    def _compare_numbers(self, pairs: Pairs) -> dict[str, Floats]:
        left = {name: values[pairs[:, 0]] for name, values in self.known.items()}
        right = {name: values[pairs[:, 1]] for name, values in self.known.items()}
        equal = {
            name: np.where(
                np.isnan(left[name]) | np.isnan(right[name]),
                np.nan,
                (left[name] == right[name]).astype(float),
            )
            for name in ("email_name", "email_host")
        }
        return {
            "email_name_equal": equal["email_name"],
            "email_host_equal": equal["email_host"],
            "years_apart": np.minimum(np.abs(left["year"] - right["year"]), MOST),
            "places_apart": np.minimum(np.abs(left["place"] - right["place"]), MOST),
            "abstracts": left["abstract"] + right["abstract"],
        }

    def _find_citing(self, paper_pairs: Pairs) -> Floats:
        papers = self.papers.papers
        cited = [frozenset(paper.cited) for paper in papers]
        return np.array(
            [float(two in cited[one] or one in cited[two]) for one, two in paper_pairs.tolist()], np.float64
        )

    def _compare_vectors(self, paper_pairs: Pairs) -> Floats:
        found = np.full(len(paper_pairs), np.nan)
        has_vector = self.papers.has_vector
        if not has_vector.any():
            return found
        held = np.cumsum(has_vector) - 1
        vectors = check_vectors(self.papers.vectors[has_vector], "paper")
        # A vector of zeros says nothing, as S2AND has it.
        says = np.zeros(len(has_vector), dtype=bool)
        says[has_vector] = vectors.lengths > 0
        known = says[paper_pairs].all(axis=1)
        rows = held[paper_pairs[known]]
        found[known] = score_rows(vectors, vectors, rows[:, 0], rows[:, 1], "cosine")
        return found


_OF_NAMES: Final = tuple(list(NAMES)[:6] + list(NAMES)[12:])
_COUNTS: Final = tuple(list(NAMES)[6:12])


def _compare_two_names(one: NameParts, other: NameParts) -> tuple[float, ...]:
    initials = [Counter(word[0] for word in name.middle) for name in (one, other)]
    whole = sum((initials[0] | initials[1]).values())
    both_middle = bool(one.middle and other.middle)
    return (
        float(one.first == other.first) if one.first and other.first else np.nan,
        sum((initials[0] & initials[1]).values()) / whole if both_middle else np.nan,
        _compare_middle(" ".join(one.middle), " ".join(other.middle)),
        float(bool(one.middle) != bool(other.middle)),
        float(len(one.first) == 1 or len(other.first) == 1),
        float(any(len(word) == 1 for word in one.middle + other.middle)),
        *compare_first_names(one.first, other.first),
    )


def _compare_middle(one: str, other: str) -> float:
    if not one or not other:
        return np.nan
    if len(one) == 1 or len(other) == 1:
        return float(one[0] == other[0])
    return float(one == other)


def _number_distinct(values: Sequence[NameParts]) -> tuple[list[NameParts], NDArray[np.int64]]:
    distinct = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return list(distinct), np.array([distinct[value] for value in values], dtype=np.int64)
