"""Which precision `auto` means of an encoder: that of the vectors which a database has of it."""

from collections.abc import Callable, Collection

import sqlalchemy as sa

from pinakes.database import Session
from pinakes.indexers.names import PRECISIONS, Precision
from pinakes.schema import encoders


def list_encoders(session: Session) -> frozenset[str]:
    """The names of all encoders that the database has vectors of."""
    return frozenset(session.fetch_arrow(sa.select(encoders.c.name))["name"].to_pylist())


def list_precisions(name: str, stored: Collection[str]) -> list[Precision]:
    """The precisions at which an encoder is among the names of a database's encoders.

    >>> list_precisions("minilm", {"minilm_fp32", "minilm_bf16_sentences", "other_fp16"})
    ['fp32', 'bf16']
    """
    return [
        one
        for one in PRECISIONS
        if any(
            table == f"{name}_{one}" or table.startswith(f"{name}_{one}_sentences")  # these are in context
            for table in stored
        )
    ]


def choose_stored(
    name: str, fastest: Precision, stored: Collection[str], tell: Callable[[str], None]
) -> Precision:
    """The precision that the encoder is stored at; of several the fastest one, if that is one of them.

    The fastest too where none is stored. `tell` takes a line where what is chosen is not the fastest, or
    not the only one.

    >>> choose_stored("minilm", "bf16", {"minilm_fp32"}, print)
    minilm is stored at fp32, and auto takes that; bf16 is faster on this device (--precision bf16).
    'fp32'
    """
    found = list_precisions(name, stored)
    chosen = fastest if fastest in found or not found else found[0]
    others = [one for one in found if one != chosen]
    if others:
        tell(f"{name} is stored at {' and '.join(found)}; auto takes {chosen}. --precision names another.")
    elif chosen != fastest:
        tell(
            f"{name} is stored at {chosen}, and auto takes that; {fastest} is faster on this device "
            f"(--precision {fastest})."
        )
    return chosen
