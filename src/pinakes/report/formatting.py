"""Numbers and names as a report prints them: the one place where anything is rounded."""

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # who prints records knows of no measure
    from pinakes.report.data import Scale

ABSENT = "–"
_FACTORS = {"share": (1.0, 4), "percent": (100.0, 2)}


def format_value(value: float, scale: "Scale", measure: str = "") -> str:
    """A score as printed: four decimals, or per cent with two; a count as a whole number.

    >>> format_value(0.53279, "share"), format_value(0.53279, "percent")
    ('0.5328', '53.28')
    >>> format_value(1200.0, "percent", "NumRet")
    '1,200'
    """
    if measure and _is_count(measure):
        return f"{value:,.0f}"
    factor, decimals = _FACTORS[scale]
    return f"{value * factor:.{decimals}f}"


def _is_count(measure: str) -> bool:
    from pinakes.evaluators.registry import is_count  # late, as above

    return is_count(measure)


def format_difference(value: float, scale: "Scale", measure: str = "") -> str:
    """A difference as printed, with its sign; what rounds to zero has none.

    >>> format_difference(0.01234, "percent"), format_difference(-0.00001, "percent")
    ('+1.23', '0.00')
    """
    text = format_value(value, scale, measure)
    if not any(digit in "123456789" for digit in text):
        return text.lstrip("-")
    return text if value < 0 else f"+{text}"


def format_p(p: float) -> str:
    """A p value: four decimals, never a zero.

    >>> format_p(0.00003), format_p(0.50469)
    ('<0.0001', '0.5047')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def format_effect(effect: float) -> str:
    """An effect size with two decimals and its sign.

    >>> format_effect(-0.0953), format_effect(math.inf)
    ('-0.10', '+∞')
    """
    if math.isinf(effect):
        return "+∞" if effect > 0 else "-∞"
    return format_difference(effect / 100, "percent")


def format_seconds(seconds: float) -> str:
    """A duration in the two units that matter.

    >>> format_seconds(0.2576), format_seconds(75.2), format_seconds(7384)
    ('0.26 s', '1 min 15 s', '2 h 03 min')
    """
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def format_field(column: str, value: object) -> object:
    """A record's value as a table prints it: p values, seconds and other fractions rounded, the rest as is.

    >>> format_field("t_test_p", 0.00001), format_field("elapsed_s", 1.23456), format_field("value", 0.53279)
    ('<0.0001', '1.23', '0.5328')
    >>> format_field("hit_count", 300)
    300
    """
    if not isinstance(value, float):
        return value
    if column.endswith("_p"):
        return format_p(value)
    return f"{value:.2f}" if column.endswith("_s") else f"{value:.4f}"


def format_time(moment: datetime) -> str:
    """A point in time in UTC, to the second; one without a zone is taken as UTC.

    >>> format_time(datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    '2026-03-01 09:30:00 UTC'
    """
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return f"{aware:%Y-%m-%d %H:%M:%S} UTC"


def format_size(size: int) -> str:
    """The size of a pool in thousands or millions where it is so many of them.

    >>> format_size(200_000), format_size(2_000_000), format_size(1_234), format_size(40)
    ('200k', '2M', '1,234', '40')
    """
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit and size % unit == 0:
            return f"{size // unit:,}{letter}"
    return f"{size:,}"


def format_subset(subset: str) -> str:
    """A subset in words.

    >>> format_subset("all"), format_subset("all/test"), format_subset("facet=method/dev")
    ('all queries', 'all queries, test', 'facet method, dev')
    >>> format_subset("mean(field)"), format_subset("mean(rounded field)"), format_subset("type=bm25")
    ('mean over fields', 'mean over rounded fields', 'type bm25')
    >>> format_subset("pool_size=200000")
    'pool size 200k'
    """
    group, _, split = subset.partition("/")
    words = "all queries" if group == "all" else group.replace("=", " ", 1)
    if group.startswith("pool_size=") and group[10:].isdecimal():
        words = f"pool size {format_size(int(group[10:]))}"
    if group.startswith("mean("):
        words = f"mean over {group[5:-1]}s"
    return f"{words}, {split}" if split else words


def format_group(subset: str) -> str:
    """A subset in words as a heading has room for them: without its column and its split.

    >>> format_group("facet=method/test"), format_group("all/test"), format_group("mean(field)")
    ('method', 'all queries', 'mean over fields')
    """
    group = subset.partition("/")[0]
    return group.partition("=")[2] or format_subset(group)


def shorten(text: str, characters: int = 80) -> str:
    """The text on one line, cut behind so many characters.

    >>> shorten("a long  text", 6)
    'a lon…'
    """
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1]}…"
