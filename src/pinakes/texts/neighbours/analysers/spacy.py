"""spaCy's small English model, where it is installed."""

from functools import lru_cache
from typing import Any, Final

from pinakes.errors import InputError
from pinakes.texts.neighbours.analysers.base import Analyser, Sentence, join_sentences
from pinakes.texts.neighbours.analysers.noun_phrases import find_noun_phrases
from pinakes.texts.neighbours.analysis import TAGS, AnalysedText

MODEL: Final = "en_core_web_sm"
_UNIVERSAL: Final = {
    "PROPN": "NOUN",
    "AUX": "VERB",
    "CCONJ": "CONJ",
    "SCONJ": "ADP",
    "PART": "PRT",
    "PUNCT": ".",
    "SYM": ".",
    "INTJ": "X",
}
"""tags of Universal Dependencies that the universal tagset calls otherwise"""


def make_analyser() -> Analyser:
    """The analyser, named with the versions of spaCy and its model; `InputError` where one is missing."""
    model = _load_model()
    import spacy

    return Analyser("spacy", f"spacy-{spacy.__version__}+{MODEL}-{model.meta['version']}", analyse_text)


@lru_cache(maxsize=1)
def _load_model() -> Any:
    try:
        import spacy

        model = spacy.load(MODEL, exclude=["ner", "lemmatizer"])
    except (ImportError, OSError) as error:
        raise InputError(
            f"the analyser spacy needs spaCy and its model {MODEL}: pip install spacy, then "
            f"python -m spacy download {MODEL}; or take the analyser textblob, which needs no data."
        ) from error
    model.max_length = 10**9
    return model


def analyse_text(text: str) -> AnalysedText:
    """Sentences, tokens and tags by one model of spaCy."""
    document = _load_model()(text)
    return join_sentences(text, [_read_sentence(sentence) for sentence in document.sents])


def _read_sentence(sentence: Any) -> Sentence:
    tokens = [token for token in sentence if not token.is_space]
    starts = [token.idx for token in tokens]
    ends = [token.idx + len(token) for token in tokens]
    tags = "".join([TAGS.get(_UNIVERSAL.get(token.pos_, token.pos_), "X") for token in tokens])
    return Sentence(starts, ends, tags, find_noun_phrases([token.tag_ for token in tokens]), {})
