"""What an upgrade of the tables would do, and what it did."""

import sys
from collections.abc import Callable, Sequence

from pinakes.schema import SCHEMA_VERSION
from pinakes.schema.upgrade import Step

Say = Callable[[str], None]


def print_steps(steps: Sequence[Step], database: str, say: Say) -> None:
    """The SQL of the steps on stdout, as `duckdb` or `postgresql` gets it."""
    for step in steps:
        statements = ";\n\n".join(step.list_statements(database))
        sys.stdout.write(f"-- {step.name}: {step.reason}\n{statements};\n\n")
    say(
        "pinakes: after these steps, in the same transaction, all views and comments are made again. Nothing "
        "was changed."
        if steps
        else f"pinakes: the tables have schema version {SCHEMA_VERSION}: no step is missing."
    )


def say_upgraded(steps: Sequence[Step], renewed: Sequence[str], lost: Sequence[str], say: Say) -> None:
    """Which steps were made, and which benchmarks' views were renewed or are lost."""
    made = f"made {', '.join(step.name for step in steps)}" if steps else "no step was missing"
    say(
        f"pinakes: the tables have schema version {SCHEMA_VERSION}: {made}; benchmarks whose views were made "
        f"or renewed: {', '.join(renewed) or 'none'}"
    )
    if lost:
        say(
            f"pinakes: warning: no folder has the benchmarks {', '.join(lost)}, whose views read what was "
            "changed and were dropped. Name the folder in PINAKES_BENCHMARKS, then run `pinakes init`."
        )
