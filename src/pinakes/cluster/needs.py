"""Bytes that a worker of each kind takes at most, by what it has in hand.

Ray is asked for them, and `pinakes plan` counts with them. They are estimates: what the libraries take was
measured, and so were reading and exact search (docs/manual/cluster.md); the rest is counted.
"""

from typing import Final

LIBRARIES_BYTES: Final = 300_000_000
"""a process that imports Arrow"""
RAY_BYTES: Final = 100_000_000
"""what Ray adds to a worker"""
TORCH_BYTES: Final = 700_000_000
"""one that imports PyTorch too"""
PARAMETER_BYTES: Final = 6.0
"""a parameter of an encoder: four bytes, and the copy of half precision that is compared"""
TEXT_BYTES: Final = 1_212
"""a text, where it is not known: title and abstract"""
_CHUNKS: Final = 6
"""a chunk as it stands in its file, as columns, as they are joined, and as it is written"""
_HIT_BYTES: Final = 16
_FP32: Final = 4


def read_files(chunk_bytes: int, libraries: float = LIBRARIES_BYTES) -> float:
    """A worker that reads files of a load in chunks of so many bytes."""
    return RAY_BYTES + libraries + _CHUNKS * chunk_bytes


def analyse(text_bytes: float, libraries: float = LIBRARIES_BYTES) -> float:
    """One that turns texts of so many bytes into terms: one part in hand, one that waits."""
    return RAY_BYTES + libraries + 4 * text_bytes


def rank_terms(hits: float, part_bytes: float = 0.0, libraries: float = LIBRARIES_BYTES) -> float:
    """One that ranks by a sparse index, which is mapped, and no memory of its own.

    `hits` are those that it keeps, of all queries; `part_bytes` what a pool of its own has of the index.
    """
    return RAY_BYTES + libraries + hits * _HIT_BYTES + part_bytes


def search(
    fragment_rows: int, dimensions: int, queries: int, hits: float, torch: float = TORCH_BYTES
) -> float:
    """One that searches fragments of vectors: one beside its cheap form, and what is read of the next.

    `hits` are those that it keeps, of all queries and pools.
    """
    vectors = (3 * fragment_rows + 2 * queries) * dimensions * _FP32
    return RAY_BYTES + torch + vectors + hits * _HIT_BYTES


def encode(
    parameters: float,
    texts: int,
    text_bytes: float,
    dimensions: int,
    torch: float = TORCH_BYTES,
    parameter_bytes: float = PARAMETER_BYTES,
) -> float:
    """One that has an encoder, and so many texts with their vectors in hand, and as many that wait."""
    return RAY_BYTES + torch + parameters * parameter_bytes + 2 * texts * (text_bytes + dimensions * _FP32)
