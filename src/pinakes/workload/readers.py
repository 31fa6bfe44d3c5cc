"""Which encoder reads a system's queries and which its papers, each behind which prefix, by task format.

A paper has up to four embeddings, one for each of SciRepEval's codes. A code is met by a prefix (`[CLF] `),
by an encoder of its own, or by nothing: most encoders have one embedding for everything.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.encoder.presets import Preset, Prompts, find_base, find_prompts

CODES: Final = ("CLF", "RGN", "PRX", "QRY")
"""classification, regression, a paper compared with others, a query in words (SciRepEval, table 6)"""
SEARCH: Final = "SRCH"
"""the format whose queries are read as QRY and whose candidates as PRX"""
ENSEMBLE: Final = "mean:"
BY_FORMAT: Final = "formats:"

_MEMBER: Final = re.compile(rf"(?:^|,)({'|'.join((*CODES, SEARCH))})=")
_PREFIXED: Final = re.compile(r"^(?P<prefix>[^{}]+)\{(?P<encoder>[^{}]+)\}$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reader:
    """An encoder, as a command names it, and what it reads before every text."""

    encoder: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """One part of a system's name: an encoder, or a preset that is one encoder for each format.

    Attributes:
        queries, papers: who reads queries and who reads papers; one each.
        label: what it is called in a run; None: as its encoder is.
        suffix: what follows, where a code was forced.
        has_formats: whether its embedding depends on the format.
    """

    queries: Reader
    papers: Reader
    label: str | None = None
    suffix: str = ""
    has_formats: bool = False

    def spell(self, names: Mapping[str, str]) -> str:
        """What it is called in a run, from what its encoders are called."""
        return (self.label or names[self.queries.encoder]) + self.suffix


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads queries and who reads papers; of several members a text's vector is the mean."""

    of_queries: tuple[Member, ...]
    of_papers: tuple[Member, ...]

    @property
    def queries(self) -> list[Reader]:
        """Who reads queries."""
        return [member.queries for member in self.of_queries]

    @property
    def papers(self) -> list[Reader]:
        """Who reads papers."""
        return [member.papers for member in self.of_papers]

    def spell(self, names: Mapping[str, str]) -> str:
        """The system's name in a run, from what its encoders are called: what decides its answers, alone."""
        queries, papers = (
            spell([member.spell(names) for member in side]) for side in (self.of_queries, self.of_papers)
        )
        return papers if queries == papers else f"{BY_FORMAT}PRX={papers},QRY={queries}"


@dataclass(frozen=True, slots=True)
class FormatChoice:
    """Which embedding is asked for.

    Attributes:
        own: the format of what asks; None: it has none.
        forced: the code, or SRCH, that a user asks for instead.
        prompts: the name of published prompts that every encoder reads; None: none.
    """

    own: str | None = None
    forced: str | None = None
    prompts: str | None = None

    @property
    def used(self) -> str | None:
        """The format or the code that decides."""
        return self.forced or self.own

    @property
    def suffix(self) -> str:
        """What tells the runs of a forced code apart: `[RGN]`; empty where it is the format's own."""
        return f"[{self.forced}]" if self.forced not in (None, self.own) else ""


def list_codes(used: str) -> tuple[str, str]:
    """The codes of queries and of papers.

    >>> list_codes("SRCH"), list_codes("QRY")
    (('QRY', 'PRX'), ('QRY', 'QRY'))
    """
    return ("QRY", "PRX") if used == SEARCH else (used, used)


def parse_members(name: str) -> dict[str, str]:
    """The members of a name such as `formats:CLF=minilm,PRX=mean:specter,scincl`, by code.

    A comma ends a member only where a code and `=` follow, so that a member may have commas of its own.

    Raises:
        InputError: there is no member, one has no encoder, or a code stands twice.

    >>> parse_members("formats:CLF=minilm,PRX=mean:specter,scincl")
    {'CLF': 'minilm', 'PRX': 'mean:specter,scincl'}
    """
    listed = name.removeprefix(BY_FORMAT)
    first, *parts = _MEMBER.split(listed)
    codes, members = parts[0::2], [member.strip() for member in parts[1::2]]
    nested = any(member.startswith(BY_FORMAT) for member in members)
    if first or not codes or len(set(codes)) < len(codes) or not all(members) or nested:
        raise InputError(
            f"{name!r}: expected an encoder, or mean:ENCODER,ENCODER, for some of "
            f"{', '.join((*CODES, SEARCH))}, each once, as in formats:CLF=minilm,PRX=mean:specter,scincl."
        )
    return dict(zip(codes, members, strict=True))


def find_readers(system: str, choice: FormatChoice) -> Readers:
    """Who reads for an encoder, an ensemble or a system of formats, where a format or a code is asked for.

    Raises:
        InputError: the format decides and none is known, the system has no embedding for it, or a code is
            forced on a system that has one embedding for every format.
        UnknownNameError: there is no such code, or there are no such prompts.
    """
    if choice.used is not None and choice.used not in (*CODES, SEARCH):
        raise UnknownNameError("format", choice.used, [*CODES, SEARCH])
    by_format = system.startswith(BY_FORMAT)
    names = _choose_members(system, choice) if by_format else (system, system)
    sides = [tuple(_find(part, choice) for part in list_parts(name)) for name in names]
    if choice.forced is not None and not by_format and not any(one.has_formats for one in sides[0]):
        raise InputError(
            f"{system} has one embedding for every format; expected a system that has several where a format "
            "is asked for. Leave the format out"
        )
    return Readers(*sides)


def list_parts(name: str) -> list[str]:
    """The encoders of an ensemble's name, or the one that a name is.

    Raises:
        InputError: an ensemble of fewer than two, of one twice, or of a system of formats.
    """
    if not name.startswith(ENSEMBLE):
        return [name]
    listed = [part.strip() for part in name.removeprefix(ENSEMBLE).split(",")]
    if any(part.startswith(BY_FORMAT) for part in listed):
        raise InputError(f"{name!r}: write the mean within the formats, as in formats:CLF=mean:a,b,PRX=c.")
    if len(listed) < 2 or len(set(listed)) < len(listed) or not all(listed):
        raise InputError(f"{name!r}: expected at least two encoders, each once, as in mean:specter,scincl.")
    return listed


def spell(names: Sequence[str]) -> str:
    """The name of one encoder, or of the ensemble of several.

    >>> spell(["a"]), spell(["a", "b"])
    ('a', 'mean:a,b')
    """
    return names[0] if len(names) == 1 else ENSEMBLE + ",".join(names)


@dataclass(frozen=True, slots=True)
class _Prefixes:
    query: str = ""
    paper: str = ""
    by_code: Mapping[str, str] = field(default_factory=dict)


def _choose_members(system: str, choice: FormatChoice) -> tuple[str, str]:
    """The members that read queries and papers."""
    members = parse_members(system)
    if choice.used is None:
        raise _no_format(system)
    if choice.used in members:
        return members[choice.used], members[choice.used]
    query, paper = list_codes(choice.used)
    for code in (query, paper):
        if code not in members:
            raise InputError(
                f"{system} has no encoder for {code}; it has {', '.join(members)}. Add {code}=ENCODER."
            )
    return members[query], members[paper]


def _no_format(system: str) -> InputError:
    return InputError(
        f"{system} has an embedding for each format, and what asks has none; expected one of "
        f"{', '.join((*CODES, SEARCH))}. Give it with --format, or as `format` in benchmark.toml"
    )


def _find(name: str, choice: FormatChoice) -> Member:
    written = _PREFIXED.match(name)
    if written:
        reader = Reader(written["encoder"], written["prefix"])
        return Member(reader, reader, label=name)
    preset = find_base(name)
    if preset is not None and preset.members:
        return _find_members(preset, choice)
    prefixes = _list_prefixes(name, preset, choice.prompts)
    query, paper = _choose_prefixes(name, prefixes, choice.used)
    has_formats = bool(prefixes.by_code)
    suffix = choice.suffix if has_formats else ""
    return Member(Reader(name, query), Reader(name, paper), None, suffix, has_formats)


def _find_members(preset: Preset, choice: FormatChoice) -> Member:
    """The readers of a preset that is one encoder for each format."""
    if choice.used is None:
        raise _no_format(preset.name)
    query, paper = (_take(preset.name, preset.members, code) for code in list_codes(choice.used))
    inner = FormatChoice(choice.used, None, choice.prompts)
    return Member(
        _find(query, inner).queries, _find(paper, inner).papers, preset.name, choice.suffix, has_formats=True
    )


def _list_prefixes(name: str, preset: Preset | None, prompts: str | None) -> _Prefixes:
    own = _Prefixes() if preset is None else _read_prefixes(preset)
    if prompts is None:
        return own
    if own != _Prefixes():
        raise InputError(f"{name} has prefixes of its own; leave the option prompts out.")
    return _read_prefixes(find_prompts(prompts))


def _read_prefixes(of: Preset | Prompts) -> _Prefixes:
    return _Prefixes(of.query_prefix, of.paper_prefix, of.prefixes)


def _choose_prefixes(name: str, prefixes: _Prefixes, used: str | None) -> tuple[str, str]:
    """What goes before queries and before papers."""
    by_code = prefixes.by_code
    if used is None and by_code and not (prefixes.query or prefixes.paper):
        raise _no_format(name)
    if not by_code or (used in (None, SEARCH) and (prefixes.query or prefixes.paper)):
        return prefixes.query, prefixes.paper
    query, paper = (_take(name, by_code, code) for code in list_codes(used or SEARCH))
    return query, paper


def _take(name: str, by_code: Mapping[str, str], code: str) -> str:
    """What a code is read with; one that was trained here has the formats that it was trained on alone."""
    if code not in by_code:
        raise InputError(
            f"{name} has no embedding for {code}; it has {', '.join(by_code)}. Give one of these as --format."
        )
    return by_code[code]
