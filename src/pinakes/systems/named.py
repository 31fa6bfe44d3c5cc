"""Baselines by the names that their papers give them: a system of ours with the options that the paper means.

What a paper leaves open is said here, once.

CSFCube (section 5, appendix C): a query is the sentences of its facet, a candidate its whole abstract.
fabs_tfidf: raw counts and smooth idf, scikit-learn's defaults; vectors have length 1, so that the paper's L2
distance and the cosine rank alike. fabs_bm25: Okapi as rank_bm25 has it, with that library's defaults.
fabs_cbow200, fabs_tfidfcbow200: CBOW vectors of 200 dimensions, averaged and compared by L2. How words are
told apart is not said: `words`, without stop words and stemming. Counts and vectors are of 800,000 abstracts
there, and here of the benchmark's own corpus unless the option `trained_on` names a larger one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pinakes.errors import InputError
from pinakes.systems.base import SystemOptions


@dataclass(frozen=True, slots=True)
class NamedBaseline:
    """A system with some of its options fixed; the others stay a user's.

    Attributes:
        system: its name in the registry.
        options: those that are fixed.
        distance: how it compares vectors, fixed; None where it has none, or leaves it to the user.
    """

    system: str
    options: Mapping[str, str] = field(default_factory=dict)
    distance: str | None = None

    def fix(self, name: str, options: SystemOptions) -> SystemOptions:
        """The options of a run of the baseline `name`: the user's and its own.

        Raises:
            InputError: the user asks for another distance than that of the baseline.
        """
        if self.distance and options.distance not in (None, self.distance):
            raise InputError(
                f"{name} compares by {self.distance}, as published; for {options.distance} use {self.system}."
            )
        return replace(options, fixed=self.options, distance=self.distance or options.distance)


NAMED: Final[Mapping[str, NamedBaseline]] = {
    "fabs_bm25": NamedBaseline(
        "sparse_bm25", {"formula": "okapi", "k1": "1.5", "b": "0.75", "analysis": "words"}
    ),
    "fabs_cbow200": NamedBaseline("word2vec", {"dimensions": "200", "weights": "none"}, "l2"),
    "fabs_tfidf": NamedBaseline("tfidf", {"analysis": "words", "sublinear_tf": "no"}),
    "fabs_tfidfcbow200": NamedBaseline("word2vec", {"dimensions": "200", "weights": "tfidf"}, "l2"),
    "word2vec_tfidf": NamedBaseline("word2vec", {"weights": "tfidf"}),
}
