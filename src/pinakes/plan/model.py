"""Seconds, memory, disk and network of the steps of an evaluation, and at how many papers something breaks.

Costs are linear in papers, citations, texts and hits, with a fixed part for each command, but for the ids
that a load into DuckDB looks up, each batch in whole columns. No figure is a promise: `benchmarks/plan.py`
holds them against runs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Final, Literal

from pinakes.cluster import needs
from pinakes.memory import DEFAULT_SHARE
from pinakes.plan.rates import Origin, Rate, find_origin

Resource = Literal["CPU", "GPU", "disk", "network", "one process"]
FRAGMENT_ROWS: Final = 65_536
"""vectors that a worker of exact search has at once (`cluster.fragments`)"""
ANALYSED_ROWS: Final = 8 * 2_048
"""texts that a worker of `sparse_bm25` has at once (`cluster.sparse`)"""
ENCODED_ROWS: Final = 8_192
"""texts that a worker of an encoder has at once (`index`)"""
CHUNK_BYTES: Final = 64 << 20
"""bytes of a file that a worker of a load has at once (`loaders.staging`)"""
NUMBERED_PAPERS: Final = 1 << 32
"""ranks among equal scores are uint32"""
_TOKEN_BYTES: Final = 4
_HEAP_BYTES: Final = 16
_FP32: Final = 4
_MOST_PAPERS: Final = 1 << 44


@dataclass(frozen=True, slots=True)
class Work:
    """What is evaluated.

    Attributes:
        papers: papers of the corpus; all of them are indexed, encoded and searched.
        citations: citations a paper makes, in the mean.
        text_bytes: title and abstract of a paper, in the mean.
        tokens: of the same text, as the encoder cuts it.
        parameters: of the encoder's layers, without its table of words.
        dimensions: of a vector.
        queries: queries of the benchmark.
        depth: papers kept of each ranking.
        pools: pools in which every query is asked; nested ones are searched in one pass.
        passes: passes over all papers for them.
    """

    papers: int
    citations: float = 10.0
    text_bytes: int = 1_212
    tokens: int = 256
    parameters: float = 85e6
    dimensions: int = 768
    queries: int = 3_800
    depth: int = 500
    pools: int = 1
    passes: int = 1

    @property
    def hits(self) -> int:
        """Of both systems, in all pools."""
        return 2 * self.pools * self.queries * min(self.depth, self.papers)

    @property
    def text_kb(self) -> float:
        """All texts, in KB."""
        return self.papers * self.text_bytes / 1e3

    @property
    def encode_flop(self) -> float:
        """Multiplications and additions of the layers for all texts, those of attention with them.

        A layer of width d has 12 d² parameters; attention adds 4 d a pair of tokens.
        """
        layers = self.parameters / (12 * self.dimensions**2)
        attention = 4 * layers * self.dimensions * self.tokens**2
        return self.papers * (2 * self.parameters * self.tokens + attention)


@dataclass(frozen=True, slots=True)
class Machines:
    """What it is evaluated on.

    Attributes:
        nodes: machines.
        cores: of a machine.
        gpus: of all machines together.
        memory: bytes of a machine.
        network: bytes a second of a machine.
        disk_rate: bytes a second of the disk, or of the storage that all machines share.
        disk: bytes that are free there; None: not checked.
        database: duckdb or postgresql.
    """

    nodes: int = 1
    cores: int = 1
    gpus: int = 0
    memory: int = 8_000_000_000
    network: float = 1.25e9
    disk_rate: float = 5e8
    disk: int | None = None
    database: Literal["duckdb", "postgresql"] = "duckdb"


@dataclass(frozen=True, slots=True)
class Step:
    """What one step takes.

    Attributes:
        step: its name.
        seconds: of the resource that takes longest, and of the command's start.
        bound: that resource.
        driver_bytes: peak memory of the command.
        worker_bytes: peak memory of each worker; 0: it has none, or is alone.
        workers: how many of them a machine has.
        disk_bytes: what is written and stays.
        network_bytes: what goes between machines.
        rates: the least certain of the rates that it takes.
        beyond: how many times as many papers as the rate with the fewest was measured at; 0: none says.
        assumed: the rates that are assumed.
    """

    step: str
    seconds: float
    bound: Resource
    driver_bytes: float
    worker_bytes: float
    workers: int
    disk_bytes: float
    network_bytes: float
    rates: Origin
    beyond: float
    assumed: tuple[str, ...]

    @property
    def node_bytes(self) -> float:
        """Peak memory of the machine that has the driver and its share of workers."""
        return self.driver_bytes + self.workers * self.worker_bytes


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that breaks.

    Attributes:
        what: in words.
        papers: from how many papers on it does.
        reached: the work has as many.
    """

    what: str
    papers: int
    reached: bool


class _Reader:
    """Rates by name, and which of them a step has asked for."""

    def __init__(self, rates: Mapping[str, Rate]) -> None:
        self._rates = rates
        self.read: dict[str, Rate] = {}

    def __call__(self, name: str) -> float:
        self.read[name] = self._rates[name]
        return self._rates[name].value


def predict(work: Work, machines: Machines, rates: Mapping[str, Rate]) -> list[Step]:
    """The steps in their order."""
    model = _Model(work, machines, rates)
    return [make() for make in model.steps]


class _Model:
    def __init__(self, work: Work, machines: Machines, rates: Mapping[str, Rate]) -> None:
        self._work, self._on, self._rates = work, machines, rates
        self._is_shared = machines.nodes > 1
        self.steps: tuple[Callable[[], Step], ...] = (
            self._load,
            self._index,
            self._encode,
            *((self._fragments,) if self._is_shared else ()),
            self._search,
            self._rank,
            self._sample,
            self._construct,
            self._evaluate,
        )

    def _load(self) -> Step:
        rate, work = _Reader(self._rates), self._work
        times = self._database(rate, "postgresql_load")
        cited = work.papers * work.citations
        cpu_s = times * work.papers * rate("load_paper_us") / 1e6
        cpu_s += times * cited * rate("load_citation_us") / 1e6
        if self._on.database == "duckdb":  # Postgres has an index
            cpu_s += cited * work.papers * rate("load_lookup_ps") / 1e12
        disk = self._database(rate, "postgresql_bytes") * (
            work.papers * rate("paper_bytes") + cited * rate("citation_bytes")
        )
        whole = rate("load_bytes") + work.papers * rate("load_paper_memory")
        memory = min(whole, rate("libraries_bytes") + work.papers * rate("load_batch_memory"))
        worker = needs.read_files(CHUNK_BYTES, rate("libraries_bytes")) if self._is_shared else 0.0
        workers = self._on.cores if self._is_shared else 0
        return self._make("load", rate, {"one process": cpu_s}, memory, worker, workers, disk)

    def _index(self) -> Step:
        rate, work, on = _Reader(self._rates), self._work, self._on
        memory = self._cache(rate) + rate("libraries_bytes") + work.papers * rate("index_paper_memory")
        disk = work.text_kb * rate("index_bytes")
        if not self._is_shared:
            taken: dict[Resource, float] = {"CPU": work.text_kb * rate("index_us") / 1e6}
            return self._make("index, sparse_bm25", rate, taken, memory, disk=disk)
        # A word of a text of six letters with its space becomes a number of four bytes.
        network = work.papers * work.text_bytes * (1 + _TOKEN_BYTES / 6)
        taken = {
            "CPU": work.text_kb * rate("terms_us") / 1e6 / self._places("CPU", rate),
            "one process": work.text_kb * rate("postings_us") / 1e6,
            "network": network / on.network,
        }
        worker = needs.analyse(ANALYSED_ROWS * work.text_bytes, rate("libraries_bytes"))
        return self._make("index, sparse_bm25", rate, taken, memory, worker, on.cores, disk, network)

    def _encode(self) -> Step:
        rate, work, on = _Reader(self._rates), self._work, self._on
        vectors = work.papers * work.dimensions * _FP32
        seconds = self._compute(rate, work.encode_flop, "encode")
        if on.gpus:  # on a CPU the tokeniser is counted with the model
            seconds["CPU"] = work.papers * work.tokens * rate("tokenise_us") / 1e6 / self._places("CPU", rate)
        model = rate("torch_bytes") + work.parameters * rate("encoder_memory")
        window = ENCODED_ROWS * (work.text_bytes + work.dimensions * _FP32)
        if not self._is_shared:
            memory = model + window + self._cache(rate)
            return self._make("encode", rate, seconds, memory, disk=vectors, start="encoder_s")
        network = work.papers * work.text_bytes + vectors
        workers = ceil(on.gpus / on.nodes) if on.gpus else on.cores
        driver = rate("libraries_bytes") + workers * on.nodes * 3 * window + self._cache(rate)
        seconds["network"] = network / on.network  # of the driver, through which all of it goes
        given = (work.parameters, ENCODED_ROWS, work.text_bytes, work.dimensions)
        worker = needs.encode(*given, rate("torch_bytes"), rate("encoder_memory"))
        return self._make("encode", rate, seconds, driver, worker, workers, vectors, network, "encoder_s")

    def _fragments(self) -> Step:
        rate, work = _Reader(self._rates), self._work
        vectors = work.papers * work.dimensions * _FP32
        memory = self._cache(rate) + rate("libraries_bytes") + work.papers * rate("run_paper_memory")
        taken: dict[Resource, float] = {"network": vectors / self._on.network}
        return self._make("vectors in fragments", rate, taken, memory, disk=vectors, network=vectors)

    def _search(self) -> Step:
        rate, work, on = _Reader(self._rates), self._work, self._on
        vectors = work.papers * work.dimensions * _FP32
        flop = 2.0 * work.passes * work.queries * work.papers * work.dimensions
        seconds = self._compute(rate, flop, "search")
        if not on.gpus:
            each_s = rate("search_query_us") / 1e6 / self._places("CPU", rate)
            seconds["CPU"] += work.passes * work.queries * each_s
        seconds["disk"] = work.passes * vectors / on.disk_rate
        hits = work.queries * min(work.depth, work.papers)
        best = hits * _HEAP_BYTES
        rows = min(FRAGMENT_ROWS, work.papers)
        fragment = rows * work.dimensions * _FP32 * 3
        queries = work.queries * work.dimensions * _FP32 * 2
        driver = rate("torch_bytes") + work.papers * rate("run_paper_memory") + best * work.pools + queries
        driver += self._cache(rate)
        if not self._is_shared:
            return self._make("exact search", rate, seconds, driver + fragment, start="encoder_s")
        network = work.passes * vectors
        seconds["network"] = network / on.nodes / on.network
        workers = ceil(on.gpus / on.nodes) if on.gpus else on.cores
        pools = ceil(work.pools / work.passes)  # nested ones of a pass
        given = (rows, work.dimensions, work.queries, pools * hits)
        worker = needs.search(*given, rate("torch_bytes"))
        return self._make(
            "exact search", rate, seconds, driver, worker, workers, network=network, start="encoder_s"
        )

    def _rank(self) -> Step:
        rate, work, on = _Reader(self._rates), self._work, self._on
        index = work.text_kb * rate("index_bytes")
        query_s = work.papers * rate("rank_ns") / 1e9 + rate("rank_query_us") / 1e6
        cpu_s = work.passes * work.queries * query_s
        taken: dict[Resource, float] = {
            "CPU": cpu_s / self._places("CPU", rate),
            "disk": index / on.disk_rate,
        }
        driver = self._cache(rate) + rate("libraries_bytes") + work.papers * rate("run_paper_memory")
        if not self._is_shared:  # the files of the index are mapped, and no memory of the process
            return self._make("ranking, sparse_bm25", rate, taken, driver)
        taken["network"] = index / on.network  # a machine may be asked for every block
        hits = work.queries * min(work.depth, work.papers)
        worker = needs.rank_terms(hits, libraries=rate("libraries_bytes"))
        return self._make(
            "ranking, sparse_bm25", rate, taken, driver, worker, on.cores, network=index * on.nodes
        )

    def _sample(self) -> Step:
        return self._sql("pools in SQL", "sample_us")

    def _construct(self) -> Step:
        return self._sql("construction in SQL", "construct_us")

    def _sql(self, name: str, time: str) -> Step:
        rate, work = _Reader(self._rates), self._work
        rows = work.papers * (1 + work.citations)
        seconds = self._database(rate, "postgresql_sql") * rows * rate(time) / 1e6
        memory = rate("libraries_bytes") + work.papers * rate("sql_paper_memory")
        memory = min(memory, self._on.memory * DEFAULT_SHARE)  # beyond it DuckDB writes to its folder
        return self._make(name, rate, {"one process": seconds}, memory)

    def _evaluate(self) -> Step:
        rate, work = _Reader(self._rates), self._work
        times = self._database(rate, "postgresql_hits")
        seconds = times * work.hits * (rate("store_us") + rate("evaluate_us")) / 1e6
        # Runs are scored one after another; the largest holds the hits of one system.
        memory = rate("libraries_bytes") + work.hits / 2 * rate("evaluate_hit_memory")
        disk = work.hits * rate("hit_bytes")
        return self._make("hits stored and scored", rate, {"one process": seconds}, memory, disk=disk)

    def _compute(self, rate: _Reader, flop: float, kind: str) -> dict[Resource, float]:
        """Seconds of the GPUs, where there are any, else of the cores."""
        if self._on.gpus:
            return {"GPU": flop / (rate(f"{kind}_gpu_tflops") * 1e12 * self._places("GPU", rate))}
        return {"CPU": flop / (rate(f"{kind}_core_gflops") * 1e9 * self._places("CPU", rate))}

    def _places(self, kind: Resource, rate: _Reader) -> float:
        count = self._on.gpus if kind == "GPU" else self._on.nodes * self._on.cores
        return count * rate("sharing") if self._is_shared else count

    def _cache(self, rate: _Reader) -> float:
        """What DuckDB keeps of what it reads and writes, within its third of a command's memory."""
        if self._on.database == "postgresql":
            return 0.0
        kept = self._work.papers * rate("cache_paper_memory")
        return min(kept, self._on.memory * DEFAULT_SHARE / 3)

    def _database(self, rate: _Reader, name: str) -> float:
        return rate(name) if self._on.database == "postgresql" else 1.0

    def _make(
        self,
        name: str,
        rate: _Reader,
        taken: dict[Resource, float],
        driver: float,
        worker: float = 0.0,
        workers: int = 0,
        disk: float = 0.0,
        network: float = 0.0,
        start: str = "command_s",
    ) -> Step:
        start_s = rate(start)
        taken["disk"] = max(taken.get("disk", 0.0), disk / self._on.disk_rate)
        bound = max(taken, key=lambda resource: taken[resource])
        sizes = [one.papers for one in rate.read.values() if one.papers]
        return Step(
            name,
            start_s + taken[bound],
            bound,
            driver,
            worker,
            workers,
            disk,
            network,
            find_origin(rate.read.values()),
            self._work.papers / min(sizes) if sizes else 0.0,
            tuple(sorted(one for one, found in rate.read.items() if found.origin == "assumed")),
        )


def find_limits(
    work: Work, machines: Machines, rates: Mapping[str, Rate], most_s: float = 86_400.0
) -> list[Limit]:
    """What breaks, by the number of papers from which on it does, all else as it is; the first one first.

    Args:
        work: what is evaluated.
        machines: what it is evaluated on.
        rates: those of the model.
        most_s: seconds that a step of one process may take, since no further machine shortens it.
    """

    def at(papers: int) -> list[Step]:
        return predict(replace(work, papers=papers), machines, rates)

    found = []
    for what, breaks in _list_breaks(at(work.papers), machines, most_s):
        papers = _find_first(lambda count, breaks=breaks: breaks(at(count)))  # type: ignore[misc]
        if papers is not None:
            found.append(Limit(what, papers, work.papers >= papers))
    ranks = "ranks among equal scores, which are uint32"
    found.append(Limit(ranks, NUMBERED_PAPERS, work.papers >= NUMBERED_PAPERS))
    return sorted(found, key=lambda limit: limit.papers)


Breaks = Callable[[list[Step]], bool]


def _list_breaks(steps: list[Step], machines: Machines, most_s: float) -> Iterator[tuple[str, Breaks]]:
    for place, step in enumerate(steps):

        def outgrows(found: list[Step], place: int = place) -> bool:
            return found[place].node_bytes > machines.memory

        yield f"memory of a machine, {step.step}", outgrows
        if step.bound == "one process":

            def is_late(found: list[Step], place: int = place) -> bool:
                return found[place].seconds > most_s

            yield f"time of one process, {step.step}", is_late
    if machines.disk is not None:
        free = machines.disk
        yield "disk", lambda found: sum(step.disk_bytes for step in found) > free


def _find_first(breaks: Callable[[int], bool]) -> int | None:
    """The least number of papers at which something breaks, which it then does at any more; None: at none."""
    if not breaks(_MOST_PAPERS):
        return None
    low, high = 0, _MOST_PAPERS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if breaks(middle) else (middle, high)
    return high
