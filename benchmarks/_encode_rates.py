"""What an encoding owes in arithmetic, and how fast the device multiplies matrices of the model's shape.

Leaves out: memory and what lies between the products, which is what the fraction of the rate shows.
"""

import time
from collections.abc import Callable

import torch

from pinakes.indexers.encoder.encoder import WEIGHT_TYPES, Encoder
from pinakes.indexers.encoder.precision import Precision

MATRIX_ROWS = {"cpu": 4096, "cuda": 65536}
ROUNDS = 15
SHORTEST_S = 0.2
"""of a round: the system adds a running thread's time to its process's at ticks alone, 4 ms apart"""


def count_operations(encoder: Encoder, lengths: list[int]) -> float:
    """The multiplications and additions that the texts owe, padding not counted."""
    config = encoder.model.config
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    linear = 2 * (4 * width * width + 2 * width * inner)
    return float(sum(layers * (linear * length + 4 * width * length * length) for length in lengths))


def choose_clock(device: str) -> Callable[[], float]:
    """The clock on the wall, or on a CPU the processor time of all threads."""
    return time.process_time if torch.device(device).type == "cpu" else time.perf_counter


def measure_matrix_rate(encoder: Encoder, precision: Precision, rounds: int = ROUNDS) -> float:
    """The best Gflop/s of the widest linear layer of the model's shape, over `rounds` of many products.

    A second is one of `choose_clock`: on a CPU, of one core.
    """
    config, device, clock = encoder.model.config, torch.device(encoder.device), choose_clock(encoder.device)
    kind = WEIGHT_TYPES[precision]
    left = torch.randn(MATRIX_ROWS[device.type], config.hidden_size, device=device).to(kind)
    weight = torch.randn(config.intermediate_size, config.hidden_size, device=device).to(kind)
    best_s = float("inf")
    with torch.inference_mode():
        for _ in range(rounds):
            _wait(device)
            started, products, elapsed_s = clock(), 0, 0.0
            while elapsed_s < SHORTEST_S:
                torch.nn.functional.linear(left, weight)
                _wait(device)
                products, elapsed_s = products + 1, clock() - started
            best_s = min(best_s, elapsed_s / products)
    return 2 * left.shape[0] * weight.shape[0] * weight.shape[1] / best_s / 1e9


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
