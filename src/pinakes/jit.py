"""Kernels that numba compiles when they are first called, nothing at import.

A user's processes compile them once: their machine code is kept (`kept_kernels`). No kernel multiplies and
adds in one rounding or changes the order of a sum: the same bits at any number of threads. `jit_in_any_order`
is the exception.
"""

import functools
import inspect
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, ParamSpec, TypeVar, cast

from pinakes.kept_kernels import keep_kernel

P = ParamSpec("P")
R = TypeVar("R")

_ANY_ORDER: Final = frozenset({"reassoc", "contract"})  # LLVM's names

_compiling: Final = threading.RLock()
_kernels: Final[dict[Any, Callable[..., Any]]] = {}


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, from its first call on, for the argument types of each call.

    A kernel may call kernels that stand above it in its module. Trap: an index beyond an array's end is not
    noticed.

    >>> @jit
    ... def add(left: int, right: int) -> int:
    ...     return left + right
    >>> add(1, 2)
    3
    """
    return _make_kernel(function, frozenset())


def jit_in_any_order(function: Callable[P, R]) -> Callable[P, R]:
    """As `jit`, but a sum is added up in whatever order is fast, and a product and a sum may be rounded once.

    Processors differ in its last bits: who calls it bounds how far, and what is told to others is not among
    them.
    """
    return _make_kernel(function, _ANY_ORDER)


def _make_kernel(function: Callable[P, R], fastmath: frozenset[str]) -> Callable[P, R]:
    @functools.wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        compiled = _kernels.get(call) or _compile(call)
        return cast(R, compiled(*arguments, **named))

    call.fastmath = fastmath  # type: ignore[attr-defined]
    return call


def _compile(kernel: Any) -> Callable[..., Any]:
    """The dispatcher of a kernel; the kernels that it calls are seen by numba as dispatchers too."""
    with _compiling:
        if kernel not in _kernels:
            import numba

            plain = kernel.__wrapped__
            called = {name: _called(plain.__globals__[name]) for name in _global_names(plain)}
            seen = FunctionType(
                plain.__code__, plain.__globals__ | called, plain.__name__, plain.__defaults__
            )
            seen.__module__ = plain.__module__
            compiled = numba.njit(nogil=True, error_model="numpy", fastmath=set(kernel.fastmath))(seen)
            keep_kernel(compiled, seen, _read_source(plain))
            _kernels[kernel] = compiled
        return _kernels[kernel]


def _global_names(function: Any) -> list[str]:
    return [name for name in function.__code__.co_names if name in function.__globals__]


def _read_source(function: Any) -> bytes:
    """All that decides the machine code of a kernel: its module, and what it takes from others."""
    found = [inspect.getsource(inspect.getmodule(function) or function)]
    for name in _global_names(function):
        value = function.__globals__[name]
        if _is_kernel(value):
            found.append(_read_source(value.__wrapped__).decode())
        elif not inspect.ismodule(value):
            found.append(f"{name} = {value!r}")
    return "\n".join(found).encode()


def _is_kernel(value: Any) -> bool:
    return isinstance(value, FunctionType) and getattr(value, "__code__", None) is _call_code()


def _called(value: Any) -> Any:
    return _compile(value) if _is_kernel(value) else value


@functools.cache
def _call_code() -> Any:
    return jit(_called).__code__
