"""What of a merge asks no database, done where a chunk is read."""

from dataclasses import replace

from pinakes.loaders.base import ASSESSMENTS, Loader
from pinakes.loaders.merge.citations import CITATION_KEYS
from pinakes.loaders.merge.context import encode_keys, encode_owners
from pinakes.loaders.merge.refusals import find_textless
from pinakes.loaders.staging import Chunk, Origin, show_raw

_REFUSABLE = frozenset({*ASSESSMENTS, "sentence_selections"})
"""staged tables whose records the database may refuse, and which are then shown as they stood"""
_CHILDREN = frozenset({"authorships", "identifiers", "fields"})
"""staged child rows that most releases have of every paper"""
_KEYS = {"authorships": ("author_source_id",), "citations": CITATION_KEYS}
"""staged table -> its columns of keys that often come again"""


def encode_chunk(chunk: Chunk) -> Chunk:
    """The chunk with the keys of its mentions and authors encoded, and its child rows' papers."""
    tables = dict(chunk.tables)
    if "papers" in tables:
        for name in tables.keys() & _CHILDREN:
            tables[name] = encode_owners(tables[name], tables["papers"])
    for name in tables.keys() & _KEYS.keys():
        if tables[name].num_rows:
            tables[name] = encode_keys(tables[name], _KEYS[name])
    return replace(chunk, tables=tables)


def prepare_chunk(chunk: Chunk, loader: Loader, role: str) -> Chunk:
    """The chunk for another process: encoded, with those records as they stood that may yet be refused."""
    return replace(encode_chunk(chunk), origins=_show_refusable(chunk, loader, role))


def _show_refusable(chunk: Chunk, loader: Loader, role: str) -> dict[int, Origin]:
    origins = chunk.origins
    if chunk.tables.keys() & _REFUSABLE:
        numbers = list(origins)
    else:
        textless = {} if loader.may_lack_text else find_textless(chunk.tables, loader.describes(role))
        numbers = [number for number in textless if number in origins]
    return {number: Origin(origins[number].location, show_raw(origins[number].raw)) for number in numbers}
