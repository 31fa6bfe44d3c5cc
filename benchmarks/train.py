"""Training speed against a plain loop, and what each method costs in time and numbers.

    python benchmarks/train.py [--quick] [--json FILE] [--threads N] [--instances N] [--methods …]
    python benchmarks/train.py --device cuda [--precision bf16] [--micro-tokens N …]

First: an epoch of each method's training, and one of a loop as one writes it without thinking of lengths: the
same base, instances, losses and optimiser, control codes, instances in random order, and each micro-batch
padded to its longest text, as many instances as the loop is given tokens for. Both take turns; medians are
compared, on a CPU of processor time, which others on these cores do not lengthen. Then: the vectors of texts
by each trained encoder. The table has the columns of SciRepEval's table 5, relative to control codes as
there. Texts are made here: papers, of which a third have no abstract, and queries; tasks are of four formats.
On a CUDA device the base has BERT-base's shape and random weights, and the loop the same precision.
Leaves out: databases, validation, checkpoints, and what is learned.
"""

import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _common import describe_machine, make_parser, report
from _encode_data import build_random_bert, make_texts
from _encode_rates import choose_clock, count_operations, measure_matrix_rate

from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.encoder import WEIGHT_TYPES
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.precision import Precision
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
PLAIN_BATCH = {"cpu": 16, "cuda": 64}
"""instances a micro-batch of the plain loop; 16 have 8,000 to 15,000 tokens with padding"""


def main() -> None:
    parser = make_parser("Training speed against a plain loop, and by method.")
    parser.add_argument("--instances", type=int, help="of each task (default: 8 with --quick, else 64)")
    parser.add_argument("--rounds", type=int, help="turns of each (default: 1 with --quick, else 3)")
    parser.add_argument("--model", default="minilm", help="the base: preset, folder or hub id")
    parser.add_argument("--max-tokens", type=int, default=512, help="longer texts are cut here")
    parser.add_argument("--no-plain", action="store_true", help="the methods alone, without the plain loop")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, help="beside ctrl")
    parser.add_argument("--device", default="cpu", help="cpu (default) or a CUDA device")
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16"), default="fp32")
    parser.add_argument("--micro-tokens", type=int, nargs="*", default=[], help="of ctrl, beside the default")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    count = options.instances or (8 if options.quick else 64)
    rounds = options.rounds or (1 if options.quick else 3)
    with tempfile.TemporaryDirectory() as folder:
        if options.device == "cpu":
            base, origin = resolve_model(options.model).folder, options.model
        else:
            base, origin = build_random_bert(Path(folder) / "base", make_texts(2000)), "of BERT-base's shape"
        tasks = make_tasks(base, count)
        methods = [name for name in METHODS if name == "ctrl" or name in options.methods]
        setting = TrainingSettings(epochs=1, max_tokens=options.max_tokens, precision=options.precision)
        rows, figures = compare(
            base,
            tasks,
            Path(folder),
            setting,
            rounds,
            methods,
            has_plain=not options.no_plain,
            device=options.device,
            micro_tokens=options.micro_tokens,
        )
    figures |= {"threads": torch.get_num_threads(), **describe_machine()}
    count = sum(len(task.train) for task in tasks)
    title = f"Training on {count} instances, base {origin}, {options.precision}, on {options.device}"
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
    *,
    has_plain: bool = True,
    device: str = "cpu",
    micro_tokens: Sequence[int] = (),
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows, one a method, and the figures."""
    used_s: dict[str, list[float]] = defaultdict(list)
    elapsed_s: dict[str, list[float]] = defaultdict(list)
    encode_s: dict[str, list[float]] = defaultdict(list)
    added: dict[str, int] = {}
    clock, is_on_gpu = choose_clock(device), device != "cpu"

    def measure(name: str, job: Callable[[], Any]) -> None:
        used, started = clock(), time.perf_counter()
        job()
        used_s[name].append(clock() - used)
        elapsed_s[name].append(time.perf_counter() - started)
        print(f"{name}: {used_s[name][-1]:.1f} s", file=sys.stderr, flush=True)

    for turn in range(rounds):
        adapted = folder / f"{turn}_adapters"
        if has_plain:
            measure(PLAIN, partial(train_plainly, base, tasks, settings, device))
        for method in methods:
            of = adapted if method == "fusion" else base
            chosen = replace(settings, method=method, batching="equal", seed=turn + 1)
            target = folder / f"{turn}_{method}"
            measure(method, partial(train_encoder, of, tasks, chosen, target, devices=(device,)))
            added[method] = count_added(of, tasks, chosen)
            encode_s[method].append(
                measure_encoding(target, tasks[0].texts, device, settings.precision if is_on_gpu else "fp32")
            )
        for tokens in micro_tokens:
            chosen = replace(settings, batching="equal", seed=turn + 1, micro_tokens=tokens)
            target = folder / f"{turn}_{tokens}"
            measure(f"ctrl, {tokens}", partial(train_encoder, base, tasks, chosen, target, devices=(device,)))
    train = {name: statistics.median(values) for name, values in used_s.items()}
    walls = {name: statistics.median(values) for name, values in elapsed_s.items()}
    encode = {name: statistics.median(values) for name, values in encode_s.items()}
    instances = sum(len(task.train) for task in tasks)
    second = "s" if is_on_gpu else "cpu s"
    rows = [
        {
            "method": name,
            "numbers a format": added[name],
            f"instances/{second}": instances / train[name],
            "instances/s": instances / walls[name],
            "training": train[name] / train["ctrl"],
            "inference": encode[name] / encode["ctrl"],
        }
        for name in methods
    ]
    figures = {f"ctrl, {second}": train["ctrl"], "ctrl, s": walls["ctrl"]}
    figures |= {f"ctrl, {tokens} tokens at once, s": walls[f"ctrl, {tokens}"] for tokens in micro_tokens}
    if has_plain:
        figures |= {
            f"plain loop, instances/{second}": instances / train[PLAIN],
            f"plain loop, {second}": train[PLAIN],
            "plain loop, s": walls[PLAIN],
            "ratio": train[PLAIN] / train["ctrl"],
            "ratio, wall clock": walls[PLAIN] / walls["ctrl"],
        }
    return rows, figures | count_work(base, tasks, settings, device, walls["ctrl"])


def train_plainly(
    base: Path, tasks: list[TrainingTask], settings: TrainingSettings, device: str, seed: int = 1
) -> None:
    """One epoch with control codes: random order, micro-batches padded to their longest text."""
    torch.manual_seed(seed)
    kind, of = torch.device(device).type, find_base(base, "ctrl", list_codes(tasks))
    model = MultiFormatModel(of, settings, tasks).to(device).train()
    scaler = torch.amp.GradScaler(kind, enabled=settings.precision == "fp16")
    products, is_cast = WEIGHT_TYPES[settings.precision], settings.precision != "fp32"
    size = PLAIN_BATCH[kind]
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate)
    for step in plan_epoch([len(task.train) for task in tasks], settings.batch_size, "equal", seed, 1):
        optimiser.zero_grad()
        for number, chosen in step:
            for start in range(0, len(chosen), size):
                rows = chosen[start : start + size]
                with torch.autocast(kind, products, enabled=is_cast):
                    losses = compute_plainly(model, tasks[number], rows, device)
                scaler.scale(losses.sum() / (len(chosen) * len(step))).backward()
        scaler.step(optimiser)
        scaler.update()


def compute_plainly(
    model: MultiFormatModel, task: TrainingTask, rows: np.ndarray, device: str
) -> torch.Tensor:
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
        ).to(device)
        columns.append(model.base(**given).last_hidden_state[:, 1])
    vectors = torch.stack(columns, dim=1) if task.objective == "triplets" else columns[0]
    targets = torch.from_numpy(task.train.targets[rows]).to(device)
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


def measure_encoding(folder: Path, texts: Any, device: str, precision: Precision) -> float:
    """Seconds for the vectors of the texts, by the format of proximity; on a CPU of processor time."""
    preset = find_preset(str(folder))
    members = preset.members if preset else {}
    encoder = load_encoder(resolve_model(members.get("PRX", str(folder))), precision, device)
    clock = choose_clock(device)
    prefix = (preset.prefixes if preset else {}).get("PRX", "")
    given = [prefix + text for text in texts]
    best = float("inf")
    for _ in range(3):
        started = clock()
        for _batch in encode_texts(encoder, enumerate(given)):
            pass
        best = min(best, clock() - started)
    return best


def count_work(
    base: Path, tasks: list[TrainingTask], settings: TrainingSettings, device: str, seconds: float
) -> dict[str, float]:
    """How long the texts are; on a CUDA device how much of its matrix rate `seconds` of training reach.

    A gradient takes twice the products of what it is of.
    """
    precision = settings.precision if device != "cpu" else "fp32"
    encoder = load_encoder(resolve_model(base), precision, device, max_tokens=settings.max_tokens)
    lengths = [
        len(row)
        for task in tasks
        for row in encoder.tokenize([task.texts[number] for number in task.train.texts.flatten()])
    ]
    found = {
        "tokens": float(sum(lengths)),
        "mean tokens a text": statistics.mean(lengths),
        "longest text": float(max(lengths)),
    }
    if device != "cpu":
        rate = measure_matrix_rate(encoder, precision)
        work = 3 * count_operations(encoder, lengths) / 1e9
        found |= {"matrix rate, Gflop/s": rate, "of matrix rate": work / seconds / rate}
    return found


if __name__ == "__main__":
    main()
