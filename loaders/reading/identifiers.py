"""Identifiers and titles in one spelling, so that the same work has the same key whoever cites it."""

import re
import string
from collections.abc import Iterable
from typing import Final

_PREFIXES: Final = {
    "doi": re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE),
    "arxiv": re.compile(r"^(?:https?://arxiv\.org/(?:abs|pdf)/|arxiv:\s*)", re.IGNORECASE),
    "pmc": re.compile(r"^PMC", re.IGNORECASE),
    "openalex": re.compile(r"^https?://openalex\.org/", re.IGNORECASE),
    "pubmed": re.compile(r"^(?:https?://(?:www\.)?pubmed\.ncbi\.nlm\.nih\.gov/|pmid:\s*)", re.IGNORECASE),
    "mag": re.compile(r"^mag:\s*", re.IGNORECASE),
    "acl": re.compile(r"^https?://(?:www\.)?aclanthology\.org/", re.IGNORECASE),
}
_LOWERED: Final = frozenset({"doi", "arxiv"})
_ARXIV_VERSION: Final = re.compile(r"v\d+$")
_NOT_IN_TITLE_KEY: Final = str.maketrans(
    string.ascii_uppercase,
    string.ascii_lowercase,
    string.punctuation + "".join(map(chr, range(33))) + "\x7f",
)


def normalise_identifier(scheme: str, identifier: object) -> str | None:
    """An id without prefix, resolver address and version, in lower case where case means nothing.

    None where nothing is left.

    >>> normalise_identifier("doi", "https://doi.org/10.18653/V1/N18-3011")
    '10.18653/v1/n18-3011'
    >>> normalise_identifier("arxiv", "arXiv:2004.07180v3"), normalise_identifier("pmc", "PMC5828200")
    ('2004.07180', '5828200')
    """
    if isinstance(identifier, bool) or not isinstance(identifier, str | int):
        return None
    text = str(identifier).strip()
    prefix = _PREFIXES.get(scheme)
    if prefix is not None:
        text = prefix.sub("", text)
    if scheme in _LOWERED:
        text = text.lower()
    if scheme == "arxiv":
        text = _ARXIV_VERSION.sub("", text.removesuffix(".pdf"))
    if scheme in ("openalex", "acl"):
        text = text.rstrip("/")
    return text.strip() or None


def normalise_title(title: str) -> str:
    """A title as spellings of it are compared: ASCII letters lowered, ASCII punctuation and space dropped.

    Letters beyond ASCII stay as they are, so that Python, DuckDB and Postgres agree on every title
    (the views `paper_title_keys` and `reference_title_keys` say the same in SQL).

    >>> normalise_title("BERT: Pre-training of Deep\\nTransformers")
    'bertpretrainingofdeeptransformers'
    """
    return title.translate(_NOT_IN_TITLE_KEY)


def make_reference_key(
    *,
    source_id: str | None = None,
    identifiers: Iterable[tuple[str, str]] = (),
    title: str | None = None,
    mention: tuple[str, str] = ("", ""),
) -> str:
    """What a cited work is de-duplicated by: the first that is known of the arguments, in their order.

    Args:
        source_id: the id that the corpus itself would give the work; it resolves at once.
        identifiers: (scheme, normalised id) pairs, the best scheme first.
        title: as cited.
        mention: citing paper and its own id of the reference, for a work of which nothing is known.

    >>> make_reference_key(identifiers=[("doi", "10.1/a")], title="A title")
    'doi:10.1/a'
    >>> make_reference_key(title="A Title!"), make_reference_key(mention=("P1", "b3"))
    ('title:atitle', 'mention:P1#b3')
    """
    if source_id:
        return source_id
    for scheme, identifier in identifiers:
        return f"{scheme}:{identifier}"
    key = normalise_title(title or "")
    return f"title:{key}" if key else f"mention:{mention[0]}#{mention[1]}"
