"""What is asked of `derive summaries`, and what it says that there is."""

from dataclasses import dataclass, field

from pinakes.errors import InputError
from pinakes.texts.summaries.labellers import DEFAULT, Labeller, parse_labellers
from pinakes.texts.summaries.splitters import Splitter

VERSION = 1
"""of what examples are made of papers: a change of it makes other rows"""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """Which examples of which corpus, and how they are labelled and split.

    Attributes:
        splitter: what finds sentences: punkt, nltk, or source (those that the loader gave).
        labellers: who says which sentences are relevant; `min_positives` goes by the first.
        min_positives: an example with fewer relevant sentences is absent.
        min_sentences: an example of a paper with fewer sentences is absent.
        jobs: processes that split and label.
        split_seed: of both splits.
        test, dev: shares of the examples, or of the papers.
    """

    corpus: str
    splitter: str = "punkt"
    labellers: tuple[str, ...] = DEFAULT
    min_positives: int = 0
    min_sentences: int = 1
    jobs: int = 1
    split_seed: int = 1
    test: float = 0.1
    dev: float = 0.1


def check_request(request: SummaryRequest) -> tuple[Labeller, ...]:
    """The labellers of a request; `InputError` where something of it cannot be."""
    for name, value, least in (
        ("--min-positives", request.min_positives, 0),
        ("--min-sentences", request.min_sentences, 1),
        ("--jobs", request.jobs, 1),
        ("--seed", request.split_seed, 0),
    ):
        if value < least:
            raise InputError(f"{name} is {value}; expected a whole number from {least}.")
    if request.split_seed >= 2**32:
        raise InputError(f"--seed is {request.split_seed}; expected a whole number below 2^32.")
    if not (request.test > 0 and request.dev > 0 and request.test + request.dev < 1):
        raise InputError(
            f"the shares of test ({request.test}) and dev ({request.dev}) must be above 0, "
            "and below 1 together."
        )
    return parse_labellers(request.labellers)


def name_producer(request: SummaryRequest, splitter: Splitter, first: Labeller) -> str:
    """The producer of the examples: all that they and their splits depend on."""
    parts = [f"summaries {VERSION} {splitter.version}"]
    if request.min_sentences > 1:
        parts.append(f"min_sentences={request.min_sentences}")
    if request.min_positives:
        parts.append(f"min_positives={request.min_positives} of {first.name},")
    if (request.test, request.dev) != (0.1, 0.1):
        parts.append(f"test={request.test:g} dev={request.dev:g}")
    return " ".join([*parts, f"seed={request.split_seed}"])


@dataclass(frozen=True, slots=True)
class LabellerMade:
    """What a labeller says of the examples.

    Attributes:
        labels: relevant sentences, of all examples.
        mean_positives: per example; 0 without examples.
        without_positives: examples of which no sentence is relevant.
        mean_share: of relevant sentences among an example's, mean over the examples.
    """

    labeller: str
    examples: int
    labels: int
    mean_positives: float
    without_positives: int
    mean_share: float


@dataclass(frozen=True, slots=True)
class SplitMade:
    """How a scheme splits the examples, and what leaks.

    Attributes:
        leaked_examples: share of the test examples whose paper has training examples; None without any.
        leaked_sentences: share of the test examples' sentences that are of such papers.
    """

    scheme: str
    train: int
    dev: int
    test: int
    leaked_examples: float | None
    leaked_sentences: float | None


@dataclass(frozen=True, slots=True)
class SummariesMade:
    """What a derivation has made, and what the corpus then has.

    Attributes:
        mentions, mentions_without_context: of all pairs.
        pairs: of a paper and a work that it cites: examples + all that are absent.
        query_from: how many examples have their query from where.
        papers: that have examples.
        sentences: of these papers, each counted once.
        split_papers, made_examples, removed_examples, made_labellings: what was done now.
    """

    corpus: str
    producer: str
    pairs: int
    mentions: int
    mentions_without_context: int
    examples: int
    query_from: dict[str, int]
    absent: dict[str, int]
    papers: int
    sentences: int
    labellers: list[LabellerMade]
    splits: list[SplitMade]
    split_papers: int = 0
    made_examples: int = 0
    removed_examples: int = 0
    made_labellings: int = 0
    elapsed_s: float = field(default=0.0)
