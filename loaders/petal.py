"""PeTaL's golden.json: papers labelled with the functions of living things that they describe (biomimicry).

One JSON array. A paper is called by its `petalID`; its MAG id (`paper`) and DOI are identifiers. Titles and
abstracts are published as words without stop words and endings of sentences: they are those words, joined
by spaces, and read as no sentence does. The labels' tasks are `petal_level1`, `petal_level2` and
`petal_level3`. References are MAG ids, authors too: the id is the author's name. The venue is MAG's, or else
the first that the record lists. Leaves out, and counts: other venues, addresses, open access.
"""

from functools import partial
from typing import Any, Final

from pinakes.loaders.base import Loader, describe_as
from pinakes.loaders.left_out import keep_distinct, keep_filled, leave_fields, leave_out
from pinakes.loaders.reading.finding import find_by_name
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import read_json_array
from pinakes.loaders.reading.rows import (
    Row,
    list_authorships,
    list_fields,
    list_identifiers,
    list_links,
    make_label,
    make_reference_key,
)
from pinakes.loaders.reading.values import take_id, take_list, take_text
from pinakes.loaders.staging import Rows

_LEVELS: Final = ("level1", "level2", "level3")
_READ: Final = frozenset({
    "petalID", "venue_mag", "venue", "title", "abstract", "paper", "doi", "mag", "author", "reference",
    *_LEVELS,
})  # fmt: skip
"""What is read of a paper; the rest is left out."""


def _parse_paper(record: dict[str, Any]) -> Rows:
    source_id = take_id(record, "petalID")
    leave_fields(record, _READ)
    venues = [*_take_texts(record, "venue_mag"), *_take_texts(record, "venue")]
    paper = {
        "source_id": source_id,
        "title": " ".join(_take_texts(record, "title")) or None,
        "abstract": " ".join(_take_texts(record, "abstract")) or None,
        "venue": venues[0] if venues else None,
    }
    leave_out("field venue", "no_column", len(dict.fromkeys(venues)) - bool(venues))
    names = [("mag", take_text(record, "paper")), ("doi", take_text(record, "doi"))]
    return {
        "papers": [paper],
        "identifiers": list_identifiers(source_id, names),
        "fields": list_fields(source_id, _take_texts(record, "mag", "fields"), "mag"),
        "authorships": list_authorships(
            source_id, ((name, name) for name in _take_texts(record, "author", "authorships"))
        ),
        "labels": [
            make_label(f"petal_{level}", source_id, "all", label)
            for level in _LEVELS
            for label in keep_distinct("labels", _take_texts(record, level, "labels"))
        ],
    } | _list_references(
        source_id, keep_distinct("references", _take_texts(record, "reference", "references"))
    )


def _take_texts(record: dict[str, Any], name: str, kind: str = "") -> list[str]:
    """The texts of a list; where they are rows of a kind, the empty ones are noted as left out."""
    found = [take_text({name: value}, name) for value in take_list(record, name)]
    return keep_filled(kind, found) if kind else [text for text in found if text is not None]


def _list_references(source_id: str, cited: list[str]) -> dict[str, list[Row]]:
    keys = {make_reference_key(identifiers=[("mag", work)]): work for work in cited}
    return {
        "references": [{"reference_key": key} for key in keys],
        "reference_identifiers": [
            {"reference_key": key, "scheme": "mag", "identifier": work} for key, work in keys.items()
        ],
        "citations": list_links(source_id, keys),
    }


LOADER: Final = Loader(
    name="petal",
    summary="PeTaL: papers with three levels of biomimicry labels (golden.json)",
    describe_corpus=describe_as(
        name="petal",
        title="PeTaL biomimicry labels",
        licence="Unlicense",
        source="https://github.com/nasa-petal/data-collection-and-prep",
    ),
    find_files=find_by_name("golden.json", papers=r"\.json$"),
    read_chunks=gather_by_role(partial(read_json_array, parse=_parse_paper)),
    describes=lambda _role: frozenset(
        {"title", "abstract", "venue", "identifiers", "fields", "authorships", "citations"}
    ),
    may_lack_text=True,
)
