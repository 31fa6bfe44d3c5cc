"""What is needed of each signature alone before pairs are compared: counted words, known numbers, name counts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from pinakes.indexers.disambiguation.features import PairFeatures
from pinakes.indexers.disambiguation.names import (
    AFFILIATION_STOP_WORDS,
    VENUE_STOP_WORDS,
    NameParts,
    count_letters,
    count_words,
    find_block,
    normalise_text,
    split_name,
)
from pinakes.indexers.disambiguation.overlap import Floats, Occurrences, gather_counts, gather_sets
from pinakes.indexers.disambiguation.signatures import Signature, SignedPaper, SignedPapers
from pinakes.indexers.exact.scores import check_vectors

MOST_LETTERS: Final = 5000
"""what shared runs of letters of many names are divided by at most"""


def prepare_features(signatures: Sequence[Signature], papers: SignedPapers) -> PairFeatures:
    """What computes the features of pairs of these signatures.

    Raises `IndexingError` where a vector that a paper is said to have is not finite.
    """
    if papers.has_vector.any():
        check_vectors(papers.vectors[papers.has_vector], "paper")
    names = [split_name(signature.first, signature.middle, signature.last) for signature in signatures]
    known = {
        name: np.array([take(signature, papers.papers[signature.paper]) for signature in signatures], np.float64)
        for name, take in _KNOWN.items()
    }
    emails = [_split_email(signature.email) for signature in signatures]
    for part, name in enumerate(("email_name", "email_host")):
        known[name] = _number_known([email and email[part] for email in emails])
    return PairFeatures(
        papers,
        np.array([signature.paper for signature in signatures], dtype=np.int64),
        names,
        _prepare_signatures(signatures, papers.papers),
        _prepare_papers(papers.papers),
        _count_names(names),
        known,
    )


_KNOWN: Final[Mapping[str, Callable[[Signature, SignedPaper], float]]] = {
    "place": lambda signature, _paper: signature.position,
    "year": lambda _signature, paper: paper.year if paper.year and paper.year > 0 else np.nan,
    "abstract": lambda _signature, paper: paper.has_abstract,
}


def _prepare_signatures(
    signatures: Sequence[Signature], papers: Sequence[SignedPaper]
) -> dict[str, tuple[Occurrences, float]]:
    affiliations = [
        count_words(" ".join(map(normalise_text, signature.affiliations)), AFFILIATION_STOP_WORDS)
        for signature in signatures
    ]
    coauthors = [
        [normalise_text(name) for place, name in papers[signature.paper].authors if place != signature.position]
        for signature in signatures
    ]
    return {
        "affiliations": (gather_counts(affiliations), np.inf),
        "coauthor_blocks": (gather_sets(map(find_block, names) for names in coauthors), np.inf),
        "coauthor_letters": (
            gather_counts([count_letters(" ".join(names), None) for names in coauthors]),
            MOST_LETTERS,
        ),
        "coauthors": (gather_sets(coauthors), np.inf),
    }


def _prepare_papers(papers: Sequence[SignedPaper]) -> dict[str, tuple[Occurrences, float]]:
    titles = [normalise_text(paper.title) for paper in papers]
    venues = [normalise_text(paper.venue) for paper in papers]
    authors = [[normalise_text(name) for _, name in paper.authors] for paper in papers]
    cited = [[authors[number] for number in paper.cited] for paper in papers]
    of_cited = {
        "cited_authors": [count_letters(" ".join(name for one in work for name in one), None) for work in cited],
        "cited_titles": [count_letters(_join(titles, paper)) for paper in papers],
        "cited_venues": [count_letters(_join(venues, paper), VENUE_STOP_WORDS) for paper in papers],
        "cited_author_blocks": [Counter(find_block(name) for one in work for name in one) for work in cited],
    }
    return {
        "venue": (gather_counts([count_letters(venue, VENUE_STOP_WORDS) for venue in venues]), np.inf),
        "title_words": (gather_counts([count_words(title) for title in titles]), np.inf),
        "title_letters": (gather_counts([count_letters(title) for title in titles]), np.inf),
        **{
            name: (gather_counts(counts), MOST_LETTERS if name == "cited_authors" else np.inf)
            for name, counts in of_cited.items()
        },
        "references": (gather_sets(paper.references for paper in papers), np.inf),
    }


def _join(texts: Sequence[str], paper: SignedPaper) -> str:
    return " ".join(texts[number] for number in paper.cited if texts[number])


def _count_names(names: Sequence[NameParts]) -> Floats:
    """How many signatures have the same first, full, and last name, and the same block (n, 4).

    nan for the first two of an initial.
    """
    keys = [(name.first, (name.first, name.last), name.last, (name.first[:1], name.last)) for name in names]
    counted = [Counter(key[place] for key in keys) for place in range(4)]
    counts = np.array([[counted[place][key[place]] for place in range(4)] for key in keys], dtype=np.float64)
    counts = counts.reshape(len(names), 4)
    counts[[len(name.first) < 2 for name in names], :2] = np.nan
    return counts


def _split_email(email: str | None) -> tuple[str, str] | None:
    """The name and the host of an address, in lower case; its host is `missing` where it has none."""
    if not email:
        return None
    name, at, host = email.rpartition("@") if "@" in email else (email, "@", "missing")
    return name.replace("@", "").strip(".").lower(), host.strip(".").lower()


def _number_known(values: Sequence[str | None]) -> Floats:
    """A number for each distinct text, nan for none."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.array([np.nan if value is None else numbers[value] for value in values], dtype=np.float64)
