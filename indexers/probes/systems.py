"""Positive definite systems, solved by LAPACK's Cholesky factor in place and without the interpreter lock.

numpy's copies the matrix twice and takes more than twice as long, scipy's own function keeps the lock; the
address that scipy publishes for Cython does neither.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsv

RIDGE: Final = 1e-12
"""of the largest diagonal element: keeps a system of equal rows solvable"""


def solve(system: NDArray[np.float64], right: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """The solution x of (system + ridge I) x = right; rounding may ask for a larger ridge.

    >>> solve(np.array([[3.0, 2.0], [2.0, 4.0]]), np.array([8.0, 9.0]), ridge=1.0).round(9).tolist()
    [1.375, 1.25]
    """
    if not len(system):
        return right
    ridge = max(ridge, RIDGE * float(system.diagonal().max()))
    while True:
        factor = system.copy()
        factor.flat[:: len(factor) + 1] += ridge
        if factorise(factor):
            lower = factor.T  # as Fortran has it
            solution: NDArray[np.float64] = dtrsv(lower, dtrsv(lower, right, lower=1), lower=1, trans=1)
            return solution
        ridge *= 100.0


def factorise(matrix: NDArray[np.float64]) -> bool:
    """Whether the matrix (n, n), in C order, is positive definite; it is replaced by its factor.

    The upper triangle becomes Lᵀ with L Lᵀ = the matrix; what is strictly below it is left as it was.

    >>> matrix = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> factorise(matrix), matrix.tolist()
    (True, [[2.0, 1.0], [2.0, 2.0]])
    """
    size, status = ctypes.c_int(len(matrix)), ctypes.c_int()
    # Fortran reads the transpose: its lower triangle is the upper one here.
    _load()(b"L", ctypes.byref(size), matrix.ctypes.data, ctypes.byref(size), ctypes.byref(status))
    return status.value == 0


@functools.cache
def _load() -> Callable[..., None]:
    from numba.extending import get_cython_function_address

    address = get_cython_function_address("scipy.linalg.cython_lapack", "dpotrf")
    integer = ctypes.POINTER(ctypes.c_int)
    signature: Any = ctypes.CFUNCTYPE(None, ctypes.c_char_p, integer, ctypes.c_void_p, integer, integer)
    function: Callable[..., None] = signature(address)
    return function
