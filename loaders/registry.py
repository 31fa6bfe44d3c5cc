"""The loaders by name, imported when asked for."""

from importlib import import_module
from typing import Final

from pinakes.errors import UnknownNameError
from pinakes.loaders.base import Loader

LOADERS: Final = {
    "beir": "pinakes.loaders.beir:LOADER",
    "csfcube": "pinakes.loaders.csfcube:LOADER",
    "smart": "pinakes.loaders.smart:LOADER",
    "synthetic": "pinakes.loaders.synthetic:LOADER",
    "trec": "pinakes.loaders.trec:LOADER",
}


def find_loader(name: str) -> Loader:
    """The loader of that name.

    Raises:
        UnknownNameError: there is none; the message lists the known ones.
    """
    if name not in LOADERS:
        raise UnknownNameError("loader", name, list(LOADERS))
    module, member = LOADERS[name].split(":")
    loader: Loader = getattr(import_module(module), member)
    return loader
