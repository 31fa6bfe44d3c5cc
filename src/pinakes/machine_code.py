"""Functions in LLVM's language, compiled for this processor, for loops that neither a library nor numba has.

Their machine code is kept for the next process, in the user's own cache folder, as numba's is
(`kept_kernels`): under the digest of all that decides it, and behind a digest of its own.
"""

import functools
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from pinakes.cache_folder import find_cache_folder

_DIGEST_SIZE: Final = 32

_compiling: Final = threading.RLock()
_engines: Final[list[Any]] = []  # they own the code


@functools.cache
def has_instructions(name: str) -> bool:
    """Whether llvmlite is there, and this is an x86-64 processor with what LLVM calls `name`.

    >>> has_instructions("avx2") in (True, False)
    True
    """
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return False
    return bool(llvm.get_process_triple().startswith("x86_64") and llvm.get_host_cpu_features().get(name))


def compile_function(text: str, name: str, signature: type[Any]) -> Callable[..., Any]:
    """The function `name` of a module in LLVM's language, compiled for this processor."""
    import llvmlite.binding as llvm

    with _compiling:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        processor, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        module = llvm.parse_assembly(text)
        module.verify()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=processor, features=features, opt=3
        )
        engine = llvm.create_mcjit_compiler(module, machine)
        _keep_code(engine, "\n".join((str(llvm.llvm_version_info), processor, features, text)))
        engine.finalize_object()
        _engines.append(engine)
        return cast(Callable[..., Any], signature(engine.get_function_address(name)))


def aligned(count: int, kind: type[np.generic]) -> NDArray[Any]:
    """Memory, of any content, that begins where a vector register's worth of it does."""
    size = np.dtype(kind).itemsize
    memory = np.empty(count * size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + count * size].view(kind)


def _keep_code(engine: Any, source: str) -> None:
    """Have the engine take its machine code from the cache folder, or leave it there."""
    folder = find_cache_folder("kernels")
    if folder is not None:
        path = folder / f"{hashlib.sha256(source.encode()).hexdigest()}.o"
        engine.set_object_cache(lambda _, code: _write_code(path, code), lambda _: _read_code(path))


def _read_code(path: Path) -> bytes | None:
    """The machine code in a file; None where it is not there or damaged."""
    with suppress(OSError):
        content = path.read_bytes()
        if hashlib.sha256(content[_DIGEST_SIZE:]).digest() == content[:_DIGEST_SIZE]:
            return content[_DIGEST_SIZE:]
    return None


def _write_code(path: Path, code: bytes) -> None:
    with suppress(OSError):  # a full disk
        number, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
