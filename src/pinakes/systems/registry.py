"""Systems by name: lexical and trained ones, encoders by preset, folder or hub id, and combinations of these.

A named baseline is one of the first two with fixed options. Nothing is imported before it is used.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import cast

from pinakes.errors import InputError, UnknownNameError
from pinakes.extras import find_extra
from pinakes.indexers.encoder.presets import find_preset
from pinakes.indexers.names import DISTANCES, PRECISION_CHOICES, require_name
from pinakes.options import Option, list_options
from pinakes.systems.base import ABILITIES, Ability, System, SystemOptions
from pinakes.systems.names import (
    COMBINED,
    DENSE,
    NAMED,
    OF_VECTORS,
    SENTENCES,
    SYSTEMS,
    TRANSPORT,
    NamedBaseline,
    list_systems,
    spell_combined,
)


def expand_name(name: str) -> str:
    """What a system is called in its runs: a preset that was published for sentences compares sentences.

    >>> expand_name("simcse_sup"), expand_name("ot_aspire_cs"), expand_name("minilm")
    ('sentences:simcse_sup', 'transport:ot_aspire_cs', 'minilm')
    """
    preset = find_preset(name)
    if preset is None or not preset.sentence_level:
        return name
    return f"{TRANSPORT if preset.transport else SENTENCES}:{name}"


def find_system(name: str, options: SystemOptions) -> System:
    """The system of that name: a lexical one, a baseline, a preset, a folder, a hub id, or a combination.

    A preset that was published for sentences is one that compares sentences, by transport where it says so.

    Raises:
        UnknownNameError: it is none of these; the message lists the known names.
        IndexingError: the folder holds no model that can be used.
        InputError: an option cannot be what it is.
    """
    require_name("precision", options.precision, PRECISION_CHOICES)
    require_name("distance", options.distance or DISTANCES[0], DISTANCES)
    name, target, baseline = _find_kind(name)
    if baseline is not None:
        options = baseline.fix(name, options)
    if options.format is not None and target not in OF_VECTORS:
        raise InputError(f"{name} has no embedding for each format; leave the format out.")
    make = cast(Callable[[str, SystemOptions], System], _import(target))
    return make(name, options)


def require_ability(system: System, ability: Ability, purpose: str = "") -> None:
    """Raise `InputError` unless the system declares the ability, whose `purpose` the message says."""
    require_one(system, [ability], purpose)


def require_one(system: System, abilities: Sequence[Ability], purpose: str = "") -> None:
    """Raise `InputError` unless the system declares one of the abilities; the message says the `purpose`."""
    if system.can.isdisjoint(abilities):
        able = ", ".join(name for name, kind in list_kinds() if not kind.can.isdisjoint(abilities))
        missing = " or ".join(ABILITIES.get(one, one) for one in abilities)
        known = "; ".join(ABILITIES.get(one, one) for one in sorted(system.can, key=_order_abilities))
        raise InputError(
            f"{system.name} cannot {missing}{purpose}: it can {known or 'nothing'}. "
            + (f"Systems that can: {able}." if able else "No system can yet.")
        )


def _order_abilities(ability: Ability) -> tuple[int, str]:
    known = list(ABILITIES)
    return (known.index(ability) if ability in known else len(known)), ability


def list_kinds() -> Iterator[tuple[str, type[System]]]:
    """Each kind of system as it is named in a command, with its class, where what it needs is installed."""
    for name, target in _list_targets():
        try:
            yield name, _import(target)
        except ModuleNotFoundError as error:
            if find_extra(error) is None:
                raise


def _list_targets() -> list[tuple[str, str]]:
    combined = ((spell_combined(kind), target) for kind, target in COMBINED.items())
    return [*SYSTEMS.items(), ("an encoder", DENSE), *combined]


def describe_systems() -> list[dict[str, str]]:
    """One row a kind of system: its name, what it can do, and its own options."""
    installed = dict(list_kinds())
    return [_describe_kind(name, installed.get(name)) for name, _ in _list_targets()]


def _describe_kind(name: str, kind: type[System] | None) -> dict[str, str]:
    if kind is None:
        return {"system": name, "can": "(not installed)", "options": ""}
    return {
        "system": name,
        "can": ", ".join(one for one in ABILITIES if one in kind.can),
        "options": ", ".join(one.name for one in list_options(kind.own_options)),
    }


def list_system_options(name: str) -> tuple[Option, ...]:
    """The options that a user can set of a system, by any name that `find_system` knows.

    >>> [one.name for one in list_system_options("fabs_bm25")]
    ['trained_on']
    """
    _, target, baseline = _find_kind(name)
    fixed = baseline.options if baseline is not None else {}
    return tuple(one for one in list_options(_import(target).own_options) if one.name not in fixed)


def _find_kind(name: str) -> tuple[str, str, NamedBaseline | None]:
    """The name in runs, where the class is, and the baseline that fixes options, if any."""
    expanded, baseline = expand_name(name), NAMED.get(name)
    kind, colon, _ = expanded.partition(":")
    if baseline is not None:
        kind = baseline.system
    target = (COMBINED if colon else SYSTEMS).get(kind, DENSE)
    if target == DENSE and find_preset(name) is None and "/" not in expanded:
        raise UnknownNameError("system", name, list_systems(), "Or give a model's folder, or a hub id.")
    return expanded, target, baseline


def _import(target: str) -> type[System]:
    module, member = target.split(":")
    return getattr(import_module(module), member)  # type: ignore[no-any-return]
