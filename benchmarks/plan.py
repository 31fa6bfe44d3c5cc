"""What `pinakes plan` predicts, against the commands themselves at three sizes.

    python benchmarks/plan.py [--quick] [--sizes N …] [--rates FILE] [--json FILE] [--folder DIR]

Rates are measured as `pinakes plan --measure` does, or read from a file; then the synthetic corpus is loaded
at each size, indexed by sparse BM25 and by an encoder of two small layers with random weights, searched,
ranked, drawn from, constructed from and scored, each command in a process of its own on DuckDB. A row has the
seconds, by the clock and of the processor, and the peak memory of a step, what was predicted, and predicted
over measured; on cores that others use, processor time says more. Draws are
those of `large_scale` and `field_level` together; hits are stored within the runs, so that scoring alone
takes less than what is predicted of both. Leaves out: several machines, GPUs, and disks that are slower than
the processor.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from _commands import Steps
from _common import describe_machine, make_parser, report

from pinakes.memory import measure_machine
from pinakes.plan.model import Machines, Step, Work, predict
from pinakes.plan.random_encoder import write_random_encoder
from pinakes.plan.rates import Rate, read_rates

WIDTH, LAYERS, TOKENS = 64, 2, 96
QUERIES, DEPTH = 200, 500
SYNTHETIC = "synthetic"
COUNTS = (
    "SELECT (SELECT count(*) FROM citations) AS citations, "
    "(SELECT avg(strlen(title) + strlen(abstract)) FROM papers) AS text_bytes"
)


def main() -> None:
    parser = make_parser("What pinakes plan predicts, against runs at three sizes.")
    parser.add_argument(
        "--sizes", type=int, nargs="+", help="papers (default: 5,000 20,000 80,000; 2,000 8,000 32,000)"
    )
    parser.add_argument("--rates", type=Path, help="a file of rates; default: they are measured first")
    parser.add_argument("--folder", type=Path, help="where the databases lie (default: a temporary folder)")
    options = parser.parse_args()
    sizes = options.sizes or ([2_000, 8_000, 32_000] if options.quick else [5_000, 20_000, 80_000])
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        rates = read_rates(options.rates or measure(Path(temporary)))
        for papers in sizes:
            rows += compare(folder / str(papers), papers, rates, options)
    figures = {
        "rates": {name: rate.value for name, rate in rates.items() if rate.origin in ("measured", "file")},
        **describe_machine(),
    }
    report(f"Predicted and measured, {len(sizes)} sizes", rows, figures, options.json)


def describe_work(papers: int, citations: float = 10.0, text_bytes: int = 547) -> Work:
    """The work of the commands below."""
    parameters = 12 * WIDTH**2 * LAYERS
    return Work(papers, citations, text_bytes, TOKENS, parameters, WIDTH, QUERIES, DEPTH)


def measure(folder: Path) -> Path:
    """The file of rates that a command measures: what this process held would be in the peaks of its own."""
    file, work = folder / "rates.json", describe_work(1)
    shape = ("--dimensions", str(WIDTH), "--tokens", str(TOKENS), "--parameters", str(work.parameters / 1e6))
    asked = ("--papers", "1", "--depth", str(DEPTH), *shape)
    Steps("duckdb", folder).pinakes("rates", "plan", *asked, "--rates-to", str(file))
    return file


def compare(
    folder: Path, papers: int, rates: dict[str, Rate], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """The rows of one size."""
    folder.mkdir(parents=True)
    steps = Steps(f"duckdb:///{folder}/plan.duckdb", folder)
    run_commands(steps, folder, papers)
    counted = steps.pinakes("count", "sql", COUNTS)[0]
    citations = counted["citations"] / papers
    work = describe_work(papers, citations, round(counted["text_bytes"]))
    machines = Machines(cores=options.threads, memory=measure_machine())
    told = {step.step: step for step in predict(work, machines, rates)}
    return [describe(papers, name, step, steps.rows) for name, step in told.items()]


def run_commands(steps: Steps, folder: Path, papers: int) -> None:
    """Each command; its row is named by the step of the plan that it is of."""
    write_random_encoder(folder / "encoder", WIDTH, LAYERS, ["paper", "graph", "model"])
    encoder = ("--system", str(folder / "encoder"))
    sparse = ("--system", "sparse_bm25")
    texts = ("--query-template", "title_abstract", "--paper-template", "title_abstract")
    sized = ("--option", f"papers={papers}", "--option", f"queries={QUERIES}")
    steps.pinakes("load", "load", SYNTHETIC, *sized)
    steps.pinakes("index, sparse_bm25", "index", SYNTHETIC, *sparse)
    steps.pinakes("encode", "index", SYNTHETIC, *encoder, *texts)
    deep = ("--depth", str(DEPTH))
    steps.pinakes("exact search", "run", SYNTHETIC, *encoder, *texts, *deep)
    steps.pinakes("ranking, sparse_bm25", "run", SYNTHETIC, *sparse, *deep)
    steps.pinakes("hits stored and scored", "evaluate", SYNTHETIC)
    few = ("--validation-queries", "1", "--repeats", "1", "--validation-pool-size", str(papers // 40))
    large = ("--queries", "20", "--pool-size", str(papers // 4))
    steps.pinakes("pools in SQL", "sample", "large_scale", "--corpus", SYNTHETIC, *large, *few)
    fields = ("--queries", "2", "--pool-size", str(papers // 20), "--assigned-by", SYNTHETIC)
    steps.pinakes("pools in SQL", "sample", "field_level", "--corpus", SYNTHETIC, *fields, *few)
    for number in ("1", "2", "3"):  # three systems of which construction takes candidates
        option = ("--option", f"k1={number}", "--option", "b=0.75")
        steps.pinakes(f"index field_level {number}", "index", "field_level", *sparse)
        steps.pinakes(f"run field_level {number}", "run", "field_level", *sparse, *option)
    steps.pinakes("construction in SQL", "construct", "mdcr_constructed")


def describe(papers: int, name: str, step: Step, measured: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [row for row in measured if row["step"] == name]
    seconds, peak = sum(row["s"] for row in rows), max(row["peak MiB"] for row in rows)
    processor_s = sum(row["processor s"] for row in rows)
    predicted_mib = step.node_bytes / 2**20
    return {
        "papers": papers,
        "step": name,
        "s": seconds,
        "processor s": processor_s,
        "predicted s": step.seconds,
        "predicted/measured": step.seconds / seconds,
        "predicted/processor": step.seconds / processor_s,
        "peak MiB": peak,
        "predicted MiB": predicted_mib,
        "predicted/measured MiB": predicted_mib / peak,
        "rates": step.rates,
    }


if __name__ == "__main__":
    main()
