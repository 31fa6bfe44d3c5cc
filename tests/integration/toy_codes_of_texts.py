"""A generator with codes for tests: upper case, lower case, and a code that only some papers have."""

import os
import signal
import time
from functools import partial
from typing import Any

import pyarrow as pa

from pinakes.schema import paper_variants
from pinakes.texts.generator import Generator

CODES = ("UPPER", "LOWER", "NUMBER")
"""NUMBER: the digits of the title; a title without digits has no such variant"""
MADE = pa.schema(
    [("paper_id", pa.int64()), *((name, pa.string()) for name in ("code", "title", "abstract", "reason"))]
)


def make_variant(row: dict[str, Any], code: str) -> dict[str, Any]:
    """The row of a paper and a code."""
    title, abstract = row["title"] or "", row["abstract"] or ""
    made = {"paper_id": row["paper_id"], "code": code}
    if not title:
        return {**made, "reason": "no title"}
    if code == "NUMBER":
        digits = "".join(filter(str.isdigit, title))
        return {**made, "title": digits} if digits else {**made, "reason": "no digit"}
    change = str.upper if code == "UPPER" else str.lower
    return {**made, "title": change(title), "abstract": change(abstract)}


def make_variants(behaviour: str, papers: pa.Table) -> pa.Table:
    """The rows that are asked for; a paper whose title is the behaviour's name does as that says."""
    rows = papers.to_pylist()
    if behaviour in [row["title"] for row in rows]:
        if behaviour == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if behaviour == "wait":
            time.sleep(600)
        raise RuntimeError(behaviour)
    made = [make_variant(row, code) for row in rows for code in row["codes"].split(",")]
    return pa.Table.from_pylist(made[1:] if behaviour == "forget" else made, MADE)


def make_generator(*codes: str, behaviour: str = "", producer: str = "toy 1") -> Generator:
    return Generator(producer, paper_variants, partial(make_variants, behaviour), codes or CODES)
