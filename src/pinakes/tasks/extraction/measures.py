"""The measures of extraction by their names.

`AP` and `AUC` are means over examples; `AP[2SE]` is twice the standard error of the mean, `AP[undefined]` how
many examples have none, `AP[global]` the value over all test sentences at once. `ROUGE2@3[query]` is of the
three best sentences, in the paper's order, against the query, `[cited]` against the citing contexts.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from pinakes.errors import UnknownNameError

CURVES: Final = ("AP", "AUC")
FORMS: Final = ("", "[2SE]", "[global]", "[undefined]")
REFERENCES: Final = ("query", "cited")
FLAT: Final = "Flat"
"""how many examples have sentences that all score alike: nothing in common with the query, or no query"""
EXAMPLE: Final = "ROUGE1@3[query], with 1, 2 or L, any number of sentences, and [query] or [cited]"

Metric = Literal["rouge1", "rouge2", "rougeL"]

_ROUGE: Final = re.compile(r"ROUGE(?P<metric>[12L])@(?P<k>[1-9][0-9]{0,3})\[(?P<reference>query|cited)\]")


@dataclass(frozen=True, slots=True)
class RougeMeasure:
    """F1 of the `k` best sentences against a text of the example."""

    name: str
    metric: Metric
    k: int
    reference: str


def name_measure(name: str) -> str:
    """The name itself, of a measure of extraction; `UnknownNameError` lists them.

    >>> name_measure("ROUGE2@5[cited]"), name_measure("AP[2SE]")
    ('ROUGE2@5[cited]', 'AP[2SE]')
    """
    known = [*(curve + form for curve in CURVES for form in FORMS), FLAT]
    if name not in known and parse_rouge(name) is None:
        raise UnknownNameError("measure", name, [*known, EXAMPLE])
    return name


def prefers_lower(name: str) -> bool:
    """Whether a lower value is better: of standard errors, and of counts of examples without a value.

    >>> prefers_lower("AP"), prefers_lower("AP[2SE]"), prefers_lower("Flat")
    (False, True, True)
    """
    return name == FLAT or name.endswith(("[2SE]", "[undefined]"))


def parse_rouge(name: str) -> RougeMeasure | None:
    """The measure of a name such as `ROUGEL@3[query]`; None of any other.

    >>> parse_rouge("ROUGEL@3[query]")
    RougeMeasure(name='ROUGEL@3[query]', metric='rougeL', k=3, reference='query')
    """
    found = _ROUGE.fullmatch(name)
    if found is None:
        return None
    metrics: dict[str, Metric] = {"1": "rouge1", "2": "rouge2", "L": "rougeL"}
    return RougeMeasure(name, metrics[found["metric"]], int(found["k"]), found["reference"])
