"""How fast a summary is augmented by greedy ROUGE: against the loop that scores whole summaries, in one run.

    python benchmarks/augmentation.py [--quick] [--full] [--json FILE] [--threads N]

The loop scores every remaining sentence, joined to the summary, with the package whose semantics it is
(rouge-score 0.1.2, rouge 1.0.1), which reads the whole summary and the query each time. Where it would take
longer than a limit its time is extrapolated: the cost of single evaluations at the first step, the middle one
and the last, times the number of evaluations. Where it is run, picks and scores have to be the same. Times
are processor time, the best of some rounds, so that other processes do not count. "read before" is the time
for a further query over a document that was read before, as the other references of a paper are.
Texts are made: words by Zipf's law, a query of some 190 words, every tenth sentence shares a phrase with it;
the seed is two sentences. "peak MB" is what `augment` allocates beyond its input. The dataset is the paper's
size, 8,965 examples of 290 sentences: a sample is timed, all of them with --full. Leaves out: real texts.
"""

import itertools
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from _common import describe_machine, make_parser, report
from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

from pinakes.indexers.rouge.document import read_document
from pinakes.indexers.rouge.greedy import Augmentation, GreedySettings, augment

SIZES = (50, 200, 1_000, 10_000)
VARIANTS = [
    GreedySettings(metric, "f", semantics, start)
    for (semantics, start), metric in itertools.product(
        [("rouge_score", "citing"), ("rouge", "zero")], ["rouge1", "rouge2", "rougeL"]
    )
]
DEFAULT = GreedySettings("rouge2", "f", "rouge_score", "citing")
PUBLISHED = GreedySettings("rouge2", "f", "rouge", "zero")
PIP_NAMES = {"rouge1": "rouge-1", "rouge2": "rouge-2", "rougeL": "rouge-l"}
DATASET = 8_965
DATASET_SENTENCES = 290
WORDS = 20_000
Example = tuple[str, list[str], str]
Row = dict[str, Any]


def main() -> None:
    parser = make_parser("Greedy ROUGE augmentation against scoring whole summaries.")
    parser.add_argument("--full", action="store_true", help=f"all {DATASET:,} examples, not a sample of them")
    options = parser.parse_args()
    limit_s = 2.0 if options.quick else 30.0
    rows = [
        compare(make_example(size, size), settings, limit_s)
        for size in SIZES
        for settings in ([DEFAULT, PUBLISHED] if options.quick else VARIANTS)
    ]
    count = DATASET if options.full else 40 if options.quick else 400
    figures: Row = {}
    for name, settings in {"default": DEFAULT, "published": PUBLISHED}.items():
        figures |= time_dataset(name, settings, count, options.threads)
    report("Greedy augmentation by ROUGE", rows, {**figures, **describe_machine()}, options.json)


def make_example(seed: int, sentences: int, words: int = 24) -> Example:
    """Query, sentences, seed."""
    random = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, WORDS + 1)
    drawn = iter(random.choice(WORDS, size=(sentences + 8) * 4 * words, p=shares / shares.sum()).tolist())

    def write(length: int) -> str:
        return " ".join(f"w{number}" for number in itertools.islice(drawn, length)).capitalize() + "."

    query = " ".join(write(words) for _ in range(8))
    phrases = query.replace(".", "").split()
    made = []
    for number in range(sentences):
        text = write(int(random.integers(words // 2, 2 * words)))
        if number % 10 == 0:
            first = int(random.integers(len(phrases) - 8))
            text = f"{text[:-1]} {' '.join(phrases[first : first + int(random.integers(2, 8))])}."
        made.append(text)
    return query, made, "".join(made[:2])


def make_scorer(settings: GreedySettings) -> Callable[[str, str], float]:
    """The package's F1 of (summary, query); stems as it computes them, anew each time."""
    if settings.semantics == "rouge":
        name, rouge = PIP_NAMES[settings.metric], Rouge(metrics=[PIP_NAMES[settings.metric]])
        return lambda summary, query: float(rouge.get_scores(summary, query)[0][name]["f"])
    scorer = RougeScorer([settings.metric], use_stemmer=settings.semantics == "rouge_score")
    return lambda summary, query: float(scorer.score(query, summary)[settings.metric].fmeasure)


def compare(example: Example, settings: GreedySettings, limit_s: float) -> Row:
    query, sentences, cited = example
    found = augment(query, sentences, cited, settings)
    document = read_document(sentences, settings.semantics)
    rounds = 7 if len(sentences) <= 1_000 else 3
    elapsed_s = time_best(lambda: augment(query, sentences, cited, settings), rounds)
    again_s = time_best(lambda: augment(query, document, cited, settings), rounds)
    naive_s, evaluations = extrapolate(example, settings, found)
    how = "extrapolated"
    if naive_s <= limit_s:
        started = time.process_time()
        picks, scores = augment_naively(example, settings)
        naive_s, how = time.process_time() - started, "measured"
        if (picks, scores) != (found.picks, found.scores):
            raise SystemExit(f"other picks than the loop's: {settings}")
    row = {
        "sentences": len(sentences),
        "variant": f"{settings.metric} {settings.semantics} {settings.start}",
        "steps": len(found.picks),
        "ms": 1e3 * elapsed_s,
        "read before, ms": 1e3 * again_s,
        "evaluations": evaluations,
        "loop s": naive_s,
        "loop": how,
        "times": naive_s / elapsed_s,
        "times, read before": naive_s / again_s,
        "peak MB": measure_peak(lambda: augment(*example, settings)),
    }
    print(row, file=sys.stderr)
    return row


def time_best(job: Callable[[], Any], rounds: int) -> float:
    """Seconds of processor time of the best round."""
    elapsed_s = []
    for _ in range(rounds):
        started = time.process_time()
        job()
        elapsed_s.append(time.process_time() - started)
    return min(elapsed_s)


def extrapolate(example: Example, settings: GreedySettings, found: Augmentation) -> tuple[float, int]:
    """Seconds of the loop, by single evaluations, and how many it makes."""
    query, sentences, cited = example
    score = make_scorer(settings)
    steps = len(found.picks)
    tried = min(steps + 1, len(sentences))
    evaluations = sum(len(sentences) - step for step in range(tried))
    costs = []
    for step in (0, steps // 2, steps):
        summary = " ".join([cited, *(sentences[number] for number in found.picks[:step]), sentences[-1]])
        costs.append(time_best(partial(score, summary, query), 3))
    return statistics.mean(costs) * evaluations, evaluations


def augment_naively(example: Example, settings: GreedySettings) -> tuple[list[int], list[float]]:
    """The published loop: picks and scores."""
    query, sentences, cited = example
    score = make_scorer(settings)
    summary, remaining = [cited], list(range(len(sentences)))
    current = score(cited, query) if settings.start == "citing" else 0.0
    picks: list[int] = []
    scores: list[float] = []
    while remaining:
        rated = [score(" ".join([*summary, sentences[number]]), query) for number in remaining]
        if not max(rated) > current:
            break
        current = max(rated)
        best = remaining.pop(rated.index(current))
        summary.append(sentences[best])
        picks.append(best)
        scores.append(current)
    return picks, scores


def measure_peak(job: Callable[[], Any]) -> float:
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def time_dataset(name: str, settings: GreedySettings, count: int, processes: int) -> Row:
    """Seconds of `count` examples in so many processes; making the texts is not counted."""
    jobs = [(settings, range(first, count, processes)) for first in range(processes)]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        parts = list(pool.map(time_examples, jobs))
    slowest_s = max(elapsed_s for elapsed_s, _, _ in parts)
    used_s = sum(used for _, used, _ in parts)
    return {
        f"{name}: examples timed": count,
        f"{name}: seconds with {processes} processes": slowest_s,
        f"{name}: core seconds": used_s,
        f"{name}: seconds for {DATASET:,}{'' if count == DATASET else ', extrapolated'}": slowest_s
        * DATASET
        / count,
        f"{name}: picks an example": sum(picks for _, _, picks in parts) / count,
    }


def time_examples(job: tuple[GreedySettings, Sequence[int]]) -> tuple[float, float, int]:
    settings, seeds = job
    elapsed_s = used_s = 0.0
    picks = 0
    for seed in seeds:
        example = make_example(seed, DATASET_SENTENCES)
        started, used = time.perf_counter(), sum(os.times()[:2])
        picks += len(augment(*example, settings).picks)
        elapsed_s += time.perf_counter() - started
        used_s += sum(os.times()[:2]) - used
    return elapsed_s, used_s, picks


if __name__ == "__main__":
    main()
