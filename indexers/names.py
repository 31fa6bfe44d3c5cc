"""The names of distances and of precisions, said once; nothing that computes is imported here."""

from typing import Final, Literal, TypeVar, get_args

from pinakes.errors import InputError, show, suggest

Distance = Literal["cosine", "l2", "inner_product"]
Precision = Literal["fp32", "bf16", "fp16"]
PrecisionChoice = Literal["auto", "fp32", "bf16", "fp16"]
"""auto: bf16 where the device multiplies it faster than fp32"""

DISTANCES: Final[tuple[Distance, ...]] = get_args(Distance)
PRECISIONS: Final[tuple[Precision, ...]] = get_args(Precision)
EXACT: Final = "exact"
"""the way to search that looks at every vector"""
PRECISION_CHOICES: Final[tuple[PrecisionChoice, ...]] = get_args(PrecisionChoice)

Name = TypeVar("Name", bound=str)


def require_name(what: str, given: str, known: tuple[Name, ...]) -> Name:
    """The name that was given, if it is a known one.

    >>> require_name("distance", "l2", DISTANCES)
    'l2'

    Raises:
        InputError: it is none of them; the message lists these.
    """
    for name in known:
        if name == given:
            return name
    expected = f"expected one of {', '.join(known)}.{suggest(given, known)}"
    raise InputError(f"unknown {what} {show(given)}; {expected}")
