"""Staged rows that many formats make alike: papers, authors, identifiers, fields, sections, labels.

Identifiers and titles are brought into one spelling, so that the same work has the same key whoever cites it.
"""

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pinakes.loaders.left_out import keep_distinct, keep_filled, leave_out
from pinakes.loaders.reading.values import take_objects, take_text, take_texts, take_year

Row = dict[str, Any]

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
_BEST_SCHEMES: Final = ("doi", "pubmed", "pmc", "arxiv", "acl")


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


def normalise_identifiers(
    pairs: Iterable[tuple[str, object]], kind: str = "reference_identifiers"
) -> list[tuple[str, str]]:
    """The (scheme, identifier) pairs in one spelling, each once, the best schemes first.

    Those that are nothing (`doi:`) or come again are noted as left out of `kind`; null and "" are none.

    >>> normalise_identifiers([("pubmed", "12"), ("doi", "doi:10.1/A"), ("doi", "10.1/a"), ("pmc", "")])
    [('doi', '10.1/a'), ('pubmed', '12')]
    """
    found = list_normal(pairs, kind)
    return sorted(found, key=lambda pair: (*_BEST_SCHEMES, pair[0]).index(pair[0]))


def list_normal(pairs: Iterable[tuple[str, object]], kind: str) -> list[tuple[str, str]]:
    """The pairs in one spelling, each once, in their order; others are noted as left out of `kind`."""
    found: dict[tuple[str, str], None] = {}
    for scheme, given in pairs:
        value = normalise_identifier(scheme, given)
        if value is None:
            is_nothing = given is None or (isinstance(given, str) and not given.strip())
            leave_out(kind, "invalid", not is_nothing)
        elif (scheme, value) in found:
            leave_out(kind, "repeated")
        else:
            found[scheme, value] = None
    return list(found)


def list_identifiers(source_id: str, pairs: Iterable[tuple[str, object]]) -> list[Row]:
    """The rows of a paper's own (scheme, identifier) pairs in one spelling, each once.

    What is left out is noted as `normalise_identifiers` does.

    >>> list_identifiers("7", [("doi", "doi:10.1/A"), ("acl", None)])
    [{'source_id': '7', 'scheme': 'doi', 'identifier': '10.1/a'}]
    """
    return [
        {"source_id": source_id, "scheme": scheme, "identifier": identifier}
        for scheme, identifier in list_normal(pairs, "identifiers")
    ]


def list_authorships(source_id: str, authors: Iterable[tuple[str | None, str | None]]) -> list[Row]:
    """The authorships of (the source's id or None, name) pairs, from position 1 on.

    An author without a name is noted as left out, and keeps a position (`keep_named` takes it away).

    >>> [row["author_source_id"] for row in list_authorships("P1", [(None, "Ada B"), ("a7", "C")])]
    ['name:Ada B', 'a7']
    """
    given = list(authors)
    rows = [
        {
            "source_id": source_id,
            "position": position,
            "author_source_id": author_id or f"name:{name}",
            "author_name": name,
        }
        for position, (author_id, name) in enumerate(given, start=1)
        if name
    ]
    leave_out("authorships", "no_value", len(given) - len(rows))
    return rows


def keep_named(authors: Iterable[tuple[str | None, str | None]]) -> list[tuple[str | None, str]]:
    """The (id, name) pairs that have a name; the others are noted as left out.

    >>> keep_named([(None, "Ada B"), ("a7", "")])
    [(None, 'Ada B')]
    """
    given = list(authors)
    named = [(author_id, name) for author_id, name in given if name]
    leave_out("authorships", "no_value", len(given) - len(named))
    return named


def list_names(record: Mapping[str, Any]) -> Iterator[tuple[None, str]]:
    """The authors whose names are given in parts (first, middle, last, suffix); a name may be empty."""
    for author in take_objects(record, "authors"):
        first, last, suffix = (take_text(author, part) for part in ("first", "last", "suffix"))
        yield None, " ".join(filter(None, (first, *take_texts(author, "middle"), last, suffix)))


def list_fields(source_id: str, fields: Iterable[str | None], assigned_by: str) -> list[Row]:
    """The rows of a paper's fields, each once; others, and empty ones, are noted as left out."""
    named = keep_distinct("fields", keep_filled("fields", fields))
    return [{"source_id": source_id, "field": name, "assigned_by": assigned_by} for name in named]


def list_sections(source_id: str, sections: Iterable[tuple[str | None, str]]) -> list[Row]:
    """The rows of (title, text) pairs, numbered from 1; those without a text are noted as left out."""
    given = list(sections)
    filled = [(title, text) for title, text in given if text]
    leave_out("sections", "no_value", len(given) - len(filled))
    return [
        {"source_id": source_id, "section_number": number, "title": title, "text": text}
        for number, (title, text) in enumerate(filled, start=1)
    ]


def describe_paper(source_id: str, record: Mapping[str, Any], *other_venues: str) -> Row:
    """A paper's row from the fields title, abstract, year and venue, or another for it, of a record."""
    return {
        "source_id": source_id,
        "title": take_text(record, "title"),
        "abstract": take_text(record, "abstract"),
        "year": take_year(record.get("year")),
        "venue": next(filter(None, (take_text(record, name) for name in ("venue", *other_venues))), None),
    }


def leave_other_venues(record: Mapping[str, Any], *names: str) -> None:
    """Note the fields of these names that hold something, where `describe_paper` takes another for the venue.

    >>> leave_other_venues({"venue": "ACL", "journal": "CL"}, "journal")
    """
    given = {name: str(record.get(name) or "").strip() for name in ("venue", *names)}
    taken, *others = [(name, text) for name, text in given.items() if text] or [("", "")]
    for name, text in others:
        leave_out(f"field {name}", "repeated" if text == taken[1] else "no_column")


def make_judgment(
    query_id: str, source_id: str, grade: int, split: str, *, assessor: str = "published"
) -> Row:
    """A row of judgments."""
    return {
        "query_id": query_id,
        "source_id": source_id,
        "assessor": assessor,
        "split": split,
        "grade": grade,
    }


def make_label(
    task: str,
    source_id: str,
    split: str,
    label: str,
    *,
    value: float | None = None,
    quality: str = "gold",
) -> Row:
    """A row of labels; a number's label is `value`."""
    return {
        "task": task,
        "source_id": source_id,
        "split": split,
        "label": label,
        "value": value,
        "quality": quality,
    }


def list_labels(source_id: str, labels: Mapping[str, str | None]) -> list[Row]:
    """The rows of a paper's gold labels, task -> label, of which no split is published."""
    return [make_label(task, source_id, "all", label) for task, label in labels.items() if label]


def list_scores(source_id: str, scores: Iterable[tuple[str, str, float]]) -> list[Row]:
    """The rows of a paper's (review, aspect, score) triples."""
    return [
        {"source_id": source_id, "review_id": review_id, "aspect": aspect, "score": score}
        for review_id, aspect, score in scores
    ]


def list_pool_sources(query_id: str, sources: Iterable[tuple[str, str]]) -> list[Row]:
    """The rows of (paper, what put it into the query's pool) pairs."""
    return [{"query_id": query_id, "source_id": paper, "source": source} for paper, source in sources]


def list_links(source_id: str, cited: Iterable[str]) -> list[Row]:
    """The citations of works that are known by their ids alone."""
    return [{"citing_source_id": source_id, "reference_key": key} for key in cited]
