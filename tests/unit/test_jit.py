"""Kernels are compiled when called, may call each other, and round each product and each sum."""

import subprocess
import sys

import numpy as np
from numpy.typing import NDArray

from pinakes.jit import jit


@jit
def double(value: int) -> int:
    return 2 * value


@jit
def double_all(values: NDArray[np.int64]) -> int:
    total = 0
    for position in range(values.shape[0]):
        total += double(values[position])
    return total


@jit
def multiply_and_add(
    left: NDArray[np.float32], right: NDArray[np.float32], sums: NDArray[np.float32]
) -> None:
    for position in range(sums.shape[0]):
        sums[position] += left[position] * right[position]


def test_a_kernel_calls_a_kernel() -> None:
    assert double_all(np.array([1, 2, 3])) == 12


def test_a_product_is_rounded_before_it_is_added() -> None:
    # (1 + 2**-12)**2 is 1 + 2**-11 + 2**-24, and float32 has no room for the last: in one rounding with the
    # sum it would be left over.
    value = np.full(64, 1 + 2.0**-12, np.float32)
    sums = np.full(64, -(1 + 2.0**-11), np.float32)
    multiply_and_add(value, value, sums)
    assert sums.tolist() == [0.0] * 64


def test_importing_the_kernels_does_not_import_numba() -> None:
    program = "import sys, pinakes.indexers.sparse_bm25.kernels; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
