"""What an explanation of a score says; light to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TermScore:
    """What a term of a query adds to the score of a paper.

    Attributes:
        term: as the analysis makes it.
        words: the query's words that it stands for, each once.
        times: how often the query has it.
        frequency: how often the paper has it; 0 where it lacks the term.
        document_frequency: papers that hold it; 0 where none does.
        idf: its inverse document frequency.
        length_norm: k1 * (1 - b + b * length / average length), the same for all terms.
        weight: idf * frequency * (k1 + 1) / (frequency + length_norm).
        score: times * weight.
        share: of the sum of all; 0 where that is 0.
    """

    term: str
    words: tuple[str, ...]
    times: int
    frequency: int
    document_frequency: int
    idf: float
    length_norm: float
    weight: float
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class DroppedWord:
    """A word of a query that is no term, and why."""

    word: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """A score and what it is made of.

    Attributes:
        score: as the ranking has it, a 32-bit float.
        total: the sum of the parts.
        length: of the paper, in terms.
        average_length, papers: of the collection that terms are counted in.
        terms: the query's, the greatest part first, then by spelling.
        dropped: the query's words that are no terms, each once.
    """

    score: float
    total: float
    length: int
    average_length: float
    papers: int
    terms: tuple[TermScore, ...]
    dropped: tuple[DroppedWord, ...]
