"""How the name of a measure is written: `base(parameter=value, …)@cutoff`, or `%share` at the end.

The syntax is that of ir-measures; `%20` (the first fifth of the pool) is ours.
"""

import ast
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pinakes.errors import EvaluationError
from pinakes.evaluators.base import REQUIRED, Family, Measure

_NAME: Final = re.compile(
    r"(?P<base>[^\W_][\w.-]*)(?:\((?P<parameters>.*)\))?(?:(?P<sign>[@%])(?P<cutoff>\d+(?:\.\d+)?))?"
)


def _is_positive(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _is_share(value: Any) -> bool:
    return type(value) is float and 0 < value < 1


def _is_amount(value: Any) -> bool:
    return type(value) is float and 0 < value < math.inf


def _is_truth(value: Any) -> bool:
    return type(value) is bool


def _are_gains(value: Any) -> bool:
    return isinstance(value, dict) and all(type(part) is int for item in value.items() for part in item)


_PARAMETER_RULES: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "rel": (_is_positive, "a whole number from 1"),
    "judged_only": (_is_truth, "True or False"),
    "relative": (_is_truth, "True or False"),
    "normalize": (_is_truth, "True or False"),
    "dcg": (lambda value: value in ("log2", "exp-log2"), "'log2' or 'exp-log2'"),
    "p": (_is_share, "a number between 0 and 1"),
    "beta": (_is_amount, "a number above 0"),
    "T": (_is_amount, "a number above 0"),
    "min_rel": (_is_whole, "a whole number"),
    "max_rel": (_is_whole, "a whole number"),
    "gains": (_are_gains, "whole numbers by grade, such as {1: 1, 2: 3}"),
}

_NUMBERS: Final = frozenset({"p", "beta", "T"})
"""parameters that may be written as whole numbers, and are none"""

_CUTOFF_RULES: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "none": (lambda cutoff: cutoff is None, "no cutoff"),
    "optional_rank": (
        lambda cutoff: cutoff is None or _is_positive(cutoff),
        "@ and a rank from 1, or nothing",
    ),
    "rank": (_is_positive, "@ and a rank from 1"),
    "share": (
        lambda cutoff: _is_positive(cutoff) and cutoff <= 100,
        "% and a whole percentage from 1 to 100",
    ),
    # trec_eval names a level with two decimals and would compute the rounded one
    "recall": (
        lambda cutoff: cutoff is not None and 0 <= cutoff <= 1 and round(cutoff, 2) == cutoff,
        "@ and a recall level from 0 to 1 with at most two decimals",
    ),
}


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A name taken apart: the registry's key (`nDCG`, or `nDCG%`), parameters, cutoff."""

    key: str
    parameters: Mapping[str, Any]
    cutoff: int | float | None


def split_name(name: str) -> WrittenName:
    """The parts of a measure's name as written.

    Raises `EvaluationError` where the name is not of the syntax.

    >>> split_name("P(rel=2)@20")
    WrittenName(key='P', parameters={'rel': 2}, cutoff=20)
    >>> split_name("nDCG%20").key
    'nDCG%'
    """
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise EvaluationError(
            f"{name!r} is not the name of a measure; write it like AP, nDCG@10, P(rel=2)@20 or nDCG%20"
        )
    cutoff = None if match["cutoff"] is None else read_cutoff(match["cutoff"])
    share = "%" if match["sign"] == "%" else ""
    return WrittenName(match["base"] + share, _parse_parameters(name, match["parameters"] or ""), cutoff)


def read_cutoff(written: str) -> int | float:
    """The number that digits stand for.

    >>> read_cutoff("0.10"), read_cutoff("05")
    (0.1, 5)
    """
    number: int | float = ast.literal_eval(written.lstrip("0") or "0")
    return number


def _parse_parameters(name: str, written: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"measure({written})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError("not name=value")
        values = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        if len(values) < len(call.keywords):
            raise ValueError("one is given twice")
    except (SyntaxError, ValueError) as error:
        raise EvaluationError(
            f"the parameters of measure {name!r} cannot be read ({error}); write them like (rel=2)"
        ) from error
    return values


def build_measure(family: Family, parameters: Mapping[str, Any], cutoff: int | float | None) -> Measure:
    """The measure of a family, its parameters checked, under its canonical name.

    Raises `EvaluationError` where a parameter or the cutoff is not what the family takes.
    """
    values = {name: _read_value(family, name, value) for name, value in parameters.items()}
    lacking = [
        name for name, default in family.parameters.items() if default is REQUIRED and name not in values
    ]
    if lacking:
        raise EvaluationError(
            f"measure {family.base} lacks its parameter {lacking[0]}; write {family.base}({lacking[0]}=…)"
        )
    conflict = family.find_conflict({**family.parameters, **values})
    if conflict:
        raise EvaluationError(f"measure {family.base} cannot be computed so: {conflict}")
    is_valid, expected = _CUTOFF_RULES[family.cutoff]
    if not is_valid(cutoff):
        raise EvaluationError(f"the cutoff of measure {family.base} is {cutoff}; expected {expected}")
    given = {
        parameter: value
        for parameter, value in sorted(values.items())
        if value != family.parameters[parameter]
    }
    return Measure(_write_name(family, given, cutoff), family, given, cutoff)


def _read_value(family: Family, parameter: str, value: Any) -> Any:
    """The value of a parameter that a name gives, if the family takes it."""
    if parameter not in family.parameters:
        takes = ", ".join(sorted(family.parameters)) or "none"
        raise EvaluationError(f"measure {family.base} has no parameter {parameter!r}; it takes: {takes}")
    if parameter in _NUMBERS and type(value) is int:
        value = float(value)
    is_valid, expected = _PARAMETER_RULES[parameter]
    if not is_valid(value):
        raise EvaluationError(f"{parameter} of measure {family.base} is {value!r}; expected {expected}")
    return value


def _write_name(family: Family, parameters: Mapping[str, Any], cutoff: int | float | None) -> str:
    written = ",".join(f"{parameter}={_write_value(value)}" for parameter, value in parameters.items())
    sign = "%" if family.cutoff == "share" else "@"
    if cutoff is not None and family.cutoff == "recall":
        cutoff = float(cutoff)
    return family.base + (f"({written})" if written else "") + ("" if cutoff is None else f"{sign}{cutoff}")


def _write_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in sorted(value.items())) + "}"
    return repr(value)
