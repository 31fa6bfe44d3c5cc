"""What is what in the tables of ROUGE-SciQFS: classifiers, embeddings, and how values are printed."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import orjson

from pinakes.report.stored_values import Value

PUBLISHED_CORPUS: Final = "SciQFS"
"""what the paper's own corpus is called in subsets of published figures, before a slash"""
CLASSIFIERS: Final = (
    "Cosine Similarity",
    "Euclidean Distance",
    "BM25",
    "Logistic Regression",
    "MLP",
    "LSTM",
    "Transformer",
)
EMBEDDINGS: Final = ("TFIDF-Words", "TFIDF-Chars", "Sentence-BERT", "SPECTER")
NO_EMBEDDING: Final = "no embedding"

_TRAINED: Final = {
    "logistic": "Logistic Regression",
    "mlp": "MLP",
    "lstm": "LSTM",
    "transformer": "Transformer",
}
_ENCODERS: Final = {"minilm": "Sentence-BERT", "sbert": "Sentence-BERT", "specter": "SPECTER"}
_PRECISION: Final = re.compile(r"_(fp32|bf16|fp16)$")
_ANALYSES: Final = {"words": "TFIDF-Words", "chars": "TFIDF-Chars"}


class Variation(NamedTuple):
    """A classifier over embeddings, as Table 2 crosses them."""

    classifier: str
    embeddings: str

    @property
    def published(self) -> str:
        """What the published figures call it."""
        if self.embeddings == NO_EMBEDDING:
            return self.classifier
        return f"{self.classifier}, {self.embeddings}"


def find_variation(system: str, parameters: str) -> Variation | None:
    """What one of our runs is in the paper's terms; None: no way to extract sentences.

    `parameters` is the JSON object of the run. An encoder that the paper lacks keeps its own name.

    >>> find_variation("sentence_tfidf", '{"analysis": "chars"}')
    Variation(classifier='Cosine Similarity', embeddings='TFIDF-Chars')
    >>> find_variation("sentence_similarity:specter", '{"distance": "l2"}').published
    'Euclidean Distance, SPECTER'
    >>> find_variation("sentence_lstm:scincl", "{}").embeddings
    'scincl'
    """
    kind, _, encoder = system.removeprefix("sentence_").partition(":")
    given = orjson.loads(parameters)
    terms = _ANALYSES.get(str(given.get("analysis")), "TFIDF-Words")
    if not system.startswith("sentence_"):
        return None
    if kind == "tfidf":
        return Variation("Cosine Similarity", terms)
    if kind == "bm25":
        return Variation("BM25", NO_EMBEDDING)
    embeddings = terms if encoder == "tfidf" else _name_encoder(encoder)
    if kind == "similarity":
        is_euclidean = given.get("distance") == "l2"
        return Variation("Euclidean Distance" if is_euclidean else "Cosine Similarity", embeddings)
    return Variation(_TRAINED.get(kind, kind), embeddings)


def _name_encoder(encoder: str) -> str:
    return _ENCODERS.get(_PRECISION.sub("", encoder), encoder or NO_EMBEDDING)


def is_as_published(variation: Variation | None, parameters: Mapping[str, object]) -> bool:
    """Whether the settings of a run are the paper's, as far as a run says: fitted on one paper.

    >>> is_as_published(Variation("Cosine Similarity", "TFIDF-Words"), {"fitted_on": "training"})
    False
    """
    return variation is not None and parameters.get("fitted_on", "paper") == "paper"


def write_with_error(value: Value | None, error: Value | None) -> str:
    """A mean with two standard errors, as the paper prints it; empty where there is no mean.

    >>> write_with_error(Value(0.19749, 9, 9), Value(0.0082, 9, 9))
    '0.197 ± 0.008'
    """
    if value is None:
        return ""
    return f"{value.value:.3f} ± {error.value:.3f}" if error else f"{value.value:.3f}"


def write_share(share: float, decimals: int = 2) -> str:
    r"""A share per cent.

    >>> write_share(0.039), write_share(0.94953, 3)
    ('3.90\xa0%', '94.953\xa0%')
    """
    return f"{100 * share:.{decimals}f}\u00a0%"
