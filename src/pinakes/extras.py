"""Which extra of the installation brings a package that is not there.

`pip install pinakes` is enough for SQL, BM25, loading, scoring and export. All else is imported where it is
used; what is missing there is told by the one place that handles errors.
"""

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Final

EXTRAS: Final[Mapping[str, str]] = {
    "gensim": "compute",
    "ir_measures": "compute",
    "numba": "compute",
    "ot": "compute",
    "pytrec_eval": "compute",
    "rapidfuzz": "compute",
    "scipy": "compute",
    "sklearn": "compute",
    "nltk": "texts",
    "rouge_score": "texts",
    "textblob": "texts",
    "matplotlib": "report",
    "openTSNE": "report",
    "huggingface_hub": "encode",
    "torch": "encode",
    "transformers": "encode",
    "faiss": "cpu",
    "ir_datasets": "ir",
    "ray": "cluster",
}
"""package, as it is imported -> extra of pyproject.toml"""


def find_extra(error: BaseException) -> tuple[str, str] | None:
    """The package whose import failed and the extra that brings it; None where it was not that.

    >>> find_extra(ModuleNotFoundError("No module named 'nowhere'", name="nowhere")) is None
    True
    """
    if not isinstance(error, ModuleNotFoundError):
        return None
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS or find_spec(package) is not None:  # it is there, and broken
        return None
    return package, EXTRAS[package]


def list_missing(packages: Iterable[str]) -> list[str]:
    """Those of the packages that are not installed.

    >>> list_missing(["typer", "nowhere"])
    ['nowhere']
    """
    return [package for package in packages if find_spec(package) is None]


def explain_missing(error: BaseException) -> str | None:
    """The command that adds a package whose import failed; None where it was not that."""
    found = find_extra(error)
    if found is None:
        return None
    package, extra = found
    other = ", or with 'pinakes[gpu]' for a GPU of NVIDIA's" if extra == "cpu" else ""
    return (
        f"this needs the package {package}, which is not installed; add it with pip install "
        f"'pinakes[{extra}]'{other}. Then start the same command again."
    )
