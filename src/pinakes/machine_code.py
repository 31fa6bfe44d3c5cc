"""Functions in LLVM's language, compiled for this processor, for loops that neither a library nor numba has.

Their machine code is kept for the next process, in the user's own cache folder, as numba's is
(`kept_kernels`): under the digest of all that decides it, and behind a digest of its own.
"""

import ctypes
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

TILE_ROWS: Final = 16
TILE_BYTES: Final = 64
"""of a row of a tile register"""
_TILE_SHAPES: Final = [1, *[0] * 15, *[TILE_BYTES, 0] * 8, *[0] * 16, *[TILE_ROWS] * 8, *[0] * 8]
TILE_DECLARATIONS: Final = f"""
declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tilezero(i8 immarg)
declare void @llvm.x86.tileloadd64(i8 immarg, ptr, i64)
declare void @llvm.x86.tilestored64(i8 immarg, ptr, i64)
@tile_shapes = internal constant [64 x i8] [{", ".join(f"i8 {value}" for value in _TILE_SHAPES)}], align 64"""
"""what LLVM's language needs for AMX; `ldtilecfg` of `@tile_shapes` makes eight whole registers"""

_ARCH_PRCTL: Final = 158
_REQUEST_PERMISSION: Final = 0x1023
_TILE_DATA: Final = 18
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


@functools.cache
def has_tiles(products: str) -> bool:
    """Whether the processor has AMX for `amx-int8` or `amx-bf16` (LLVM's names), and this process may use it.

    It asks the system for the registers, so it has to be called before any thread uses them.

    >>> has_tiles("amx-int8") in (True, False)
    True
    """
    if not all(has_instructions(name) for name in ("amx-tile", products, "avx512f")):
        return False
    import llvmlite.binding as llvm

    # Linux hands out the registers' 8 KiB of state on request alone, once for a process.
    is_linux = "linux" in llvm.get_process_triple()
    return is_linux and ctypes.CDLL(None).syscall(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0


@functools.cache
def read_second_cache(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """The bytes of a core's second cache as Linux tells them; 0: it does not say.

    >>> read_second_cache(Path("/nowhere"))
    0
    """
    for level in sorted(folder.glob("index*/level")):
        with suppress(OSError, ValueError):
            size = level.with_name("size").read_text().strip()
            if level.read_text().strip() == "2" and size.endswith("K"):
                return int(size[:-1]) << 10
    return 0


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
