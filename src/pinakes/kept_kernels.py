"""Machine code of kernels, kept in the user's own cache folder: what a `.pyc` is to Python's.

numba writes it as pickles, and reading one can run code. So it is read from no folder that anybody else could
write to, and never from the folder of an index, a corpus or the installation. What cannot be read, or is of
another source, processor, numba or Python, is compiled again; where nothing can be kept, by each
process.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any, Final

from pinakes.cache_folder import find_cache_folder

NEEDS_RUNTIME_ALONE: Final = "0.68."
"""begins the versions of numba whose kept code was seen to run without all else that numba can register"""


def keep_kernel(dispatcher: Any, function: FunctionType, source: bytes) -> None:
    """Have numba's dispatcher of the function keep its machine code; `source` is all that decides it."""
    folder = find_cache_folder("kernels")
    if folder is not None:
        with suppress(ImportError, AttributeError, TypeError):  # numba's own classes, which may change
            dispatcher._cache = _make_cache(function, folder, hashlib.sha256(source).hexdigest())


def _make_cache(function: FunctionType, folder: Path, stamp: str) -> Any:
    import numba
    from numba.core import caching
    from numba.core.runtime.nrt import rtsys

    results: Any = caching.CompileResultCacheImpl
    base: Any = caching.FunctionCache

    class Place:
        """Where a kernel's machine code lies, and what it was made from."""

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return stamp

        def get_disambiguator(self) -> str:
            return stamp[:16]

        def ensure_cache_path(self) -> None:
            """The folder is there."""

    class Results(results):  # type: ignore[misc]
        """What numba keeps of a kernel, by its module, name and source."""

        def __init__(self, kernel: FunctionType) -> None:
            self._locator, self._lineno = Place(), kernel.__code__.co_firstlineno
            self._filename_base = self.get_filename_base(f"{kernel.__module__}.{kernel.__name__}", "")

        def check_cachable(self, result: Any) -> bool:
            lifted = any(not one.can_cache for one in result.lifted)
            return not lifted and not result.library.has_dynamic_globals

    class Cache(base):  # type: ignore[misc]
        """Machine code that is there, or is made again; a cache that fails is none."""

        _impl_class = Results

        def load_overload(self, signature: Any, target: Any) -> Any:
            try:
                if not numba.__version__.startswith(NEEDS_RUNTIME_ALONE):
                    return super().load_overload(signature, target)
                # numba would first register all that it can compile, which takes longer than what is done
                # here; what compiles does that by itself, and code that is loaded needs the runtime alone.
                rtsys.initialize(target)
                return self._load_overload(signature, target)
            except Exception:  # noqa: BLE001 (a damaged file, whatever numba makes of it)
                with suppress(Exception):
                    self.flush()  # it is written anew
                return None

        def save_overload(self, signature: Any, result: Any) -> None:
            with suppress(Exception):  # a full disk
                super().save_overload(signature, result)

    made: Any = Cache
    return made(function)
