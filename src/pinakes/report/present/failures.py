"""What could not be done of several benchmarks, in words; it imports nothing that takes long."""

from collections.abc import Sequence

from pinakes.evaluate.each import Failure


def list_failures(failed: Sequence[Failure]) -> str:
    """What could not be done, in one message."""
    said = [f"{one.benchmark}{f' by {one.system}' if one.system else ''}: {one.reason}" for one in failed]
    count = f"{len(failed)} benchmarks" if len(failed) > 1 else "one benchmark"
    return f"{count} could not be done, the others are. " + "\n".join(said)
