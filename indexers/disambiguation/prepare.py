"""What is needed of each signature alone before pairs are compared: words, numbers, how common a name is."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from pinakes.indexers.disambiguation.features import PairFeatures
from pinakes.indexers.disambiguation.names import (
    AFFILIATION_STOP_WORDS,
    VENUE_STOP_WORDS,
    NameParts,
    cut_letters,
    find_block,
    list_long_words,
    list_phrases,
    normalise_text,
    split_name,
)
from pinakes.indexers.disambiguation.overlap import Counts, Floats, gather_counts, gather_sets
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
        name: np.array(
            [take(signature, papers.papers[signature.paper]) for signature in signatures], np.float64
        )
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
) -> dict[str, tuple[Counts, float]]:
    affiliations = (" ".join(map(normalise_text, signature.affiliations)) for signature in signatures)
    coauthors = [
        [
            normalise_text(name)
            for place, name in papers[signature.paper].authors
            if place != signature.position
        ]
        for signature in signatures
    ]
    phrases = (list_phrases(text, AFFILIATION_STOP_WORDS) for text in affiliations)
    words = (" ".join(names).split() for names in coauthors)
    return {
        "affiliations": (gather_counts(phrases), np.inf),
        "coauthor_blocks": (gather_sets(map(find_block, names) for names in coauthors), np.inf),
        "coauthor_letters": (gather_counts(words, cut_letters), MOST_LETTERS),
        "coauthors": (gather_sets(coauthors), np.inf),
    }


def _prepare_papers(papers: Sequence[SignedPaper]) -> dict[str, tuple[Counts, float]]:
    titles = [normalise_text(paper.title) for paper in papers]
    authors = [[normalise_text(name) for _, name in paper.authors] for paper in papers]
    of_title = [list_long_words(title) for title in titles]
    of_venue = [list_long_words(normalise_text(paper.venue), VENUE_STOP_WORDS) for paper in papers]
    of_authors = [" ".join(names).split() for names in authors]
    blocks = [list(map(find_block, names)) for names in authors]

    def join_cited(lists: Sequence[Sequence[str]]) -> Iterator[list[str]]:
        return ([text for number in paper.cited for text in lists[number]] for paper in papers)

    return {
        "venue": (gather_counts(of_venue, cut_letters), np.inf),
        "title_words": (gather_counts(map(list_phrases, titles)), np.inf),
        "title_letters": (gather_counts(of_title, cut_letters), np.inf),
        "cited_authors": (gather_counts(join_cited(of_authors), cut_letters), MOST_LETTERS),
        "cited_titles": (gather_counts(join_cited(of_title), cut_letters), np.inf),
        "cited_venues": (gather_counts(join_cited(of_venue), cut_letters), np.inf),
        "cited_author_blocks": (gather_counts(join_cited(blocks)), np.inf),
        "references": (gather_sets(paper.references for paper in papers), np.inf),
    }


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
    name, _, host = email.rpartition("@") if "@" in email else (email, "", "missing")
    return name.replace("@", "").strip(".").lower(), host.strip(".").lower()


def _number_known(values: Sequence[str | None]) -> Floats:
    """A number for each distinct text, nan for none."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.array([np.nan if value is None else numbers[value] for value in values], dtype=np.float64)
