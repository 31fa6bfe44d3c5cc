"""The encoders that a system compares vectors by: their texts, each behind its prefix, and their tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from pinakes.schema import vectors_table
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.stored import PrefixedVectors, StoredEncoder, select_distinct_texts
from pinakes.workload.readers import Reader


@dataclass(frozen=True, slots=True)
class Member:
    """An encoder in use, and what it reads before every text."""

    encoder: EncoderSession
    prefix: str


Texts = dict[Member, sa.Select[Any]]
"""what each encoder has to have a vector of: text_digest and text"""
Stored = Mapping[Member, StoredEncoder]


def join_texts(requested: Iterable[tuple[Member, sa.Select[Any]]]) -> Texts:
    """One select of distinct texts for each member, of the selects with a column `text` that are its."""
    selects: dict[Member, list[sa.Select[Any]]] = {}
    for member, texts in requested:
        selects.setdefault(member, []).append(texts)
    return {
        member: select_distinct_texts(*of_member, prefix=member.prefix)
        for member, of_member in selects.items()
    }


def list_tables(stored: Stored, members: Sequence[Member]) -> list[PrefixedVectors]:
    """Each member's table, with its prefix."""
    return [
        PrefixedVectors(vectors_table(stored[member].name, stored[member].dimensions), member.prefix)
        for member in members
    ]


def start_members(encoders: Mapping[str, EncoderSession], readers: Iterable[Reader]) -> list[Member]:
    """The readers with their encoders, which are known by the names that readers have for them."""
    return [Member(encoders[reader.encoder], reader.prefix) for reader in readers]


def describe_members(side: str, stored: Stored, members: Sequence[Member]) -> dict[str, Any]:
    """Who reads, and behind which prefix where there is one; `side` begins the names."""
    names = [stored[member].name for member in members]
    which = {f"{side}encoder": names[0]} if len(names) == 1 else {f"{side}mean_of": names}
    prefixes = [member.prefix for member in members]
    return {**which, f"{side}prefixes": prefixes} if any(prefixes) else which
