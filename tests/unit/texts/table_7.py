"""Table 7 of Singh and Singh (2022): one paper and what it prints for each code.

The tags and noun phrases are those that NLTK's perceptron and TextBlob's extractor find. Cells stand as they
are printed, without hyphens at the ends of lines.
"""

from typing import Final

from pinakes.texts.neighbours.analysis import AnalysedPaper
from tests.tagging import tag_text

TITLE: Final = "Source Code Embeddings from Language Models"
CONTEXTUAL: Final = "Contextual embeddings are common in NLP."
INTRODUCE: Final = "We introduce a representation for computer programs based on language models."
TRAIN: Final = "We train deep robust embeddings using pytorch."
ABSTRACT: Final = f"{CONTEXTUAL} {INTRODUCE} {TRAIN}"
PAPER: Final = AnalysedPaper(
    tag_text(TITLE, "Source/N Code/N Embeddings/N from/I Language/N Models/N"),
    tag_text(
        ABSTRACT,
        "Contextual/A embeddings/N are/V common/A in/I NLP/N ./.",
        "We/P introduce/V a/D representation/N for/I computer/N programs/N based/V on/I language/N "
        "models/N ./.",
        "We/P train/V deep/A robust/A embeddings/N using/V pytorch/N ./.",
        phrases=("contextual", "nlp", "computer programs", "language models", "robust embeddings"),
    ),
)
TOP_PHRASES: Final = frozenset({"computer programs", "language models"})

ABSTRACTS: Final = {
    "T_ARot": f"{INTRODUCE} {TRAIN} {CONTEXTUAL}",
    "T_AShuff": f"{CONTEXTUAL} {INTRODUCE} {TRAIN}",
    "T_ASortAsc": f"{CONTEXTUAL} {TRAIN} {INTRODUCE}",
    "T_ASortDesc": f"{INTRODUCE} {TRAIN} {CONTEXTUAL}",
    "T_ADelRand": (
        "Contextual are common in . introduce a representation computer programs based on language models. "
        "We train deep robust using ."
    ),
    "T_ADelADJ": (
        "We introduce a representation for computer programs based on language models . "
        "We train embeddings using pytorch ."
    ),
    "T_ADelNN": "Contextual are common in . We introduce a for based on . We train deep robust using .",
    "T_ADelVB": (
        "Contextual embeddings common in NLP . We a representation for computer programs on language "
        "models . "
        "We deep robust embeddings pytorch ."
    ),
    "T_ADelADV": ABSTRACT,
    "T_ADelPR": (
        "Contextual embeddings are common in NLP . introduce a representation for computer programs based on "
        "language models . train deep robust embeddings using pytorch ."
    ),
    "T_ADelDT": (
        f"{CONTEXTUAL} We introduce representation for computer programs based on language models. {TRAIN}"
    ),
    "T_ADelNum": ABSTRACT,
    "T_ADelNNPH": f"{CONTEXTUAL} We introduce a representation for based on . We train deep using pytorch.",
    "T_ADelTopNNPH": f"{CONTEXTUAL} We introduce a representation for based on . {TRAIN}",
    "T_ADelQ1": f"{INTRODUCE} {TRAIN}",
    "T_ADelQ2": f"{CONTEXTUAL} {TRAIN}",
    "T_ADelQ3": f"{CONTEXTUAL} {INTRODUCE}",
    "T_ANNU": (
        "Contextual EMBEDDINGS are common in NLP . We introduce a REPRESENTATION for COMPUTER PROGRAMS "
        "based on "
        "LANGUAGE MODELS . We train deep robust EMBEDDINGS using PYTORCH ."
    ),
    "T_ANonNNU": (
        "CONTEXTUAL embeddings ARE COMMON IN NLP. WE INTRODUCE A representation FOR computer programs "
        "BASED ON "
        "language models . WE TRAIN DEEP ROBUST embeddings USING pytorch ."
    ),
    "T_A_DelNNChar": (
        "Contextual mbedding are common in NLP. We introduce a representaio for cmuter prrams based on "
        "lngage "
        "modl. We train deep robust emeddngs using ytorh."
    ),
    "T_ADelNonNNs": "NLP representation computer programs language models embeddings pytorch",
    "T_ARepADJ": (
        "Contextual embeddings are individual in NLP. We introduce a representation for computer "
        "programs based "
        "on language models. We train shallow frail embeddings using pytorch."
    ),
}
TITLES: Final = {
    "TDelADJ_A": TITLE,
    "TDelNN_A": "from",
    "TDelVB_A": TITLE,
    "TDelDT_A": TITLE,
    "TDelNN": "from",
    "TNNU_A": "SOURCE CODE EMBEDDINGS from LANGUAGE MODEL",
    "TNonNNU_A": "Source Code Embeddings FROM Language Models",
    "T_A_DelNNChar": "Soue Cod Emddings from Lguage dels",
    "TRepNNT_A": "Source Source Code Embeddings from Language Models",
    "TRepNNA_A": "Source Code Embeddings from Language Models embeddings NLP representation computer",
}
"""T_A_WS is printed without most of its spaces, and cannot be compared"""
