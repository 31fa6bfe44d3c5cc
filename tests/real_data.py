"""Where the real corpora lie, and the mark of the tests that need them.

The corpora stand beside the checkout, never in it. Leaves out: reading them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

_Test = TypeVar("_Test", bound=Callable[..., Any])


def needs_real_data(test: _Test) -> _Test:
    """The test marked `real_data`, and skipped with a reason where the corpora are absent."""
    skip = pytest.mark.skipif(not REAL_DATA.is_dir(), reason=f"the real corpora are not at {REAL_DATA}")
    marked: _Test = pytest.mark.real_data(skip(test))
    return marked
