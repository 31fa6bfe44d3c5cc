"""Rates of this machine, measured in about a minute on made-up papers, texts and vectors.

What is not measured here keeps what the manual says of it.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from pinakes.extras import list_missing
from pinakes.plan.model import Work
from pinakes.plan.random_encoder import write_random_encoder
from pinakes.plan.rates import RATES, Rate

SIZES: Final = (4_000, 40_000)
"""papers that are loaded; what the second takes longer is no fixed cost"""
TEXTS: Final = 16_000
"""titles and abstracts that are indexed"""
WARM: Final = 100
"""papers that are loaded before, so that no size pays for what is imported"""
VECTORS: Final = 50_000
"""vectors that are searched, and a fifth of them; fewer where they are long"""
MOST_NUMBERS: Final = 10**8
MOST_DIMENSIONS: Final = 4_096
"""dimensions above which no encoder is made up: its layers would not fit into memory"""
MOST_LAYERS: Final = 12
CENTRES: Final = 500
VECTOR_QUERIES: Final = 2_000
"""few of them would pay for what is done once for each vector"""
TEXT_QUERIES: Final = 500
ENCODE_S: Final = 5.0
"""seconds for which texts are encoded, at least"""


def measure_rates(work: Work, tell: Callable[[str], None]) -> dict[str, Rate]:
    """The rates that were measured, by name; `tell` hears what is measured, and what is not, and why.

    `work` says which shape the encoder and the vectors have.
    """
    rates: dict[str, Rate] = {}
    with TemporaryDirectory(prefix="pinakes-plan-") as name:
        folder = Path(name)
        tell("measuring: loads")
        texts = _measure_loads(folder, rates)
        parts: tuple[tuple[str, tuple[str, ...], Callable[[], None]], ...] = (
            ("sparse_bm25", ("numba",), lambda: _measure_sparse(folder, work, texts, rates)),
            ("exact search", ("numba", "torch"), lambda: _measure_search(work, rates)),
            ("encoding", ("torch", "transformers"), lambda: _measure_encoding(folder, work, texts, rates)),
        )
        for what, packages, measure in parts:
            if missing := list_missing(packages):
                tell(f"not measured: {what}, which needs {', '.join(missing)}")
                continue
            if what == "encoding" and work.dimensions > MOST_DIMENSIONS:
                tell(f"not measured: {what}, with more than {MOST_DIMENSIONS:,} dimensions")
                continue
            tell(f"measuring: {what}")
            measure()
    return rates


def _measured(name: str, value: float, what: str, papers: int = 0) -> Rate:
    return Rate(value, RATES[name].unit, "measured", f"{what}, by pinakes plan", papers)


def _measure_loads(folder: Path, rates: dict[str, Rate]) -> list[str]:
    """Load the synthetic corpus at both sizes; titles and abstracts of the larger one."""
    import sqlalchemy as sa

    from pinakes.database import connect
    from pinakes.load.load import LoadRequest, load
    from pinakes.queries.install import initialise

    best: dict[int, float] = {}
    counts: dict[int, int] = {}
    texts: list[str] = []
    with connect(folder / "empty.duckdb") as database:
        initialise(database, pass_over_missing=True)
    for turn, papers in enumerate((WARM, *SIZES, *SIZES)):
        shutil.copy(folder / "empty.duckdb", folder / f"{turn}.duckdb")
        with connect(folder / f"{turn}.duckdb") as database:
            request = LoadRequest("synthetic", options={"papers": str(papers), "seed": "1"})
            seconds = _time(lambda database=database, request=request: load(database, request))  # type: ignore[misc]
            best[papers] = min(seconds, best.get(papers, seconds))
            with database.read() as session:
                counts[papers] = int(session.scalar(sa.text("SELECT count(*) FROM citations")))
                titles = "SELECT title || ' ' || coalesce(abstract, '') AS text FROM papers ORDER BY paper_id"
                found = session.rows(sa.text(f"{titles} LIMIT {TEXTS}"))
                texts = [str(row["text"]) for row in found]
    small, large = SIZES
    # One figure for both: a citation costs the share of a paper that the manual tells.
    share = RATES["load_citation_us"].value / RATES["load_paper_us"].value
    weights = [papers + share * counts[papers] for papers in SIZES]
    paper_s, _fixed_s = _split(weights, [best[small], best[large]])
    what = f"loads of {small:,} and {large:,} synthetic papers with {counts[large]:,} citations"
    rates["load_paper_us"] = _measured("load_paper_us", paper_s * 1e6, what, large)
    rates["load_citation_us"] = _measured("load_citation_us", share * paper_s * 1e6, what, large)
    return texts


def _measure_sparse(folder: Path, work: Work, texts: list[str], rates: dict[str, Rate]) -> None:
    import os

    import pyarrow as pa

    from pinakes.indexers.analysis import named_analysis
    from pinakes.indexers.sparse_bm25.analyse import GrowingVocabulary, TextBlock, analyse_documents
    from pinakes.indexers.sparse_bm25.build import BLOCK_ROWS, DEFAULT_ANALYSIS, build_sparse_bm25
    from pinakes.indexers.sparse_bm25.index import SparseBm25Index

    analysis, threads = named_analysis(DEFAULT_ANALYSIS), os.cpu_count() or 1

    def cut(count: int) -> list[TextBlock]:
        return [TextBlock(np.arange(count, dtype=np.int64), pa.array(texts[:count]))]

    def analyse() -> None:
        for _ in analyse_documents(cut(len(texts)), analysis, GrowingVocabulary(), BLOCK_ROWS, None, 1):
            pass

    def build(name: str, count: int) -> None:
        build_sparse_bm25(folder / name, cut(count), threads=threads)

    build("index", WARM)  # compiles the kernels
    kb = sum(len(text.encode()) for text in texts) / 1e3
    what = f"{len(texts):,} synthetic texts of {kb * 1e3 / len(texts):,.0f} bytes"
    rates["terms_us"] = _measured("terms_us", _time(analyse) / kb * 1e6, what, len(texts))
    index_s = _time(lambda: build("index", len(texts)))
    rates["index_us"] = _measured("index_us", index_s / kb * 1e6, what, len(texts))
    size = sum(file.stat().st_size for file in (folder / "index").iterdir())
    rates["index_bytes"] = _measured("index_bytes", size / kb, what, len(texts))
    build("fewer", len(texts) // 4)
    seconds = []
    for name in ("fewer", "index"):
        index = SparseBm25Index.open(folder / name)
        index.search_many(texts[:2], work.depth, threads=threads)
        seconds.append(
            _time(
                lambda index=index: index.search_many(  # type: ignore[misc]
                    texts[:TEXT_QUERIES], work.depth, threads=threads
                )
            )
        )
    counts = len(texts) // 4, len(texts)
    paper_s, query_s = _split(counts, [one * threads / min(TEXT_QUERIES, len(texts)) for one in seconds])
    what = f"{TEXT_QUERIES} texts as queries of {counts[0]:,} and {counts[1]:,} synthetic texts"
    rates["rank_ns"] = _measured("rank_ns", paper_s * 1e9, what, len(texts))
    rates["rank_query_us"] = _measured("rank_query_us", query_s * 1e6, what)


def _split(counts: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """Seconds an item, and those that depend on no item, of two measurements; each above 0.

    Where others on the machine made the larger one the faster, all of its seconds are its items'.
    """
    each = (seconds[1] - seconds[0]) / (counts[1] - counts[0])
    if each <= 0:
        each = seconds[1] / counts[1]
    return each, max(seconds[0] - each * counts[0], 1e-9)


def _measure_search(work: Work, rates: dict[str, Rate]) -> None:
    import os

    from pinakes.indexers.exact.search import search_exact

    random = np.random.default_rng(1)
    # Clustered, with a spectrum that decays, as vectors of texts are; isotropic ones take longer.
    scale = (1.0 + np.arange(work.dimensions, dtype=np.float32)) ** -0.5
    centres = scale * random.standard_normal((CENTRES, work.dimensions), dtype=np.float32)

    def draw(count: int) -> Any:
        near = scale * random.standard_normal((count, work.dimensions), dtype=np.float32)
        return centres[random.integers(0, CENTRES, count)] + near

    most = max(50, min(VECTORS, MOST_NUMBERS // work.dimensions))
    counts = most // 5, most
    queries, documents, cores = draw(VECTOR_QUERIES), draw(most), os.cpu_count() or 1
    search_exact(queries[:2], documents[:1_000], 10)  # compiles the kernels
    seconds = [
        _time(lambda count=count: search_exact(queries, documents[:count], work.depth))  # type: ignore[misc]
        for count in counts
    ]
    paper_s, query_s = _split(counts, [one * cores / VECTOR_QUERIES for one in seconds])
    vectors = f"{counts[0]:,} and {counts[1]:,} x {work.dimensions} in {CENTRES} clusters"
    what = f"{VECTOR_QUERIES:,} queries of {vectors}"
    gflops = 2.0 * work.dimensions / paper_s / 1e9
    rates["search_core_gflops"] = _measured("search_core_gflops", gflops, what, most)
    rates["search_query_us"] = _measured("search_query_us", query_s * 1e6, what)


def _measure_encoding(folder: Path, work: Work, texts: list[str], rates: dict[str, Rate]) -> None:
    import os

    from pinakes.indexers.encoder.encode import encode_texts
    from pinakes.indexers.encoder.model import load_encoder
    from pinakes.indexers.encoder.presets import resolve_model

    layers = min(MOST_LAYERS, max(1, round(work.parameters / (12 * work.dimensions**2))))
    words = sorted({word for text in texts[:500] for word in text.lower().split() if word.isalpha()})
    shape = write_random_encoder(folder / "encoder", work.dimensions, layers, words)
    encoder: Any = load_encoder(resolve_model(folder / "encoder"), max_tokens=min(work.tokens, 512))
    # Words of the vocabulary are a token each, so that every text has as many as are asked for.
    text = " ".join((words * work.tokens)[: work.tokens])

    def encode(count: int) -> int:
        given = ((number, text) for number in range(count))
        return sum(len(batch.keys) for batch in encode_texts(encoder, given))

    encode(1)
    count, seconds = 1, 0.0
    while seconds < ENCODE_S:  # a batch is full at last, and what starts it is little of it
        count *= 2
        seconds = _time(lambda count=count: encode(count))  # type: ignore[misc]
    tokens = min(work.tokens, 512)
    flop = count * (2.0 * shape * tokens + 4 * layers * work.dimensions * tokens**2)
    gflops = flop / seconds / 1e9 / (os.cpu_count() or 1)
    what = (
        f"{count} texts of {tokens} tokens, random weights, {layers} layers of {work.dimensions}, "
        f"{encoder.precision}"
    )
    rates["encode_core_gflops"] = _measured("encode_core_gflops", gflops, what)


def _time(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
