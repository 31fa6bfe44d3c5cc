"""What the matrix of reproduction is made of: a published figure a row."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Outcome = Literal["equal", "near", "off", "not run"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("equal", "near", "off", "not run")
NEAR: Final = 0.02
"""up to which share of the printed figure a value is near it"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A published figure, and what is measured here.

    Attributes:
        benchmark: or suite.
        source: paper and table.
        row: the system, or the row of a table, as it is published.
        subset, measure: as in scores; of a table the subset is its title.
        printed: as the source prints it.
        measured: ours with the same number of decimals; None: there is none.
        value: ours, unrounded, on the scale of the source.
        outcome: `equal` to the printed digits; `near`, within 2 % of the printed figure; `off`; or `not run`.
        why: why it is not run, or what must be known of the comparison.
        command: what measures it; empty: nothing here does.
        run_id: of which run the value is; None: of no single one.
    """

    benchmark: str
    source: str
    row: str
    subset: str
    measure: str
    printed: str
    measured: str | None
    value: float | None
    outcome: Outcome
    why: str
    command: str
    run_id: int | None = None


@dataclass(frozen=True, slots=True)
class Matrix:
    """The figures of some benchmarks and suites, in their order; `failed` are those that cannot be read."""

    figures: Sequence[Figure]
    failed: Sequence[tuple[str, str]] = ()

    def list_benchmarks(self) -> list[str]:
        """The benchmarks and suites that have figures, in order."""
        return list(dict.fromkeys(one.benchmark for one in self.figures))

    def count(self, benchmark: str | None = None) -> Counter[str]:
        """Outcome -> how many figures, of one benchmark or of all."""
        return Counter(one.outcome for one in self.figures if benchmark in (None, one.benchmark))


def read_printed(printed: str) -> float | None:
    """The number that was printed, if it is one.

    >>> read_printed("6,244"), read_printed(".76"), read_printed("n/a")
    (6244.0, 0.76, None)
    """
    try:
        return float(printed.replace(",", ""))
    except ValueError:
        return None


def judge(value: float, printed: str) -> tuple[str, Outcome]:
    """Our value with the decimals of the printed one, and how the two compare.

    >>> judge(124.88, "124.9"), judge(0.6912, "0.690"), judge(9.92, "9.8"), judge(3.0, "2")
    (('124.9', 'equal'), ('0.691', 'near'), ('9.9', 'near'), ('3', 'off'))
    >>> judge(0.0004, "0"), judge(6244.0, "6,244")
    (('0', 'equal'), ('6244', 'equal'))
    """
    decimals = len(printed.partition(".")[2])
    text = f"{value:.{decimals}f}"
    wanted = read_printed(printed)
    if wanted is None:
        return text, "off"
    if float(text) == wanted:
        return text, "equal"
    return text, "near" if abs(value - wanted) <= NEAR * abs(wanted) else "off"
