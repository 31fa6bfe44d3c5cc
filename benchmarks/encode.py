"""Encoding speed against sentence-transformers' defaults, on the same texts in the same run.

    python benchmarks/encode.py [--quick] [--json FILE] [--threads N] [--texts N] [--model minilm]

Both encode the same texts with the same model, taking turns; medians are compared. Also measured: how fast
this machine multiplies matrices of the model's shape, and what fraction of that the encoding reaches; and
how far the vectors lie from sentence-transformers'. Texts: the SciFact corpus where it lies beside the
checkout, else texts made here. Leaves out: retrieval quality, accelerators.
"""

import argparse
import gzip
import json
import random
import statistics
import sys
import time
from typing import Any

import numpy as np
import torch
from _common import SHARED_DATA, describe_machine, make_parser, measure_in_turns, report

from pinakes.indexers.encode import encode_texts
from pinakes.indexers.encoder import Encoder
from pinakes.indexers.model import choose_precision, load_encoder
from pinakes.indexers.presets import resolve_model

PEER = "sentence-transformers"
MATRIX_ROWS = 4096
MATRIX_ROUNDS = 15


def main() -> None:
    parser = make_parser("Encoding speed against sentence-transformers' defaults.")
    parser.add_argument("--texts", type=int, help="how many texts (default: 128 with --quick, else 1,024)")
    parser.add_argument("--rounds", type=int, help="turns of each (default: 3 with --quick, else 5)")
    parser.add_argument("--model", default="minilm", help="preset, folder or hub id")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    count = options.texts or (128 if options.quick else 1024)
    origin, texts = read_texts(count)
    rows, figures = compare(options, texts)
    report(f"Encoding {len(texts)} texts ({origin})", rows, figures, options.json)


def compare(options: argparse.Namespace, texts: list[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows and the figures of one comparison."""
    source = resolve_model(options.model)
    automatic = choose_precision("cpu")
    # fp32 is measured everywhere; bf16 where it is what `auto` chooses, since it crawls elsewhere.
    encoders = {name: load_encoder(source, name) for name in dict.fromkeys((automatic, "fp32"))}
    peer = load_peer(source.folder)
    found: dict[str, np.ndarray] = {}

    def run_peer() -> None:
        found[PEER] = peer.encode(texts, show_progress_bar=False)

    def run_own(name: str) -> None:
        found[name] = encode_all(encoders[name], texts)

    jobs = {PEER: run_peer, **{name: lambda name=name: run_own(name) for name in encoders}}
    encode_all(encoders["fp32"], texts[:32])
    peer.encode(texts[:32], show_progress_bar=False)
    elapsed_s = measure_in_turns(jobs, options.rounds or (3 if options.quick else 5))
    lengths = [len(tokens) for tokens in encoders["fp32"].tokenize(texts)]
    rates = {name: measure_matrix_rate(encoders["fp32"], name, MATRIX_ROUNDS) for name in ("fp32", "bf16")}
    work = count_operations(encoders["fp32"], lengths) / 1e9
    rows = []
    for name, seconds in elapsed_s.items():
        precision = "fp32" if name == PEER else name
        rows.append(
            {
                "system": PEER if name == PEER else f"pinakes {name}",
                "docs/s": len(texts) / seconds,
                "tokens/s": sum(lengths) / seconds,
                "ratio": elapsed_s[PEER] / seconds,
                "Gflop/s": work / seconds,
                "fraction of matrix rate": work / seconds / rates[precision],
                "max cosine error": cosine_error(found[name], found[PEER]),
            }
        )
    figures = {
        "ratio_sentence_transformers": elapsed_s[PEER] / elapsed_s[automatic],
        "ratio_sentence_transformers_fp32": elapsed_s[PEER] / elapsed_s["fp32"],
        "precision": automatic,
        "matrix_gflops_fp32": rates["fp32"],
        "matrix_gflops_bf16": rates["bf16"],
        "fraction_of_matrix_rate": work / elapsed_s[automatic] / rates[automatic],
        "max_cosine_error": cosine_error(found[automatic], found[PEER]),
        "mean_tokens": statistics.mean(lengths),
        "threads": torch.get_num_threads(),
        **describe_machine(),
    }
    return rows, figures


def read_texts(count: int) -> tuple[str, list[str]]:
    """Where the texts are from, and `count` of them spread over the whole corpus."""
    path = SHARED_DATA / "scifact" / "corpus.jsonl.gz"
    if not path.is_file():
        return "made here", make_texts(count)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    step = max(1, len(papers) // count)
    return "SciFact", [f"{paper['title']} {paper['text']}" for paper in papers[::step]][:count]


def make_texts(count: int, seed: int = 1) -> list[str]:
    """Texts of made-up words with the lengths of abstracts: 60 to 400 words, most about 190."""
    generator = random.Random(seed)
    words = ["".join(generator.choices("aeioubcdlmnprst", k=generator.randint(3, 9))) for _ in range(3000)]
    lengths = [min(400, max(60, round(generator.gauss(190, 60)))) for _ in range(count)]
    return [" ".join(generator.choices(words, k=length // 2)) for length in lengths]


def load_peer(folder: Any) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        sys.exit("sentence-transformers is not installed; install the extra dev and start again")
    return SentenceTransformer(str(folder), device="cpu")


def encode_all(encoder: Encoder, texts: list[str]) -> np.ndarray:
    vectors = np.empty((len(texts), encoder.dimensions), dtype=np.float32)
    for batch in encode_texts(encoder, enumerate(texts)):
        vectors[list(batch.keys)] = batch.vectors
    return vectors


def count_operations(encoder: Encoder, lengths: list[int]) -> float:
    """The multiplications and additions that the texts owe, padding not counted."""
    config = encoder.model.config
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    linear = 2 * (4 * width * width + 2 * width * inner)
    return float(sum(layers * (linear * length + 4 * width * length * length) for length in lengths))


def measure_matrix_rate(encoder: Encoder, precision: str, rounds: int) -> float:
    """The best Gflop/s of a linear layer of the model's shape, over `rounds` tries."""
    config = encoder.model.config
    kind = torch.float32 if precision == "fp32" else torch.bfloat16
    left = torch.randn(MATRIX_ROWS, config.hidden_size).to(kind)
    weight = torch.randn(config.intermediate_size, config.hidden_size).to(kind)
    best_s = float("inf")
    with torch.inference_mode():
        for _ in range(rounds):
            started = time.perf_counter()
            torch.nn.functional.linear(left, weight)
            best_s = min(best_s, time.perf_counter() - started)
    return 2 * left.shape[0] * weight.shape[0] * weight.shape[1] / best_s / 1e9


def cosine_error(vectors: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference of 1 and a vector's cosine with the one that was expected."""
    left, right = vectors.astype(np.float64), expected.astype(np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return float(np.abs(1 - (left * right).sum(axis=1) / lengths).max())


if __name__ == "__main__":
    main()
