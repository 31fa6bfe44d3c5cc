"""Kernels are compiled when called, may call each other, and round each product and each sum."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pinakes import jit as jit_module
from pinakes.jit import jit, jit_in_any_order


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


@jit_in_any_order
def add_all(values: NDArray[np.float64]) -> float:
    total = 0.0
    for position in range(values.shape[0]):
        total += values[position]
    return total


@jit
def find_difference(values: NDArray[np.float64]) -> float:
    total = 0.0
    for position in range(values.shape[0]):
        total += values[position]
    return add_all(values) - total


def test_a_sum_in_any_order_stays_near_and_leaves_other_kernels_in_theirs() -> None:
    values = np.random.default_rng(1).standard_normal(1000)
    total = 0.0
    for value in values.tolist():
        total += value
    assert abs(add_all(values) - total) < 1e-9
    assert find_difference(values) == add_all(values) - total


def test_importing_the_kernels_does_not_import_numba() -> None:
    program = "import sys, pinakes.indexers.sparse_bm25.kernels; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


TIMED = """
import sys
from pathlib import Path
import numpy as np
from pinakes import jit, kept_kernels
from pinakes.indexers.sparse_bm25.kernels import keep_best
keys = np.array([3, 9, 4, 1, 7], np.int64)
print(keep_best(keys, 5, 2), sorted(keys[:2].tolist()))
compiled = jit._kernels[keep_best]
print(sum(compiled.stats.cache_hits.values()), sum(compiled.stats.cache_misses.values()))
"""


UNTRIED = "from pinakes import kept_kernels; kept_kernels.NEEDS_RUNTIME_ALONE = 'none'\n"
"""a process to which its version of numba is one that was not tried"""


def run_kernel(cache: Path, before: str = "") -> list[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", before + TIMED], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.splitlines()


def test_machine_code_is_kept_for_the_next_process_and_made_again_where_it_is_damaged(tmp_path: Path) -> None:
    found = "7 [7, 9]"
    assert run_kernel(tmp_path) == [found, "0 1"]
    assert run_kernel(tmp_path) == [found, "1 0"]
    folder = tmp_path / "pinakes" / "kernels"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert run_kernel(tmp_path, UNTRIED) == [found, "1 0"]
    for file in folder.iterdir():
        file.write_bytes(b"nonsense")
    assert run_kernel(tmp_path) == [found, "0 1"]
    assert run_kernel(tmp_path) == [found, "1 0"]


def test_nothing_is_read_from_a_folder_that_others_may_write_to(tmp_path: Path) -> None:
    run_kernel(tmp_path)
    folder = tmp_path / "pinakes" / "kernels"
    folder.chmod(0o777)
    before = sorted(folder.iterdir())
    assert run_kernel(tmp_path)[1] != "1 0"
    assert sorted(folder.iterdir()) == before
    (tmp_path / "file").write_text("")
    assert run_kernel(tmp_path / "file")[0] == "7 [7, 9]"


def test_what_a_kernel_takes_from_elsewhere_decides_its_code() -> None:
    plain, calling = (jit_module._read_source(one.__wrapped__) for one in (double, double_all))  # type: ignore[union-attr]
    assert plain in calling
    assert plain != calling
