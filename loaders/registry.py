"""The loaders by name, imported when asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from pinakes.errors import UnknownNameError

if TYPE_CHECKING:  # what completes a name does not wait for it
    from pinakes.loaders.base import Loader

LOADERS: Final = {
    "aan": "pinakes.loaders.aan:LOADER",
    "acl-anthology": "pinakes.loaders.acl_anthology:LOADER",
    "arxiv": "pinakes.loaders.arxiv:LOADER",
    "beir": "pinakes.loaders.beir:LOADER",
    "csfcube": "pinakes.loaders.csfcube:LOADER",
    "csv": "pinakes.loaders.mapped:CSV",
    "drsm": "pinakes.loaders.drsm:LOADER",
    "grobid": "pinakes.loaders.grobid:LOADER",
    "ir-datasets": "pinakes.loaders.ir_datasets:LOADER",
    "jats": "pinakes.loaders.jats:LOADER",
    "jsonl": "pinakes.loaders.mapped:JSONL",
    "mdcr": "pinakes.loaders.mdcr:LOADER",
    "multicite": "pinakes.loaders.multicite:LOADER",
    "openalex": "pinakes.loaders.openalex:LOADER",
    "openreview": "pinakes.loaders.openreview:LOADER",
    "paperlists": "pinakes.loaders.paperlists:LOADER",
    "parquet": "pinakes.loaders.mapped:PARQUET",
    "petal": "pinakes.loaders.petal:LOADER",
    "pubmed": "pinakes.loaders.pubmed:LOADER",
    "relish": "pinakes.loaders.relish:LOADER",
    "s2and": "pinakes.loaders.s2and:LOADER",
    "s2orc": "pinakes.loaders.s2orc:LOADER",
    "s2orc-json": "pinakes.loaders.s2orc_json:LOADER",
    "scidocs": "pinakes.loaders.scidocs:LOADER",
    "science-parse": "pinakes.loaders.science_parse:LOADER",
    "scirepeval": "pinakes.loaders.scirepeval:LOADER",
    "scisumm": "pinakes.loaders.scisumm:LOADER",
    "sentence-selections": "pinakes.loaders.sentence_selections:LOADER",
    "smart": "pinakes.loaders.smart:LOADER",
    "specter": "pinakes.loaders.specter:LOADER",
    "synthetic": "pinakes.loaders.synthetic:LOADER",
    "trec": "pinakes.loaders.trec:LOADER",
    "trec-covid": "pinakes.loaders.trec_covid:LOADER",
    "tweetpap": "pinakes.loaders.tweetpap:LOADER",
    "unarxive": "pinakes.loaders.unarxive:LOADER",
}


def find_loader(name: str, hint: str = "") -> "Loader":
    """The loader of that name; `hint` is what an error says besides.

    Raises:
        UnknownNameError: there is none; the message lists the known ones.
    """
    if name not in LOADERS:
        raise UnknownNameError("loader", name, list(LOADERS), hint)
    module, member = LOADERS[name].split(":")
    loader: Loader = getattr(import_module(module), member)
    return loader
