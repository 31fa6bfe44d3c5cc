"""A paper that a search found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """A paper that was found; `rank` 1 is the best."""

    rank: int
    score: float
    source_id: str
    title: str | None
    year: int | None
    paper_id: int
