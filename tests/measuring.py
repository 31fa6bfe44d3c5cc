"""What ir-measures gives for rankings and judgments, in the order that ours are in."""

from collections.abc import Mapping
from typing import Any

import ir_measures


def order(scores: Mapping[str, float]) -> dict[str, float]:
    """The papers in trec_eval's order, by scores without ties."""
    ordered = sorted(scores, key=lambda paper: (scores[paper], paper.encode()), reverse=True)
    return {paper: float(len(ordered) - place) for place, paper in enumerate(ordered)}


def ask(
    judged: Mapping[str, Mapping[str, int]], scores: Any, names: list[str]
) -> dict[tuple[str, str], float]:
    """What ir-measures gives, each measure asked alone; a query without a value is worth 0."""
    run = {query: order(papers) for query, papers in scores.items() if papers and query in judged}
    found: dict[tuple[str, str], float] = {}
    for name in names:
        measure = ir_measures.parse_measure(name)
        values = (
            {one.query_id: one.value for one in ir_measures.iter_calc([measure], judged, run)} if run else {}
        )
        found |= {(name, query): float(values.get(query, 0.0)) for query in judged}
    return found
