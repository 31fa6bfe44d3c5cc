"""Whether an embedding a format helps: encoders trained by each method, compared in and out of train.

    python benchmarks/methods.py --folder DIR [--quick] [--instances N] [--methods cls ctrl …] [--seeds 1 2 3]
                                 [--systems bm25 …] [--json FILE]

Loads SciRepEval's samples, paper lists, CL-SciSumm and AAN (trained on in part), and DRSM, OpenReview's
reviews, SciFact, Cranfield and CSFCube (out of train) into a DuckDB file in DIR, trains every method with
every seed on at most N instances of a task, and compares all with their base and the average of `ctrl` and
`adapters`. Started again, it goes on where it stopped. DIR/methods has the page. `--quick` proves that it
runs, and nothing else. Leaves out: how fast training is (`train.py`).
"""

import argparse
import hashlib
import itertools
import json
from pathlib import Path
from typing import Any, Final

from _commands import Steps
from _common import SHARED_DATA, describe_machine, make_parser, report

from pinakes.database import connect
from pinakes.queries.install import initialise

BASE: Final = "minilm"
METHODS: Final = ("cls", "ctrl", "adapters", "pals", "fusion", "random")
VENUES: Final = ("acl", "naacl", "iclr", "icml")
TASKS: Final = (
    "scirepeval_fos",
    "scirepeval_mesh_descriptors",
    "scirepeval_cite_count",
    "scirepeval_pub_year",
    "same_author:paperlists",
    "same_author:aan",
    "citations:scisumm",
    "scirepeval_cite_prediction",
    "scirepeval_search",
)
IN_TRAIN: Final = (
    "scirepeval_fos",
    "scirepeval_mesh_descriptors",
    "scirepeval_cite_count",
    "scirepeval_pub_year",
    "scirepeval_cite_prediction",
    "scirepeval_same_author",
    "scirepeval_search",
)
OUT_OF_TRAIN: Final = ("scirepeval_drsm", "scirepeval_peer_review_score", "scifact", "cranfield", "csfcube")
WHOLE: Final = {"fos": "fos", "mesh_descriptors": "mesh", "same_author": "s2and"}
"""samples of SciRepEval that are loaded as they are, by their tasks' names"""


def main() -> None:
    parser = make_parser("Methods of training, compared on benchmarks in and out of train.")
    parser.add_argument("--folder", type=Path, required=True, help="where all of it lies, and is found again")
    parser.add_argument("--instances", type=int, help="most of a task (default: 600; 8 with --quick)")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="(default: all; ctrl with --quick)")
    parser.add_argument("--seeds", type=int, nargs="+", help="(default: 1 2 3; 1 with --quick)")
    parser.add_argument("--tokens", type=int, default=128, help="where training cuts texts")
    parser.add_argument("--precision", default="fp32", help="of products while training: fp32 or bf16")
    parser.add_argument("--systems", nargs="*", default=[], help="compared too")
    parser.add_argument("--in-train", nargs="*", choices=IN_TRAIN, help="(default: all; one with --quick)")
    parser.add_argument(
        "--out-of-train", nargs="*", choices=OUT_OF_TRAIN, help="(default: all; DRSM with --quick)"
    )
    options = parser.parse_args()
    options.instances = options.instances or (8 if options.quick else 600)
    options.methods = options.methods or (["ctrl"] if options.quick else METHODS)
    options.seeds = options.seeds or ([1] if options.quick else [1, 2, 3])
    if options.in_train is None:
        options.in_train = ("scirepeval_same_author",) if options.quick else IN_TRAIN
    if options.out_of_train is None:
        options.out_of_train = OUT_OF_TRAIN[:1] if options.quick else OUT_OF_TRAIN
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    steps = Steps(f"duckdb:///{folder / 'methods.duckdb'}", folder)
    load_all(steps, folder)
    encoders = train_all(steps, folder, options)
    found = compare_all(steps, folder, options, encoders)
    (folder / "steps.json").write_text(json.dumps(steps.rows, indent=1))
    report(
        f"{options.instances} instances a task at most, seeds {options.seeds}",
        found["means"],
        {
            "differences": found["differences"],
            "steps": {row["step"]: round(row["s"], 1) for row in steps.rows},
            **describe_machine(),
        },
        options.json,
    )


def load_all(steps: Steps, folder: Path) -> None:
    """Load every corpus; what is loaded already is passed over by the commands themselves."""
    data = folder / "data"
    cut_samples(SHARED_DATA / "scirepeval" / "sample_data", data)
    lists = data / "paperlists"
    lists.mkdir(exist_ok=True)
    for venue in VENUES:
        link = lists / f"{venue}.jsonl.gz"
        if not link.exists():
            link.symlink_to(SHARED_DATA / "paperlists" / link.name)
    initialise_file(folder)
    for task in (*WHOLE, "search", "cite_prediction"):
        steps.pinakes(f"load {task}", "load", "scirepeval", str(data / f"scirepeval-{task}"))
    for loader, path, *more in (
        ("paperlists", lists, "--corpus", "paperlists"),
        ("aan", SHARED_DATA / "aan"),
        ("scisumm", SHARED_DATA / "scisumm" / "scisumm-train.tar.gz"),
        ("drsm", SHARED_DATA / "drsm"),
        ("openreview", SHARED_DATA / "openreview"),
        ("beir", SHARED_DATA / "scifact", "--corpus", "scifact"),
        ("smart", SHARED_DATA / "smart" / "cran.tar.gz", "--corpus", "cranfield"),
        ("csfcube", SHARED_DATA / "csfcube"),
    ):
        steps.pinakes(f"load {loader}", "load", loader, str(path), *map(str, more))
    initialise_file(folder)  # benchmarks of what is loaded now


def initialise_file(folder: Path) -> None:
    with connect(f"duckdb:///{folder / 'methods.duckdb'}") as database:
        initialise(database)


def cut_samples(source: Path, data: Path) -> None:
    """SciRepEval's samples under the names of their tasks.

    Fields of study and MeSH have no split, and get that of their loader. Search and citation triplets are
    cut by query, three tenths for the test. All 40 queries of same author are a test.
    """
    for task, name in WHOLE.items():
        write(data, task, f"{task}.json", json.loads((source / f"{name}_small.json").read_text()))
    lines = (source / "search_small.jsonl").read_text().splitlines()
    sessions = [json.loads(line) for line in lines]
    triplets = json.loads((source / "specter_small.json").read_text())
    for side, wanted in (("train", False), ("test", True)):
        chosen = [one for one in sessions if is_test(one["session_id"]) is wanted]
        write(data, "search", f"{side}.jsonl", chosen)
        chosen = [one for one in triplets if is_test(one["query"]["sha"]) is wanted]
        write(data, "cite_prediction", f"{side}.json", chosen)


def write(data: Path, task: str, name: str, records: list[Any]) -> None:
    path = data / f"scirepeval-{task}" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    text = lines if path.suffix == ".jsonl" else json.dumps(records)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def is_test(key: object) -> bool:
    return int(hashlib.md5(str(key).encode()).hexdigest()[:8], 16) % 10 < 3


def train_all(steps: Steps, folder: Path, options: argparse.Namespace) -> list[str]:
    """Train what is not there yet; the encoders' folders.

    A fusion is of the adapters of its seed; `random` has control codes whose groups of tasks the seed draws.
    """
    held_out = [f"--held-out={name}" for name in (*OUT_OF_TRAIN, "scirepeval_same_author")]
    tasks = [f"--task={task}" for task in TASKS]
    made = []
    for seed, method in itertools.product(options.seeds, options.methods):
        name = f"{method}_{options.instances}_{seed}"
        target = folder / "encoders" / name
        made.append(str(target))
        if (target / "training.json").exists():
            continue
        base = BASE
        if method == "fusion":
            base = str(folder / "encoders" / f"adapters_{options.instances}_{seed}")
        few = method in ("adapters", "fusion")  # what little is trained takes more epochs and a higher rate
        steps.pinakes(
            f"train {name}",
            *(
                "train",
                name,
                "--folder",
                str(target.parent),
                "--base",
                base,
                *(
                    ("--method", "ctrl", "--grouping", "random")
                    if method == "random"
                    else ("--method", method)
                ),
                *tasks,
                *held_out,
            ),
            *("--most", str(options.instances), "--seed", str(seed), "--epochs", "4" if few else "2"),
            *("--learning-rate", "1e-3" if method == "adapters" else "1e-4", "--warmup-steps", "20"),
            *("--batch-size", "32", "--max-tokens", str(options.tokens), "--precision", options.precision),
            *("--checkpoint-steps", "50"),
        )
    return made


def compare_all(steps: Steps, folder: Path, options: argparse.Namespace, encoders: list[str]) -> Any:
    """What `compare-methods` says: figures, means of methods, differences."""
    systems = [BASE, *encoders, *options.systems]
    if {"ctrl", "adapters"} <= set(options.methods):
        of_seed = [f"{folder / 'encoders'}/{{}}_{options.instances}_{seed}" for seed in options.seeds]
        systems += [f"mean:{one.format('ctrl')},{one.format('adapters')}" for one in of_seed]
    return steps.pinakes(
        "compare",
        *("compare-methods", *options.in_train, *options.out_of_train, "--folder", str(folder / "methods")),
        *(f"--system={system}" for system in systems),
        *(f"--in-train={name}" for name in options.in_train),
        *("--precision", "fp32"),  # bf16 is refused where a trained encoder is too sensitive to it
    )


if __name__ == "__main__":
    main()
