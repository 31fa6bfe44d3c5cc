"""The option `unknown`: what becomes of papers and queries that only judgments name."""

from typing import Final, Literal

from pinakes.errors import InputError
from pinakes.loaders.base import Options

UNKNOWN_HELP: Final = "what becomes of papers and queries that only qrels name: reject (default) or create"


def creates_unknown(options: Options, default: Literal["reject", "create"] = "reject") -> bool:
    """Whether they become rows without a text; else the judgments that name them are rejected.

    Raises:
        InputError: the option is neither `reject` nor `create`.
    """
    said = options.get("unknown", default)
    if said not in ("reject", "create"):
        raise InputError(f"unknown={said!r}: expected reject or create.")
    return said == "create"
