"""Training speed against a plain loop, and what each method costs in time and numbers.

    python benchmarks/train.py [--quick] [--json FILE] [--threads N] [--instances N] [--methods …]

First: an epoch of each method's training on a CPU, and one of a loop as one writes it without thinking of
lengths: the same base, instances, losses and optimiser, control codes, instances in random order, and each
micro-batch padded to its longest text. Both take turns; medians of processor time are compared, which others
on these cores do not lengthen. Then: the vectors of texts by each trained encoder. The table has the columns
of SciRepEval's table 5, relative to control codes as there. Texts are made here: papers, of which a third
have no abstract, and queries; tasks are of four formats.
Leaves out: databases, validation, checkpoints, and what is learned.
"""

import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _common import describe_machine, make_parser, report

from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import find_preset, resolve_model
from pinakes.indexers.training.bases import find_base
from pinakes.indexers.training.batches import plan_epoch
from pinakes.indexers.training.losses import compute_losses
from pinakes.indexers.training.methods import MultiFormatModel
from pinakes.indexers.training.settings import Method, TrainingSettings
from pinakes.indexers.training.tasks import Instances, TrainingTask, list_codes
from pinakes.indexers.training.training import train_encoder

METHODS: tuple[Method, ...] = ("ctrl", "cls", "adapters", "pals", "fusion")
PLAIN = "plain loop"
PLAIN_BATCH = 16
"""instances a micro-batch of the plain loop; it has 8,000 to 15,000 tokens with padding"""


def main() -> None:
    parser = make_parser("Training speed against a plain loop, and by method.")
    parser.add_argument("--instances", type=int, help="of each task (default: 8 with --quick, else 64)")
    parser.add_argument("--rounds", type=int, help="turns of each (default: 1 with --quick, else 3)")
    parser.add_argument("--model", default="minilm", help="the base: preset, folder or hub id")
    parser.add_argument("--max-tokens", type=int, default=512, help="longer texts are cut here")
    parser.add_argument("--no-plain", action="store_true", help="the methods alone, without the plain loop")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, help="beside ctrl")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    count = options.instances or (8 if options.quick else 64)
    rounds = options.rounds or (1 if options.quick else 3)
    base = resolve_model(options.model).folder
    tasks = make_tasks(base, count)
    with tempfile.TemporaryDirectory() as folder:
        methods = [name for name in METHODS if name == "ctrl" or name in options.methods]
        setting = TrainingSettings(epochs=1, max_tokens=options.max_tokens)
        rows, figures = compare(base, tasks, Path(folder), setting, rounds, methods, not options.no_plain)
    figures |= {"threads": torch.get_num_threads(), **describe_machine()}
    title = f"Training on {sum(len(task.train) for task in tasks)} instances, base {options.model}, on a CPU"
    report(title, rows, figures, options.json)


def make_tasks(base: Path, count: int, seed: int = 1) -> list[TrainingTask]:
    """Four tasks of as many instances, one a format, over made-up papers and queries.

    Their words are tokens of the base's: a title has 6 to 20, an abstract 60 to 400, most about 190, as
    abstracts have; every third paper has a title alone; a query has 2 to 6.
    """
    generator = np.random.default_rng(seed)
    tokenizer = load_encoder(resolve_model(base), "fp32").tokenizer
    words = sorted(word for word in tokenizer.get_vocab() if word.isascii() and word.isalpha())

    def make(length: int) -> str:
        return " ".join(generator.choice(words, length))

    abstracts = np.clip(generator.normal(190, 60, 2 * count), 60, 400).astype(int)
    papers = [
        make(generator.integers(6, 21)) + ("" if number % 3 == 2 else f" [SEP] {make(length)}")
        for number, length in enumerate(abstracts)
    ]
    queries = [make(generator.integers(2, 7)) for _ in papers]
    texts = papers + queries
    triplets = np.stack([generator.permutation(len(papers))[:count] for _ in range(3)], axis=1)
    searches = triplets.copy()
    searches[:, 0] += len(papers)
    rows, none = np.arange(count), np.empty((0,), np.int64)
    nothing = {1: Instances(none, none), 3: Instances(np.empty((0, 3), np.int64), np.empty((0, 0), np.int64))}
    return [
        TrainingTask("field", "CLF", "classes", texts, ("a", "b"), Instances(rows, rows % 2), nothing[1]),
        TrainingTask("year", "RGN", "number", texts, (), Instances(rows, rows / count), nothing[1]),
        TrainingTask(
            "cites",
            "PRX",
            "triplets",
            texts,
            (),
            Instances(triplets, np.empty((count, 0), np.int64)),
            nothing[3],
        ),
        TrainingTask(
            "search",
            "SRCH",
            "triplets",
            texts,
            (),
            Instances(searches, np.empty((count, 0), np.int64)),
            nothing[3],
        ),
    ]


def compare(
    base: Path,
    tasks: list[TrainingTask],
    folder: Path,
    settings: TrainingSettings,
    rounds: int,
    methods: list[Method],
    has_plain: bool,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows, one a method, and the figures."""
    used_s: dict[str, list[float]] = defaultdict(list)
    elapsed_s: dict[str, list[float]] = defaultdict(list)
    encode_s: dict[str, list[float]] = defaultdict(list)
    added: dict[str, int] = {}

    def measure(name: str, job: Callable[[], Any]) -> None:
        used, started = time.process_time(), time.perf_counter()
        job()
        used_s[name].append(time.process_time() - used)
        elapsed_s[name].append(time.perf_counter() - started)
        print(f"{name}: {used_s[name][-1]:.1f} s of the processor", file=sys.stderr)

    for turn in range(rounds):
        adapted = folder / f"{turn}_adapters"
        if has_plain:
            measure(PLAIN, lambda: train_plainly(base, tasks, settings))
        for method in methods:
            of = adapted if method == "fusion" else base
            chosen = replace(settings, method=method, batching="equal", seed=turn + 1)
            target = folder / f"{turn}_{method}"
            measure(method, partial(train_encoder, of, tasks, chosen, target))
            added[method] = count_added(of, tasks, chosen)
            encode_s[method].append(measure_encoding(target, tasks[0].texts))
    train = {name: statistics.median(values) for name, values in used_s.items()}
    walls = {name: statistics.median(values) for name, values in elapsed_s.items()}
    encode = {name: statistics.median(values) for name, values in encode_s.items()}
    instances = sum(len(task.train) for task in tasks)
    rows = [
        {
            "method": name,
            "numbers a format": added[name],
            "instances/cpu s": instances / train[name],
            "instances/s": instances / walls[name],
            "training": train[name] / train["ctrl"],
            "inference": encode[name] / encode["ctrl"],
        }
        for name in methods
    ]
    figures = {"ctrl, cpu s": train["ctrl"], "ctrl, s": walls["ctrl"]}
    if has_plain:
        figures |= {
            "plain loop, instances/cpu s": instances / train[PLAIN],
            "plain loop, cpu s": train[PLAIN],
            "plain loop, s": walls[PLAIN],
            "ratio": train[PLAIN] / train["ctrl"],
            "ratio, wall clock": walls[PLAIN] / walls["ctrl"],
        }
    return rows, figures | count_tokens(base, tasks, settings)


def train_plainly(base: Path, tasks: list[TrainingTask], settings: TrainingSettings, seed: int = 1) -> None:
    """One epoch with control codes: random order, micro-batches padded to their longest text."""
    torch.manual_seed(seed)
    model = MultiFormatModel(find_base(base, "ctrl", list_codes(tasks)), settings, tasks).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate)
    for step in plan_epoch([len(task.train) for task in tasks], settings.batch_size, "equal", seed, 1):
        optimiser.zero_grad()
        for number, chosen in step:
            for start in range(0, len(chosen), PLAIN_BATCH):
                rows = chosen[start : start + PLAIN_BATCH]
                loss = compute_plainly(model, tasks[number], rows).sum() / (len(chosen) * len(step))
                loss.backward()
        optimiser.step()


def compute_plainly(model: MultiFormatModel, task: TrainingTask, rows: np.ndarray) -> torch.Tensor:
    """The losses of some instances: the texts of each column padded together, by transformers' own pass."""
    columns = []
    for place, code in enumerate(task.codes()):
        texts = [task.texts[row] for row in task.train.texts[rows].reshape(len(rows), -1)[:, place]]
        given = model.tokenizer(
            [f"[{code}] {text}" for text in texts],
            truncation=True,
            max_length=model.settings.max_tokens,
            padding=True,
            return_tensors="pt",
        )
        columns.append(model.base(**given).last_hidden_state[:, 1])
    vectors = torch.stack(columns, dim=1) if task.objective == "triplets" else columns[0]
    targets = torch.from_numpy(task.train.targets[rows])
    return compute_losses(task.objective, model.answer(task, vectors).float(), targets, 1.0)


def count_added(base: Path, tasks: list[TrainingTask], settings: TrainingSettings) -> int:
    """The numbers that a method has for one format alone."""
    found = find_base(base, settings.method, list_codes(tasks))
    model = MultiFormatModel(found, settings, tasks)
    if settings.method == "cls":
        return 0
    if settings.method == "ctrl":
        return int(model.base.config.hidden_size)
    # What is for some format, and what is within another: adapters within fusions are of all.
    names = ("bottlenecks", "pals")
    per_format = {
        name: value.numel()
        for name, value in model.base.named_parameters()
        if value.requires_grad and any(part in name.split(".") for part in names)
    }
    return sum(per_format.values()) // len(model.codes)


def measure_encoding(folder: Path, texts: Any) -> float:
    """Seconds of processor time for the vectors of the texts, by the format of proximity."""
    preset = find_preset(str(folder))
    members = preset.members if preset else {}
    encoder = load_encoder(resolve_model(members.get("PRX", str(folder))), "fp32")
    prefix = (preset.prefixes if preset else {}).get("PRX", "")
    given = [prefix + text for text in texts]
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for _batch in encode_texts(encoder, enumerate(given)):
            pass
        best = min(best, time.process_time() - started)
    return best


def count_tokens(base: Path, tasks: list[TrainingTask], settings: TrainingSettings) -> dict[str, float]:
    """How long the texts are."""
    encoder = load_encoder(resolve_model(base), "fp32", max_tokens=settings.max_tokens)
    lengths = [
        len(row)
        for task in tasks
        for row in encoder.tokenize([task.texts[number] for number in task.train.texts.flatten()])
    ]
    return {
        "tokens": float(sum(lengths)),
        "mean tokens a text": statistics.mean(lengths),
        "longest text": float(max(lengths)),
    }


if __name__ == "__main__":
    main()
