"""The names of systems: lexical and trained ones, combinations, named baselines, presets of encoders.

Light to import: a shell completes names from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pinakes.errors import InputError
from pinakes.indexers.encoder.presets import list_presets

if TYPE_CHECKING:  # what completes a name does not wait for it
    from pinakes.systems.base import SystemOptions

SYSTEMS: Final = {
    "bm25": "pinakes.systems.bm25:Bm25System",
    "lsa": "pinakes.systems.lsa:LsaSystem",
    "sentence_bm25": "pinakes.systems.extractors.lexical:SentenceBm25",
    "sentence_logistic": "pinakes.systems.extractors.logistic:SentenceLogistic",
    "sentence_tfidf": "pinakes.systems.extractors.lexical:SentenceTfidf",
    "sparse_bm25": "pinakes.systems.sparse:SparseBm25System",
    "term_vectors": "pinakes.systems.term_vectors:TermVectorSystem",
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

    def fix(self, name: str, options: "SystemOptions") -> "SystemOptions":
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
    """The names that `registry.find_system` knows, besides folders and hub ids."""
    return sorted([*SYSTEMS, *NAMED, *list_presets(), *map(spell_combined, COMBINED)])


def spell_combined(kind: str) -> str:
    """How a combination of that kind is named.

    >>> spell_combined("rrf"), spell_combined("sentences")
    ('rrf:SYSTEM,SYSTEM', 'sentences:SYSTEM')
    """
    if kind == "formats":
        return "formats:CODE=SYSTEM,CODE=SYSTEM"
    return f"{kind}:SYSTEM" if kind in OF_ONE else f"{kind}:SYSTEM,SYSTEM"
