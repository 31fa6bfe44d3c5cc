"""The kinds of Faiss index: what each is called there, what it can be told, and how it is searched.

`flat` is exact; `sq8` and `fp16` keep every vector in a byte or two a number; `ivf_flat` and `ivf_pq` look
into the `nprobe` nearest of `nlist` cells; `hnsw` walks a graph.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import faiss

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.names import Distance

MOST_CELLS, CELL_ROUNDS = 4096, 10  # training costs cells times vectors times rounds
TRAINED_PER_CELL: Final = 39  # fewer and Faiss warns: the cells' centres are then guesses
MIN_FOR_CODES: Final = 256  # an 8-bit code book is learned from no fewer vectors
LARGEST_PQ_BYTES: Final = 64
PQ_ROUNDS, PQ_VECTORS_PER_CODE = 12, 64  # half of Faiss' rounds over a quarter of its sample


@dataclass(frozen=True, slots=True)
class FaissKind:
    """One kind of index.

    Attributes:
        factory: the string for `faiss.index_factory`, with the options' names in braces.
        build: option -> its default; 0: chosen by the number of rows and dimensions.
        search: option at query time -> its default.
        refine: how many times `k` candidates are scored again with the whole vectors.
        on_gpu: whether faiss-gpu has the kind.
    """

    factory: str
    build: Mapping[str, int] = field(default_factory=dict)
    search: Mapping[str, int] = field(default_factory=dict)
    refine: int = 2
    on_gpu: bool = True


KINDS: Final[Mapping[str, FaissKind]] = {
    "flat": FaissKind("Flat"),
    "ivf_flat": FaissKind("IVF{nlist},Flat", {"nlist": 0}, {"nprobe": 64}),
    "ivf_pq": FaissKind("IVF{nlist},PQ{pq_bytes}x8", {"nlist": 0, "pq_bytes": 0}, {"nprobe": 64}, refine=8),
    "hnsw": FaissKind("HNSW{m},Flat", {"m": 32, "ef_construction": 80}, {"ef_search": 128}, on_gpu=False),
    "sq8": FaissKind("SQ8", refine=4),
    "fp16": FaissKind("SQfp16"),
}


def find_kind(name: str) -> FaissKind:
    """The kind of that name; `UnknownNameError` lists the known ones."""
    if name not in KINDS:
        raise UnknownNameError("kind of Faiss index", name, list(KINDS))
    return KINDS[name]


def settle_options(name: str, given: Mapping[str, int], rows: int, dimensions: int) -> dict[str, int]:
    """The build options as they will be used: what was given, the defaults for the rest.

    >>> settle_options("ivf_pq", {}, 100_000, 384)
    {'nlist': 1264, 'pq_bytes': 64}
    """
    kind = find_kind(name)
    options = check_options(name, given, kind.build)
    if "nlist" in options and not options["nlist"]:
        options["nlist"] = max(1, min(int(4 * math.sqrt(rows)), rows // TRAINED_PER_CELL, MOST_CELLS))
    if not rows:
        raise IndexingError("there is no vector to index; encode the corpus first")
    if options.get("nlist", 1) > rows:
        raise IndexingError(f"nlist is {options['nlist']} for {rows} vectors; expected one a cell at least")
    if "pq_bytes" in options:
        options["pq_bytes"] = options["pq_bytes"] or _choose_pq_bytes(dimensions)
        _check_codes(options["pq_bytes"], rows, dimensions)
    return options


def check_options(name: str, given: Mapping[str, int], known: Mapping[str, int]) -> dict[str, int]:
    """The defaults `known` with what was `given` in their place; an error for a name or number of no use."""
    for option, value in given.items():
        if option not in known:
            raise UnknownNameError(f"option of the {name} index", option, list(known))
        if value < 1:
            raise IndexingError(f"the option {option} is {value}; expected at least 1")
    return {**known, **given}


def make_index(name: str, dimensions: int, distance: Distance, options: Mapping[str, int], seed: int) -> Any:
    """An empty index; the random numbers of its training and its graph come from `seed`."""
    metric = faiss.METRIC_L2 if distance == "l2" else faiss.METRIC_INNER_PRODUCT
    index = faiss.index_factory(dimensions, describe_factory(name, options), metric)
    if name == "hnsw":
        index.hnsw.efConstruction = options["ef_construction"]
        index.hnsw.rng = faiss.RandomGenerator(seed)
    for clustering in [index.cp] if name.startswith("ivf") else []:
        clustering.seed, clustering.min_points_per_centroid = seed, 1
        clustering.niter = CELL_ROUNDS
    if name == "ivf_pq":
        index.pq.cp.seed, index.pq.cp.min_points_per_centroid = seed, 1
        index.pq.cp.niter, index.pq.cp.max_points_per_centroid = PQ_ROUNDS, PQ_VECTORS_PER_CODE
        index.do_polysemous_training = False  # minutes, for a search that is not used here
    return index


def describe_factory(name: str, options: Mapping[str, int]) -> str:
    """Faiss' own name for the index.

    >>> describe_factory("hnsw", {"m": 32, "ef_construction": 80})
    'HNSW32,Flat'
    """
    return find_kind(name).factory.format(**options)


def search_parameters(name: str, options: Mapping[str, int], selector: Any) -> Any:
    """What Faiss is told with a search: how far to look, and which rows may be found (None: all)."""
    if name.startswith("ivf"):
        return faiss.SearchParametersIVF(nprobe=options["nprobe"], sel=selector)
    if name == "hnsw":
        return faiss.SearchParametersHNSW(efSearch=options["ef_search"], sel=selector)
    return faiss.SearchParameters(sel=selector)


def _choose_pq_bytes(dimensions: int) -> int:
    divisors = (number for number in range(LARGEST_PQ_BYTES, 0, -1) if dimensions % number == 0)
    return next(number for number in divisors if number <= max(1, dimensions // 2))


def _check_codes(pq_bytes: int, rows: int, dimensions: int) -> None:
    if dimensions % pq_bytes:
        raise IndexingError(f"pq_bytes is {pq_bytes}; expected a divisor of the {dimensions} dimensions")
    if rows < MIN_FOR_CODES:
        raise IndexingError(
            f"an ivf_pq index learns its codes from at least {MIN_FOR_CODES} vectors, and there are "
            f"{rows}; choose the kind flat or sq8"
        )
