"""Sentence encoders whose papers score by optimal transport: ASPIRE's multiple matches, for any encoder.

`transport:minilm` compares the same sentences as `sentences:minilm`, by the same vectors: whichever of the
two is indexed, both can rank.
"""

from typing import Final

from pinakes.errors import InputError
from pinakes.indexers.transport.plans import COSTS, TransportSettings
from pinakes.systems.base import SystemOptions, take_options
from pinakes.systems.matching import Transport
from pinakes.systems.sentences import SENTENCE_OPTIONS, SentenceSystem, build_sentence_system
from pinakes.vectors.contextual import ContextualSystem

OPTIONS: Final = {"marginals": "aspire", "temperature": "1", "regularisation": "0"}
"""The exact plan, where ASPIRE computes with epsilon 0.05: it is what the paper defines (an earth mover's
distance), it means the same for vectors of any length, and it needs no rule for when to stop."""


def make_transport(name: str, options: SystemOptions) -> SentenceSystem | ContextualSystem:
    """Optimal transport over an encoder's sentences, by a name such as `transport:minilm`.

    Its options: those of `sentences:SYSTEM`; `marginals`, `aspire` or `uniform`; `temperature`, of the
    softmax in `aspire`; `regularisation`, 0 for the exact plan, else the entropy's epsilon.

    Raises:
        InputError: an option, or the distance, is not one that a transport has.
    """
    given = take_options(name, options, {**SENTENCE_OPTIONS, **OPTIONS})
    matching = Transport(
        TransportSettings(
            given["marginals"], _read_number(given, "temperature"), _read_number(given, "regularisation")
        )
    )
    system = build_sentence_system(name, options, given, matching)
    if system.distance not in COSTS:
        raise InputError(f"the distance of a transport is {system.distance}; expected {' or '.join(COSTS)}.")
    return system


def _read_number(given: dict[str, str], option: str) -> float:
    try:
        return float(given[option])
    except ValueError as error:
        raise InputError(f"{option} is {given[option]!r}; expected a number.") from error
