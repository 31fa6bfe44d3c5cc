"""What is known of signatures and of the papers that they stand on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Signature:
    """An author's name on a paper.

    Attributes:
        paper: the position of its paper in `SignedPapers.papers`.
        position: the author's place on the paper.
        affiliations: of the author, as on the paper.
    """

    paper: int
    position: int
    first: str | None = None
    middle: str | None = None
    last: str | None = None
    email: str | None = None
    affiliations: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SignedPaper:
    """A paper, with its authors by place and what it cites.

    Attributes:
        authors: (place, name) of each.
        references: a key of each cited work, whatever is known of it.
        cited: of these, the positions in `SignedPapers.papers` of those that are held.
    """

    key: object
    title: str | None = None
    has_abstract: bool = False
    year: int | None = None
    venue: str | None = None
    authors: Sequence[tuple[int, str]] = ()
    references: Sequence[str] = ()
    cited: Sequence[int] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SignedPapers:
    """Papers, and the vector of each that has one.

    Attributes:
        vectors: the vectors (n, d); a row may hold anything where there is none.
        has_vector: of which papers there is one (n,).
    """

    papers: Sequence[SignedPaper]
    vectors: Vectors = field(default_factory=lambda: np.empty((0, 0), np.float32))
    has_vector: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
