"""How fast each part of the work goes and what it takes, each number with its unit and where it is from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from pinakes.cluster import needs
from pinakes.errors import InputError, UnknownNameError, show
from pinakes.faults import told_as
from pinakes.writing.files import open_whole

Origin = Literal["measured", "file", "manual", "assumed"]
ORIGINS: Final[tuple[Origin, ...]] = ("measured", "file", "manual", "assumed")
"""measured by this command, read from a file, measured elsewhere and told in the manual, or assumed; a step
is no better known than the last of these that it takes"""

_MDCR: Final = "speed_large.md, benchmarks/mdcr.py, 2.2M papers, two cores of an Intel Xeon with AMX"
_LOAD: Final = "speed_loading.md, benchmarks/load.py, 2M papers, two cores of an AMD EPYC with AVX2"
_TEXT: Final = (
    "speed_searching.md, benchmarks/analysis.py, 200,000 texts of 1,212 bytes, "
    "two cores of an AMD EPYC with AVX2"
)
_RANK: Final = (
    "speed_searching.md, benchmarks/bm25.py, 3,800 queries of 230 terms, two cores of an AMD EPYC with AVX2"
)
_RUNS: Final = "benchmarks/plan.py --quick, peak memory at 2,000 to 32,000 papers, two cores of an AMD EPYC"


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of the model.

    Attributes:
        value: the number, above 0.
        unit: what it counts, for what.
        origin: where it is from.
        source: the same in words.
        papers: at how many papers, or texts, it was measured; 0: it does not depend on a size, or is assumed.
    """

    value: float
    unit: str
    origin: Origin
    source: str
    papers: int = 0


def _told(value: float, unit: str, source: str, papers: int) -> Rate:
    return Rate(value, unit, "manual", source, papers)


def _assumed(value: float, unit: str, source: str) -> Rate:
    return Rate(value, unit, "assumed", source)


RATES: Final[Mapping[str, Rate]] = {
    # time
    "command_s": _told(1.0, "s a command", "speed_searching.md, one search by bm25 in a new process", 0),
    "encoder_s": _told(
        3.7, "s a command with an encoder", "speed_searching.md, one search by minilm in a new process", 0
    ),
    "load_paper_us": _told(27.5, "µs a paper", f"55 s; {_LOAD}", 2_000_000),
    "load_citation_us": _told(
        0.88, "µs a citation", f"29 s for 19.4M citations, less 12 s of load_lookup_ps; {_LOAD}", 2_000_000
    ),
    "load_lookup_ps": _assumed(
        0.31,
        "ps a citation and paper",
        "each batch's ids are looked up in whole columns: what 84 s for 2M papers are more than twice the "
        "39 s for 1M (speed_loading.md), of two runs on cores that others used",
    ),
    "terms_us": _told(10.0, "µs a KB of text and core", f"12.1 µs a text; {_TEXT}", 200_000),
    "index_us": _told(11.3, "µs a KB of text on one machine", f"13.7 µs a text; {_TEXT}", 200_000),
    "postings_us": _assumed(
        1.3, "µs a KB of text in the driver", "index_us less terms_us; numbering terms again was not measured"
    ),
    "encode_core_gflops": _told(
        322.0,
        "Gflop/s a core",
        "cluster.md: 128 texts of 256 tokens, BERT-base's shape, bf16, two cores with AVX-512 bf16",
        0,
    ),
    "encode_gpu_tflops": _told(
        366.0, "Tflop/s a GPU", "4.6 Tflop in 12.6 ms, BERT-base's shape, bf16; gpu.md, an H100", 0
    ),
    "tokenise_us": _told(
        2.14, "µs a token and core, beside a GPU", "8.3 s for 3.87M tokens in 16 threads; gpu.md", 0
    ),
    "search_core_gflops": _told(
        152.0,
        "Gflop/s a core",
        "38.3 s for 3,800 x 2M x 768; speed_searching.md, benchmarks/exact_search.py, "
        "two cores of an AMD EPYC",
        2_000_000,
    ),
    "search_query_us": _told(
        160.0,
        "µs a query, pass and core",
        "1.23 s for 10,000 and 6.7 s for 100,000 vectors; speed_searching.md, benchmarks/exact_search.py, "
        "busy cores",
        0,
    ),
    "search_gpu_tflops": _told(
        23.9,
        "Tflop/s a GPU",
        "0.49 s for 3,800 x 2M x 768 in memory, copies counted; gpu.md, an H100",
        2_000_000,
    ),
    "rank_ns": _told(
        6.6, "ns a query, paper and core", f"3.6 s for 200,000 papers and 26.0 s for 2M; {_RANK}", 2_000_000
    ),
    "rank_query_us": _told(580.0, "µs a query, pass and core", f"what 3.6 s are more than that; {_RANK}", 0),
    "sample_us": _told(2.1, "µs a paper or citation", f"17 and 33 s of SQL; {_MDCR}", 2_200_000),
    "construct_us": _told(0.64, "µs a paper or citation", f"15 s of SQL; {_MDCR}", 2_200_000),
    "store_us": _told(0.55, "µs a hit", "speed_loading.md, benchmarks/import_run.py, 1M hits into DuckDB", 0),
    "evaluate_us": _told(0.22, "µs a hit", f"10 s for 45.6M hits; {_MDCR}", 0),
    "postgresql_load": _told(
        2.9, "times DuckDB", "157 and 55 s; speed_loading.md, 2M papers with citations", 2_000_000
    ),
    "postgresql_sql": _told(
        5.0, "times DuckDB", "45 and 79 s to 11 and 14 s; speed_large.md, large pools", 2_200_000
    ),
    "postgresql_hits": _told(2.1, "times DuckDB", "25 s to 12 s; speed_large.md, 45.6M hits", 0),
    "sharing": _assumed(1.0, "of the sum of the machines' rates", "no run on several machines was measured"),
    # disk
    "paper_bytes": _told(
        326.0, "bytes a paper in DuckDB", "speed_loading.md, 326 MB for 1M papers", 1_000_000
    ),
    "citation_bytes": _told(
        65.0, "bytes a citation in DuckDB", "speed_large.md, 1.4 GB for 21.4M mentions", 2_200_000
    ),
    "postgresql_bytes": _told(
        2.8,
        "times DuckDB",
        "183 bytes a mention with its indexes (4.4 GB for 24M) to 65; speed_large.md",
        2_000_000,
    ),
    "index_bytes": _told(
        293.0, "bytes a KB of text", "speed_searching.md, 711 MB for 2M texts of 1,212 bytes", 2_000_000
    ),
    "hit_bytes": _assumed(24.0, "bytes a hit", "three numbers of eight bytes"),
    # memory
    "libraries_bytes": _told(needs.LIBRARIES_BYTES, "bytes a process", _RUNS, 0),
    "torch_bytes": _told(needs.TORCH_BYTES, "bytes a process with an encoder", _RUNS, 0),
    "load_bytes": _told(
        1.4e9, "bytes of a load", "speed_loading.md, 1,386 MiB for 0.8M papers; bounded by --memory", 0
    ),
    "load_paper_memory": _told(
        55.0, "bytes a paper", "speed_loading.md, 1,386 MiB for 0.8M papers and 1,708 for 6.9M", 6_900_000
    ),
    "index_paper_memory": _told(
        100.0, "bytes a paper", "speed_searching.md, 0.5 GB for 2M texts, less libraries", 2_000_000
    ),
    "run_paper_memory": _assumed(
        40.0, "bytes a paper", "ids, ranks among equals and the order, eight bytes each"
    ),
    "load_batch_memory": _told(10_900.0, "bytes a paper, of a load that is small", _RUNS, 32_000),
    "cache_paper_memory": _told(2_600.0, "bytes a paper that DuckDB keeps, within its share", _RUNS, 32_000),
    "sql_paper_memory": _told(
        1_400.0, "bytes a paper of a draw, within --memory", f"3.3 GB, less libraries; {_MDCR}", 2_200_000
    ),
    "evaluate_hit_memory": _told(33.0, "bytes a hit", f"1.8 GB for 45.6M hits, less libraries; {_MDCR}", 0),
    "encoder_memory": _assumed(
        needs.PARAMETER_BYTES,
        "bytes a parameter",
        "weights of four bytes and the copy of half precision that is compared",
    ),
}
"""the rates that a plan takes unless a file, or a measurement, says others"""


def read_rates(path: Path) -> dict[str, Rate]:
    """All rates, with those of a file in place of the usual ones.

    The file is JSON: `{"rates": {NAME: {"value": 1.0, "papers": 1000, "source": "…"}}}`; `papers` and
    `source` may be left out, and so may rates.

    Raises:
        InputError: the file cannot be read, is of another form, or a value is no number above 0.
        UnknownNameError: there is no such rate.
    """
    with told_as(InputError, f"{path} cannot be read"):
        text = path.read_bytes()
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path} is no JSON ({error}); expected what --rates-to writes.") from error
    given = content.get("rates") if isinstance(content, dict) else None
    if not isinstance(given, dict):
        raise InputError(f'{path} has no rates; expected {{"rates": {{NAME: {{"value": NUMBER}}}}}}.')
    return replace_rates({name: _read_rate(path, name, one) for name, one in given.items()})


def replace_rates(others: Mapping[str, Rate]) -> dict[str, Rate]:
    """The usual rates with others in place of those of the same names."""
    for name in others:
        if name not in RATES:
            raise UnknownNameError("rate", name, list(RATES))
    return {**RATES, **others}


def _read_rate(path: Path, name: str, given: Any) -> Rate:
    if name not in RATES:
        raise UnknownNameError("rate", name, list(RATES))
    read: dict[str, Any] = given if isinstance(given, dict) else {}
    value: Any = read.get("value")
    papers: Any = read.get("papers", 0)
    if not _is_number(value) or value <= 0 or not isfinite(value):
        raise InputError(f"{path}: the value of {name} is {show(value)}; expected a number above 0.")
    if not isinstance(papers, int) or isinstance(papers, bool) or papers < 0:
        raise InputError(f"{path}: the papers of {name} are {show(papers)}; expected a whole number.")
    source = str(read.get("source") or f"{path.name}, which says no more")
    return replace(RATES[name], value=float(value), origin="file", source=source, papers=papers)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def write_rates(path: Path, rates: Mapping[str, Rate], machine: Mapping[str, object]) -> None:
    """Write those rates that were measured, with a description of the machine, as `read_rates` reads them."""
    measured = {
        name: {"value": rate.value, "unit": rate.unit, "papers": rate.papers, "source": rate.source}
        for name, rate in rates.items()
        if rate.origin == "measured"
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    with open_whole(path) as stream:
        stream.write(orjson.dumps({"machine": dict(machine), "rates": measured}, option=options))


def find_origin(rates: Iterable[Rate]) -> Origin:
    """The least certain origin of some rates."""
    return max((rate.origin for rate in rates), key=ORIGINS.index)
