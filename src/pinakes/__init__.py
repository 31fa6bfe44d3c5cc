"""Pinakes: scholarly papers, references and citations in tables; retrieval benchmarks in SQL.

Importing the package does nothing but name its version; what it offers is imported when it is used.
"""

from typing import TYPE_CHECKING

from pinakes.version import VERSION

if TYPE_CHECKING:
    from pinakes.answers import Records, Result, Searcher
    from pinakes.api import Connection, connect
    from pinakes.errors import PinakesError


__version__ = VERSION

__all__ = ["Connection", "PinakesError", "Records", "Result", "Searcher", "__version__", "connect"]


def __getattr__(name: str) -> object:
    if name == "PinakesError":
        from pinakes.errors import PinakesError

        return PinakesError
    if name in __all__:
        from pinakes import api

        return getattr(api, name)
    raise AttributeError(f"module 'pinakes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
