"""What the table of `all.py` has of each benchmark: the rows that stand for it, read from its JSON.

Leaves out: everything else that a benchmark tells; its own table and JSON have that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Measured = dict[str, Any]

OTHER_FORM = (KeyError, TypeError, ZeroDivisionError)
"""what reading JSON raises that a script of another version wrote"""


@dataclass(frozen=True)
class Compared:
    """One row: seconds of ours, of a peer and of a limit for the same work, and our peak memory.

    A limit is what the machine could do: the same arithmetic at the rate of a bare product, the same file
    read and no more. None: there is no peer, no limit, or the memory was not measured. `what` is the same at
    any size of the same work, and `database` is named where several are measured.
    """

    what: str
    ours_s: float
    peer: str = ""
    peer_s: float | None = None
    limit: str = ""
    limit_s: float | None = None
    memory_mib: float | None = None
    database: str = ""

    def describe(self) -> dict[str, Any]:
        """The columns of the table; ratios above 1: ours is faster than the peer, or than the limit."""
        return {
            "what": f"{self.what}, {self.database}" if self.database else self.what,
            "ours s": self.ours_s,
            "peer": self.peer or "none",
            "peer s": self.peer_s,
            "limit": self.limit or "none",
            "limit s": self.limit_s,
            "to peer": self.peer_s / self.ours_s if self.peer_s else None,
            "to limit": self.limit_s / self.ours_s if self.limit_s else None,
            "MiB": self.memory_mib,
        }


def compare(script: str, measured: Measured) -> list[Compared]:
    """The rows of a benchmark, by the name of its script and its JSON; `KeyError` where it has no reader."""
    return list(READERS[script](measured))


def _analysis(measured: Measured) -> Iterator[Compared]:
    rows = {row["what"]: row for row in measured["rows"]}
    processor_s = {name: row["processor µs/paper"] * measured["papers"] / 1e6 for name, row in rows.items()}
    for ours, peers in (
        ("pinakes analyse, one thread", ("bm25s tokenize", "tantivy analyze")),
        ("pinakes index", ("tantivy index",)),
    ):
        for peer in [name for name in peers if name in rows] or [""]:
            given = (peer, processor_s.get(peer), "bare split", processor_s["bare split"])
            what = f"{ours}, processor time"
            yield Compared(what, processor_s[ours], *given, rows[ours]["peak MiB"])


def _approximate(measured: Measured) -> Iterator[Compared]:
    count, exact_s = measured["queries"], measured["queries"] / measured["exact_queries_per_s"]
    good = [row for row in measured["rows"] if row["recall@10"] >= 0.95]
    for name in ("faiss hnsw", "pgvector hnsw vector"):
        best = max((row["queries/s"] for row in good if row["system"] == name), default=None)
        if best:
            yield Compared(f"{name}, recall 0.95", count / best, "exact search", exact_s)


def _augmentation(measured: Measured) -> Iterator[Compared]:
    for row in measured["rows"]:
        if row["sentences"] == 1000:
            what = f"augmentation, 1,000 sentences, {row['variant']}"
            yield Compared(
                what, row["ms"] / 1000, f"loop, {row['loop']}", row["loop s"], "", None, row["peak MB"]
            )


def _bm25(measured: Measured) -> Iterator[Compared]:
    by_name = {row["system"]: row for row in measured["rows"]}
    ours = by_name.pop("pinakes")
    peers = by_name or {"": {"batch s": None, "index s": None}}
    for name, peer in peers.items():
        given = (name, peer["batch s"], "", None, ours["peak MiB"])
        yield Compared("BM25, batch of long queries", ours["batch s"], *given)
        own_ms = [measured.get(f"ms_per_own_pool_{one}") for one in ("pinakes", name)]
        if all(own_ms):
            yield Compared("BM25, an own pool of 1,000", own_ms[0] / 1000, name, own_ms[1] / 1000)
        yield Compared(
            "BM25, index", ours["index s"], name, peer["index s"], memory_mib=measured["build_peak_MiB"]
        )


def _bm25_sql(measured: Measured) -> Iterator[Compared]:
    for corpus in dict.fromkeys(row["corpus"] for row in measured["rows"]):
        ways = {row["way"]: row["ms a query"] / 1000 for row in measured["rows"] if row["corpus"] == corpus}
        what = f"BM25 by one SQL join, a query of {corpus}"
        yield Compared(what, ways["SQL, one join"], limit="the index", limit_s=ways["index, together"])


def _csfcube(measured: Measured) -> Iterator[Compared]:
    whole = measured["after indexing, DuckDB and Postgres s"]
    peak = max(row["peak MiB"] for row in measured["rows"])
    yield Compared(
        "CSFCube's tables on both databases", whole, limit="a minute", limit_s=60.0, memory_mib=peak
    )


def _encode(measured: Measured) -> Iterator[Compared]:
    rows = {row["system"]: row for row in measured["rows"]}
    peer = rows.pop("sentence-transformers")
    for name, row in rows.items():
        seconds = measured["texts"] / row["docs/s"]
        limit_s = seconds * row["fraction of matrix rate"]
        given = ("sentence-transformers", measured["texts"] / peer["docs/s"], "matrix rate", limit_s)
        yield Compared(f"encoding, {name.removeprefix('pinakes ')}", seconds, *given)


def _exact_search(measured: Measured) -> Iterator[Compared]:
    rows = {row["system"]: row for row in measured["rows"]}
    peer = rows.pop("faiss IndexFlatIP", {})
    for name, row in rows.items():
        limit_s = row["seconds"] * row["of fp32 rate"]
        given = ("faiss IndexFlatIP" if peer else "", peer.get("seconds"), "fp32 product", limit_s)
        what = "exact search in memory" if name.endswith("in memory") else "exact search"
        yield Compared(what, row["seconds"], *given, row["peak RSS MiB"])


def _hits(measured: Measured) -> Iterator[Compared]:
    rows = {(row["database"], row["what"]): row["s"] for row in measured["rows"]}
    for name in ("duckdb", "postgresql"):
        given = ("rows of Python", rows[name, "rows of Python"], "a pass in SQL", rows[name, "a pass"])
        yield Compared("hits read", rows[name, "read"], *given, database=name)


def _import_run(measured: Measured) -> Iterator[Compared]:
    rows = {row["what"]: row for row in measured["rows"]}
    limit_s = rows["DuckDB read_csv"]["seconds"]
    for peer in ("pandas read_csv", "pytrec_eval parse_run"):
        ours = rows["import-run"]
        given = (peer, rows[peer]["seconds"], "DuckDB read_csv", limit_s, ours["peak MiB"])
        yield Compared("import-run", ours["seconds"], *given, "duckdb")
    ours, bare = (rows[name] for name in ("import-run, Postgres", "bare COPY, Postgres"))
    given = ("", None, "bare COPY", bare["seconds"], ours["peak MiB"])
    yield Compared("import-run", ours["seconds"], *given, "postgresql")


def _load(measured: Measured) -> Iterator[Compared]:
    rows = {(row["database"], row["what"]): row for row in measured["rows"]}
    for (database, what), row in rows.items():
        if database not in ("duckdb", "postgresql") or what.startswith(("pandas", "bare")):
            continue
        limit, limit_s = "bare DuckDB", row["to bare"] * row["seconds"]
        copied = rows.get((database, f"bare COPY, {what.removesuffix(', again')}"))
        if copied:
            limit, limit_s = "bare COPY", copied["seconds"]
        peer_s = row["to pandas"] * row["seconds"] if row["to pandas"] else None
        given = ("pandas" if peer_s else "", peer_s, limit, limit_s, row["peak MiB"])
        yield Compared(f"load, {what}", row["seconds"], *given, database)


def _mdcr(measured: Measured) -> Iterator[Compared]:
    sql_s = measured["pool-building SQL s"]
    limit_s = sql_s / measured["of its limit"]
    yield Compared("MDCR, pools by SQL", sql_s, limit="five minutes for 2M", limit_s=limit_s)
    yield Compared("MDCR, all steps", measured["wall time s"], memory_mib=measured["peak MiB"])


def _memory(measured: Measured) -> Iterator[Compared]:
    for row in measured["rows"]:
        yield Compared(f"memory of {row['what']}, {row['GB']} GB", row["s"], memory_mib=row["peak MiB"])


def _neighbours(measured: Measured) -> Iterator[Compared]:
    rates = {row["way"]: row["papers/s"] for row in measured["rows"]}
    anew, once = (1000 / rates[way] for way in ("analysed for every code", "analysed once"))
    ours = 1000 / rates["derive, 1 job"]
    yield Compared("neighbours of 1,000 papers", ours, "analysed for every code", anew, "analysed once", once)


def _own_pools(measured: Measured) -> Iterator[Compared]:
    rows = {(row["pool"], row["what"]): row["s"] for row in measured["rows"]}
    for size in sorted({row["pool"] for row in measured["rows"]}):
        given = ("numpy", rows[size, "numpy"], "vectors copied", rows[size, "copied"])
        yield Compared(f"own pools of {size:,}", rows[size, "ranked"], *given)


def _plan(measured: Measured) -> Iterator[Compared]:
    largest = max(row["papers"] for row in measured["rows"])
    for row in measured["rows"]:
        if row["papers"] == largest:
            given = ("prediction of pinakes plan", row["predicted s"])
            yield Compared(f"planned, {row['step']}", row["s"], *given, memory_mib=row["peak MiB"])


def _pools(measured: Measured) -> Iterator[Compared]:
    rows = {(row["database"], row["step"]): row for row in measured["rows"]}
    for (name, step), row in rows.items():
        pass_s = rows[name, "pass over mentions"]["s"]
        other = rows["duckdb", step]["s"] if name == "postgresql" else None
        if step != "pass over mentions":
            given = ("DuckDB" if other else "", other, "a pass over mentions", pass_s, row["peak MiB"])
            yield Compared(step, row["s"], *given, database=name)


def _probe_regression(measured: Measured) -> Iterator[Compared]:
    for row in measured["rows"]:
        yield Compared(f"probes, {row['case']}", row["ours s"], "scikit-learn", row["scikit-learn s"])


def _probes(measured: Measured) -> Iterator[Compared]:
    for row in measured["rows"]:
        limit_s = row["at BLAS rate"] * row["seconds"]
        peer_s = row["peer seconds"] or None
        given = ("GridSearchCV" if peer_s else "", peer_s, "BLAS rate", limit_s, row["beyond it MiB"])
        yield Compared("probes, classes", row["seconds"], *given)


def _recipes(measured: Measured) -> Iterator[Compared]:
    for name in ("duckdb", "postgresql"):
        whole, scans = (sum(row[f"{name}{kind} s"] for row in measured["rows"]) for kind in ("", " scan"))
        yield Compared("all recipes", whole, limit="a scan each", limit_s=scans, database=name)


def _reports(measured: Measured) -> Iterator[Compared]:
    for row in measured["rows"]:
        yield Compared(f"{row['step']} of {measured['systems']} runs", row["s"], memory_mib=row["peak MiB"])


def _rows(measured: Measured) -> Iterator[Compared]:
    rows = {(row["database"], row["kind"], row["what"]): row["s"] for row in measured["rows"]}
    for name, kind in sorted({key[:2] for key in rows}):
        peer_s, bare_s = (rows[name, kind, what] for what in ("rows of the driver", "bare"))
        given = ("rows of the driver", peer_s, "bare", bare_s)
        yield Compared(f"{kind} of papers read", rows[name, kind, "read"], *given, database=name)


def _search(measured: Measured) -> Iterator[Compared]:
    for row in measured["rows"]:
        what = f"one search by {row['system']} in a new process, processor time"
        yield Compared(what, row["cpu s"], limit="its imports alone", limit_s=row["limit cpu s"])
    rates = [
        (name.removesuffix(", queries/s"), rate) for name, rate in measured.items() if "queries/s" in name
    ]
    for system in dict.fromkeys(name.partition(": ")[0] for name, _rate in rates):
        found = {
            name.partition(": ")[2]: 1000 / rate for name, rate in rates if name.startswith(f"{system}: ")
        }
        peer = next((name for name in found if not name.startswith("pinakes")), "")
        what = f"1,000 searches by {system}"
        yield Compared(what, found["pinakes, together"], peer, found.get(peer))


def _self_retrieval(measured: Measured) -> Iterator[Compared]:
    rows = {row["job"]: row for row in measured["rows"]}
    for job, row in rows.items():
        name, _, width = job.partition(", d = ")
        if not width or name in ("products", "scikit-learn"):
            continue
        peer = rows[f"scikit-learn, d = {width}"]["seconds"] if name == "overlaps" else None
        rate = rows[f"products, d = {width}"]["1e9 multiply-adds/s"]
        limit_s = row["seconds"] * row["1e9 multiply-adds/s"] / rate
        peak = measured[f"pairs_peak_rss_mib_{width}"] if name == "pairs" else None
        given = ("scikit-learn" if peer else "", peer, "fp32 product", limit_s, peak)
        yield Compared(f"self-retrieval, {job}", row["seconds"], *given)


def _site(measured: Measured) -> Iterator[Compared]:
    for row in measured["rows"]:
        yield Compared(f"site, {row['visit']}", row["seconds"])


def _train(measured: Measured) -> Iterator[Compared]:
    given = ("plain loop, padded", measured["plain loop, cpu s"])
    yield Compared("training with control codes, processor time", measured["ctrl, cpu s"], *given)


def _vectors(measured: Measured) -> Iterator[Compared]:
    rows = {(row["database"], row["what"]): row["s"] for row in measured["rows"]}
    for name in ("duckdb", "postgresql"):
        given = ("rows of the driver", rows[name, "rows of the driver"], "bare", rows[name, "bare"])
        yield Compared("vectors read", rows[name, "read"], *given, database=name)


READERS: dict[str, Callable[[Measured], Iterator[Compared]]] = {
    "analysis": _analysis,
    "approximate": _approximate,
    "augmentation": _augmentation,
    "bm25": _bm25,
    "bm25_sql": _bm25_sql,
    "csfcube": _csfcube,
    "encode": _encode,
    "exact_search": _exact_search,
    "hits": _hits,
    "import_run": _import_run,
    "load": _load,
    "mdcr": _mdcr,
    "memory": _memory,
    "neighbours": _neighbours,
    "own_pools": _own_pools,
    "plan": _plan,
    "pools": _pools,
    "probe_regression": _probe_regression,
    "probes": _probes,
    "recipes": _recipes,
    "reports": _reports,
    "rows": _rows,
    "search": _search,
    "self_retrieval": _self_retrieval,
    "site": _site,
    "train": _train,
    "vectors": _vectors,
}
