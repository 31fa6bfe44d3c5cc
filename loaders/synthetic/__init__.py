"""Our own generator of a small scholarly world: papers, citations, queries and graded judgments.

It feeds the demo, the tests that need no real data, and the benchmarks of scale. Row i of a file is a
function of (number of papers, seed, i) alone, in integer arithmetic: the same on every machine, and a load
that stopped goes on anywhere. How often a paper is cited needs one pass over all mentions first (four bytes a
paper).
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from pinakes.errors import InputError
from pinakes.loaders import staging
from pinakes.loaders.base import WHOLE_PAPER, CorpusDescription, InputFile, Loader, Options
from pinakes.loaders.staging import Chunk
from pinakes.loaders.synthetic.citations import build_citations, count_citations, count_citing
from pinakes.loaders.synthetic.papers import build_papers
from pinakes.loaders.synthetic.queries import QuerySet, build_judgments, build_queries
from pinakes.loaders.synthetic.world import ASPECTS, World

GENERATOR_VERSION: Final = "1"
"""changes whenever the same options give other rows"""
ROLES: Final = ("papers", "citations", "queries", "judgments")
_FEWEST_PAPERS: Final = 20
_MOST_PAPERS: Final = 99_999_999
_MOST_SEEDS: Final = 2**63 - 1

Build = Callable[[int, int], dict[str, pa.Table]]
"""first row, last row + 1, both from 0 -> staged tables"""


def _read_number(options: Options, name: str, default: int, low: int, high: int) -> int:
    text = options.get(name, str(default))
    if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
        raise InputError(
            f"option {name}={text!r} of the synthetic loader is not a whole number from {low} to {high}; "
            f"give for example {name}={default}"
        )
    return int(text)


def read_world(options: Options) -> World:
    """The world that the options `papers` and `seed` ask for."""
    papers = _read_number(options, "papers", 2000, _FEWEST_PAPERS, _MOST_PAPERS)
    return World(papers, _read_number(options, "seed", 1, 0, _MOST_SEEDS))


def read_query_set(options: Options) -> QuerySet:
    """The queries that the options ask for: one for each 20 papers, 50 to 3800, unless `queries` says."""
    world = read_world(options)
    most = world.topics * len(ASPECTS)
    default = min(max(50, world.papers // 20), 3800, most)
    return QuerySet(world, _read_number(options, "queries", default, 1, most))


def describe_corpus(source: Path | None, options: Options) -> CorpusDescription:
    """The corpus `synthetic`, with the options that make it again as its source."""
    world = read_world(options)
    return CorpusDescription(
        name="synthetic",
        title=f"Synthetic scholarly world of {world.papers} papers",
        version=GENERATOR_VERSION,
        licence="CC0-1.0",
        source=f"pinakes load synthetic --papers {world.papers} --seed {world.seed}",
    )


def find_files(source: Path | None, options: Options) -> list[InputFile]:
    """One generated stream for each role; there is no file to name."""
    if source is not None:
        raise InputError(f"the synthetic loader makes its own papers and reads no file, but got {source}")
    return [_describe_stream(options, role) for role in ROLES]


def _describe_stream(options: Options, role: str) -> InputFile:
    query_set = read_query_set(options)
    name = f"synthetic:papers={query_set.world.papers}:seed={query_set.world.seed}"
    queries = f":queries={query_set.count}" if role in ("queries", "judgments") else ""
    digest = hashlib.sha256(f"generator {GENERATOR_VERSION}:{name}{queries}:{role}".encode()).hexdigest()
    return InputFile(path=None, name=f"{name}:{role}", role=role, digest=digest)


def read_chunks(file: InputFile, options: Options, first_row: int) -> Iterator[Chunk]:
    """Chunks that end at multiples of `CHUNK_ROWS`, wherever the first one starts."""
    total, build = _OPEN[file.role](options)
    start, size = first_row - 1, staging.CHUNK_ROWS
    while start < total:
        stop = min((start // size + 1) * size, total)
        yield Chunk(stop, stop - start, build(start, stop))
        start = stop


def _open_papers(options: Options) -> tuple[int, Build]:
    world = read_world(options)
    cited = count_citing(world)
    return world.papers, lambda start, stop: build_papers(world, np.arange(start, stop), cited[start:stop])


def _open_citations(options: Options) -> tuple[int, Build]:
    world = read_world(options)
    total = count_citations(world)
    return total, lambda start, stop: {"citations": build_citations(world, start, stop)}


def _open_queries(options: Options) -> tuple[int, Build]:
    query_set = read_query_set(options)
    return query_set.count, lambda start, stop: {"queries": build_queries(query_set, np.arange(start, stop))}


def _open_judgments(options: Options) -> tuple[int, Build]:
    query_set = read_query_set(options)
    total = int(query_set.judgment_ends[-1])
    return total, lambda start, stop: {"judgments": build_judgments(query_set, start, stop)}


_OPEN: Final[dict[str, Callable[[Options], tuple[int, Build]]]] = {
    "papers": _open_papers,
    "citations": _open_citations,
    "queries": _open_queries,
    "judgments": _open_judgments,
}

LOADER: Final = Loader(
    name="synthetic",
    summary="a made-up scholarly world of any size: papers, citations, queries, judgments",
    describe_corpus=describe_corpus,
    find_files=find_files,
    read_chunks=read_chunks,
    options={
        "papers": "number of papers, 20 to 99999999 (default 2000)",
        "seed": "which of the worlds of that size (default 1)",
        "queries": "number of queries (default one for each 20 papers, 50 to 3800)",
    },
    describes=lambda _role: WHOLE_PAPER - {"citations"},
)
