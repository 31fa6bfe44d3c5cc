"""Analysers by name: what finds sentences, tokens, tags and noun phrases."""

from importlib import import_module
from typing import Final, cast

from pinakes.errors import UnknownNameError
from pinakes.texts.neighbours.analysers.base import Analyser

ANALYSERS: Final = {
    "textblob": "pinakes.texts.neighbours.analysers.textblob:make_analyser",
    "nltk": "pinakes.texts.neighbours.analysers.nltk:make_analyser",
    "spacy": "pinakes.texts.neighbours.analysers.spacy:make_analyser",
}
"""by name; `textblob` needs no data and is the default, so that every machine finds the same"""
DEFAULT: Final = "textblob"


def find_analyser(name: str = DEFAULT) -> Analyser:
    """The analyser of this name, ready to work; it can be sent to another process.

    Raises:
        UnknownNameError: there is none of this name.
        InputError: its package or its data are not installed; the message says what to install.
    """
    if name not in ANALYSERS:
        raise UnknownNameError("analyser", name, list(ANALYSERS))
    module, member = ANALYSERS[name].split(":")
    return cast(Analyser, getattr(import_module(module), member)())
