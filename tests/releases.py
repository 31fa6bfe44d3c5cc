"""Modules of benchmarks/ for the tests, and the writer of synthetic releases among them."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pinakes.loaders.synthetic.world import World

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def import_benchmark(name: str) -> ModuleType:
    """A module of benchmarks/, whose modules import each other as scripts do."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))


def write_release(
    folder: Path, world: World, *, layout: str = "2020", shards: int = 1, compress: bool = True, jobs: int = 1
) -> list[Path]:
    """Write the world as a release of that layout; the files written, in order."""
    paths: list[Path] = import_benchmark("_release").write_release(
        folder, world, layout=layout, shards=shards, compress=compress, jobs=jobs
    )
    return paths
