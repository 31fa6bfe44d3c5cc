"""Systems by name: lexical and trained ones, encoders by preset, folder or hub id, and combinations of these.

A named baseline is one of the first two with fixed options. Nothing is imported before it is used.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Final, cast

from pinakes.errors import InputError, UnknownNameError
from pinakes.extras import find_extra
from pinakes.indexers.encoder.presets import find_preset, list_presets
from pinakes.indexers.names import DISTANCES, PRECISION_CHOICES, require_name
from pinakes.options import Option, list_options
from pinakes.systems.base import ABILITIES, Ability, System, SystemOptions

SYSTEMS: Final = {
    "bm25": "pinakes.systems.bm25:Bm25System",
    "lsa": "pinakes.systems.lsa:LsaSystem",
    "sentence_bm25": "pinakes.systems.extractors.lexical:SentenceBm25",
    "sentence_logistic": "pinakes.systems.extractors.logistic:SentenceLogistic",
    "sentence_tfidf": "pinakes.systems.extractors.lexical:SentenceTfidf",
    "sparse_bm25": "pinakes.systems.sparse:SparseBm25System",
    "tfidf": "pinakes.systems.tfidf:TfidfSystem",
    "word2vec": "pinakes.systems.word2vec:Word2VecSystem",
}
COMBINED: Final = {
    "formats": "pinakes.systems.dense:FormatSystem",
    "mean": "pinakes.systems.dense:EnsembleSystem",
    "rrf": "pinakes.systems.fusion:RankFusion",
    "sentence_lstm": "pinakes.systems.trained_sentences.system:SentenceLstm",
    "sentence_mlp": "pinakes.systems.trained_sentences.system:SentenceMlp",
    "sentence_similarity": "pinakes.systems.extractors.similarity:SentenceSimilarity",
    "sentence_transformer": "pinakes.systems.trained_sentences.system:SentenceTransformer",
    "sentences": "pinakes.systems.sentences.system:SentenceSystem",
    "sum": "pinakes.systems.fusion:SumFusion",
    "transport": "pinakes.systems.sentences.system:TransportSystem",
}
"""what stands before the colon of a name such as rrf:bm25,minilm"""
DENSE: Final = "pinakes.systems.dense:DenseSystem"
OF_VECTORS: Final = (DENSE, COMBINED["mean"], COMBINED["formats"])
"""what has an embedding of a text, and may have one for each format"""
SENTENCES: Final = "sentences"
TRANSPORT: Final = "transport"
OF_ONE: Final = (
    SENTENCES,
    TRANSPORT,
    "sentence_lstm",
    "sentence_mlp",
    "sentence_similarity",
    "sentence_transformer",
)
"""kinds that are of one encoder"""


@dataclass(frozen=True, slots=True)
class NamedBaseline:
    """A baseline by the name that its paper gives it: one of our systems with some options fixed.

    Attributes:
        system: its name in the registry.
        options: those that are fixed.
        distance: how it compares vectors, fixed; None where it has none, or leaves it to the user.
    """

    system: str
    options: Mapping[str, str] = field(default_factory=dict)
    distance: str | None = None

    def fix(self, name: str, options: SystemOptions) -> SystemOptions:
        """The options of a run of the baseline `name`: the user's and its own.

        Raises:
            InputError: the user asks for another distance than that of the baseline.
        """
        if self.distance and options.distance not in (None, self.distance):
            raise InputError(
                f"{name} compares by {self.distance}, as published; for {options.distance} use {self.system}."
            )
        return replace(options, fixed=self.options, distance=self.distance or options.distance)


# CSFCube (section 5, appendix C): a query is the sentences of its facet, a candidate its whole abstract.
# fabs_tfidf: raw counts and smooth idf, scikit-learn's defaults; vectors have length 1, so that the paper's
# L2 distance and the cosine rank alike. fabs_bm25: Okapi as rank_bm25 has it, with that library's defaults.
# fabs_cbow200, fabs_tfidfcbow200: CBOW vectors of 200 dimensions, averaged and compared by L2. How texts
# become words is not said: `words`, without stop words and stemming. Counts and vectors are of 800,000
# abstracts there, and here of the benchmark's own corpus unless the option `trained_on` names a larger one.
NAMED: Final[Mapping[str, NamedBaseline]] = {
    "fabs_bm25": NamedBaseline(
        "sparse_bm25", {"formula": "okapi", "k1": "1.5", "b": "0.75", "analysis": "words"}
    ),
    "fabs_cbow200": NamedBaseline("word2vec", {"dimensions": "200", "weights": "none"}, "l2"),
    "fabs_tfidf": NamedBaseline("tfidf", {"analysis": "words", "sublinear_tf": "no"}),
    "fabs_tfidfcbow200": NamedBaseline("word2vec", {"dimensions": "200", "weights": "tfidf"}, "l2"),
    "word2vec_tfidf": NamedBaseline("word2vec", {"weights": "tfidf"}),
}


def list_systems() -> list[str]:
    """The names that `find_system` knows, besides folders and hub ids."""
    return sorted([*SYSTEMS, *NAMED, *list_presets(), *map(_spell_combined, COMBINED)])


def _spell_combined(kind: str) -> str:
    if kind == "formats":
        return "formats:CODE=SYSTEM,CODE=SYSTEM"
    return f"{kind}:SYSTEM" if kind in OF_ONE else f"{kind}:SYSTEM,SYSTEM"


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
    combined = ((_spell_combined(kind), target) for kind, target in COMBINED.items())
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
