"""The user's own cache folder: what this installation made of its own code and models, to start faster.

Nothing of it comes with data, and none of it is read where anybody else could write to it.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

_ONLY_OWNER: Final = stat.S_IRWXU


def find_cache_folder(name: str) -> Path | None:
    """A folder of the cache, made where it is missing; None where others could write to it."""
    with suppress(OSError, RuntimeError):  # a home that is read-only, or none
        cache = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(cache) if cache else Path.home() / ".cache") / "pinakes" / name
        folder.mkdir(mode=_ONLY_OWNER, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return folder
    return None
