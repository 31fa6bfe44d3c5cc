"""The precisions that an encoder computes in, the devices it runs on, and which precision each is fastest in.

torch is imported late, so that the names can be listed without it.
"""

from pathlib import Path

from pinakes.indexers.names import Precision

CPU_INFO = Path("/proc/cpuinfo")
FAST_BF16_FLAGS = frozenset({"amx_bf16", "avx512_bf16"})


def choose_precision(device: str) -> Precision:
    """`bf16` where the device multiplies it faster than float32, else `fp32`."""
    import torch

    if torch.device(device).type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    return "bf16" if torch.device(device).type == "cpu" and has_fast_bf16(read_cpu_info()) else "fp32"


def choose_device() -> str:
    """`cuda` where there is a CUDA device that can be used, else `cpu`."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def device_name(device: str) -> str:
    """The device in the words of its maker, such as `AMD EPYC`; the device itself where it has none."""
    import torch

    kind = torch.device(device).type
    if kind == "cuda":
        return str(torch.cuda.get_device_name(device))
    lines = read_cpu_info().splitlines() if kind == "cpu" else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), device)


def has_fast_bf16(cpu_info: str) -> bool:
    """Whether the first processor that the kernel describes has bf16 matrix instructions.

    >>> has_fast_bf16("flags : fpu sse avx2 avx512_bf16 amx_bf16"), has_fast_bf16("flags : fpu sse avx2")
    (True, False)
    """
    flags = next((line for line in cpu_info.splitlines() if line.startswith("flags")), "")
    return not FAST_BF16_FLAGS.isdisjoint(flags.split())


def read_cpu_info() -> str:
    """What the kernel says of the processors; empty where it says nothing."""
    return CPU_INFO.read_text(encoding="utf-8", errors="replace") if CPU_INFO.is_file() else ""
