"""Encoding speed against sentence-transformers, on the same texts in the same run.

    python benchmarks/encode.py [--quick] [--json FILE] [--threads N] [--texts N] [--model minilm] [--ndcg]
    python benchmarks/encode.py --profile [--attention torch] [--threads N] [--texts N] [--model minilm]
    python benchmarks/encode.py --device cuda [--texts N] [--lengths 256 512]

On a CPU: the model against sentence-transformers' defaults. On a CUDA device: an encoder of BERT-base's
shape with random weights against sentence-transformers in fp16, at each length. Both take turns; medians
are compared. Also measured: how fast this machine multiplies matrices of the model's shape, and what
fraction of that the encoding reaches, on a CPU by processor time, which others on its cores do not
lengthen; and how far the vectors lie from the peer's. Texts: the SciFact corpus where it lies beside the
checkout, else texts made here. With --ndcg also nDCG@10 on SciFact of both systems' vectors.
With --profile, on a CPU: which operations of our encoding take the time, without the peer. With --attention
torch, torch's attention is measured also where our kernel runs.
Leaves out: databases and files (see `pinakes encode`).
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _common import describe_machine, make_parser, measure_in_turns, report
from _encode_data import build_random_bert, ndcg_at_10, read_texts
from _encode_rates import choose_clock, count_operations, measure_matrix_rate

from pinakes.indexers.encoder import packed
from pinakes.indexers.encoder.encode import cosine_error, encode_texts
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.precision import choose_precision, device_name
from pinakes.indexers.encoder.presets import ModelSource, resolve_model

PEER = "sentence-transformers"
PROFILED = 15
"""operations that a profile shows"""
PEER_BATCH = 128
"""texts a batch on a GPU: its default of 32 would leave the device idle"""


def main() -> None:
    parser = make_parser("Encoding speed against sentence-transformers.")
    parser.add_argument("--texts", type=int, help="how many texts (default: 128 with --quick, else 1,024)")
    parser.add_argument("--rounds", type=int, help="turns of each (default: 3 with --quick, else 5)")
    parser.add_argument("--model", default="minilm", help="preset, folder or hub id; on a CPU")
    parser.add_argument("--device", default="cpu", help="cpu (default) or a CUDA device")
    parser.add_argument("--lengths", type=int, nargs="+", default=[256, 512], help="on a CUDA device")
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16"), nargs="+", help="beside the default")
    parser.add_argument("--compile", action="store_true", help="also measure with torch.compile")
    parser.add_argument("--ndcg", action="store_true", help="also nDCG@10 on SciFact, all its 5,183 papers")
    parser.add_argument("--profile", action="store_true", help="which operations take the time, on a CPU")
    parser.add_argument(
        "--attention", choices=("own", "torch"), default="own", help="torch: also where our kernel runs"
    )
    options = parser.parse_args()
    on_cpu = options.device == "cpu"
    if not on_cpu and (options.profile or options.attention == "torch"):
        parser.error("--profile and --attention are of a CPU")
    torch.set_num_threads(options.threads)
    choose_attention(options.attention)
    count = options.texts or (128 if options.quick else 1024) * (1 if on_cpu else 32)
    origin, texts = read_texts(count)
    if options.profile:
        rows, figures = profile(resolve_model(options.model), texts)
    elif on_cpu:
        rows, figures = compare(options, resolve_model(options.model), texts, None)
    else:
        rows, figures = compare_on_gpu(options, texts)
    if options.ndcg:
        figures |= compare_ndcg(options)
    figures |= {"texts": len(texts), "threads": torch.get_num_threads(), **describe_machine()}
    if not on_cpu:
        figures["device"] = device_name(options.device)
    report(f"Encoding {len(texts)} texts ({origin}) on {options.device}", rows, figures, options.json)


def choose_attention(name: str) -> None:
    """Have encoders attend by torch's alone; `own` is what they do."""
    if name == "torch":
        packed.has_attention_kernel = lambda projected, heads: False


def profile(source: ModelSource, texts: list[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The operations of one encoding in the precision that is chosen, by the clock of the calling thread."""
    encoder = load_encoder(source, choose_precision("cpu"), "cpu", None)
    attend = packed.attend

    def record(*arguments: Any) -> torch.Tensor:
        with torch.profiler.record_function("our attention"):
            return attend(*arguments)

    packed.attend = record
    encode_all(encoder, texts)
    started = time.perf_counter()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        encode_all(encoder, texts)
    elapsed_s = time.perf_counter() - started
    packed.attend = attend
    operations = sorted(profiler.key_averages(), key=lambda one: -one.self_cpu_time_total)
    rows = [
        {
            "operation": one.key,
            "calls": one.count,
            "seconds": one.self_cpu_time_total / 1e6,
            "part": one.self_cpu_time_total / 1e6 / elapsed_s,
        }
        for one in operations[:PROFILED]
    ]
    spent = sum(one.self_cpu_time_total for one in operations) / 1e6
    left_s = elapsed_s - spent
    rows.append({"operation": "none of torch's", "calls": "", "seconds": left_s, "part": left_s / elapsed_s})
    return rows, {"precision": encoder.precision, "seconds": elapsed_s, "docs_per_s": len(texts) / elapsed_s}


def compare_on_gpu(
    options: argparse.Namespace, texts: list[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """One comparison for each length, of an encoder of BERT-base's shape with random weights."""
    rows: list[dict[str, Any]] = []
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        source = resolve_model(build_random_bert(Path(folder) / "bert-base", texts))
        for length in options.lengths:
            found, measured = compare(options, source, texts, length)
            rows += [{"max tokens": length, **row} for row in found]
            figures |= {f"{name}_{length}": value for name, value in measured.items()}
    return rows, figures


def compare(
    options: argparse.Namespace, source: ModelSource, texts: list[str], max_tokens: int | None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The table's rows and the figures of one comparison."""
    device, on_cpu = options.device, options.device == "cpu"
    automatic = choose_precision(device)
    # fp32 is measured on every CPU; bf16 where it is what `auto` chooses, since it crawls elsewhere.
    wanted = dict.fromkeys((automatic, *(["fp32"] if on_cpu else []), *(options.precision or [])))
    encoders = {name: load_encoder(source, name, device, max_tokens) for name in wanted}
    if options.compile:
        encoders["compiled"] = load_encoder(source, automatic, device, max_tokens)
        encoders["compiled"].compile()
    peer = load_peer(source.folder, device, max_tokens)
    found: dict[str, np.ndarray] = {}
    used_s: dict[str, list[float]] = defaultdict(list)
    clock = choose_clock(device)

    def run(name: str) -> None:
        started = clock()
        if name == PEER:
            found[name] = peer.encode(
                texts, show_progress_bar=False, **({} if on_cpu else {"batch_size": PEER_BATCH})
            )
        else:
            found[name] = encode_all(encoders[name], texts)
        used_s[name].append(clock() - started)

    jobs = {name: lambda name=name: run(name) for name in (PEER, *encoders)}
    if not on_cpu or options.compile:
        for job in jobs.values():
            job()
    else:
        encode_all(encoders["fp32"], texts[:32])
        peer.encode(texts[:32], show_progress_bar=False)
    rounds = options.rounds or (3 if options.quick else 5)
    elapsed_s = measure_in_turns(jobs, rounds)
    first = encoders[automatic]
    lengths = [len(tokens) for tokens in first.tokenize(texts)]
    rates = {
        name: measure_matrix_rate(first, name) for name in ("fp32", "bf16", *(() if on_cpu else ("fp16",)))
    }
    work = count_operations(first, lengths) / 1e9
    speeds = {name: work / statistics.median(seconds[-rounds:]) for name, seconds in used_s.items()}
    rows = []
    for name, seconds in elapsed_s.items():
        precision = (
            ("fp32" if on_cpu else "fp16") if name == PEER else automatic if name == "compiled" else name
        )
        rows.append(
            {
                "system": PEER if name == PEER else f"pinakes {name}",
                "docs/s": len(texts) / seconds,
                "tokens/s": sum(lengths) / seconds,
                "ratio": elapsed_s[PEER] / seconds,
                "Gflop/s": work / seconds,
                "fraction of matrix rate": speeds[name] / rates[precision],
                "max cosine error": cosine_error(found[name], found[PEER]),
            }
        )
    best = min(
        (name for name in encoders if name in (automatic, "compiled")), key=lambda name: elapsed_s[name]
    )
    figures = {
        "ratio_sentence_transformers": elapsed_s[PEER] / elapsed_s[best],
        **({"ratio_sentence_transformers_fp32": elapsed_s[PEER] / elapsed_s["fp32"]} if on_cpu else {}),
        "precision": automatic,
        "compiled": best == "compiled",
        **{f"matrix_gflops_{name}": rate for name, rate in rates.items()},
        "fraction_of_matrix_rate": speeds[best] / rates[automatic],
        "fraction_of_bf16_matrix_rate": speeds[best] / rates["bf16"],
        "tokens_per_s": sum(lengths) / elapsed_s[best],
        "max_cosine_error": cosine_error(found[best], found[PEER]),
        "mean_tokens": statistics.mean(lengths),
    }
    return rows, figures


def compare_ndcg(options: argparse.Namespace) -> dict[str, float]:
    """nDCG@10 on SciFact's test queries with the vectors of both systems."""
    source = resolve_model(options.model)
    encoder = load_encoder(source, "auto", options.device)
    peer = load_peer(source.folder, options.device, None)
    own = ndcg_at_10(lambda texts: encode_all(encoder, texts))
    theirs = ndcg_at_10(lambda texts: peer.encode(texts, show_progress_bar=False))
    return {"ndcg_10": own, "ndcg_10_sentence_transformers": theirs, "ndcg_10_difference": own - theirs}


def load_peer(folder: Path, device: str, max_tokens: int | None) -> Any:
    """sentence-transformers with its defaults; on a CUDA device with weights in fp16."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        sys.exit("sentence-transformers is not installed; install the extra dev and start again")
    peer: Any = SentenceTransformer(str(folder), device=device)
    if device != "cpu":
        peer = peer.half()
    if max_tokens is not None:
        peer.max_seq_length = max_tokens
    return peer


def encode_all(encoder: Encoder, texts: list[str]) -> np.ndarray:
    vectors = np.empty((len(texts), encoder.dimensions), dtype=np.float32)
    for batch in encode_texts(encoder, enumerate(texts)):
        vectors[list(batch.keys)] = batch.vectors
    return vectors


if __name__ == "__main__":
    main()
