"""Worlds that MDCR is constructed from: the synthetic corpus with made-up runs, and a very small one.

Leaves out: what is expected of them.
"""

from typing import Any

from pinakes.database import Database
from pinakes.load.load import LoadRequest, load
from pinakes.sample.sample import sample
from pinakes.schema import (
    citations,
    cited_references,
    corpora,
    paper_fields,
    papers,
    pool_members,
    pools,
    sampled_citations,
    sampled_queries,
    samplings,
)
from tests.mdcr_reference import rank_pools
from tests.sampled_rows import add_hits, add_rows, add_run

SYSTEMS = ("scibert", "bm25", "specter", "scincl")


def make_world(database: Database, **given: Any) -> None:
    """1,500 papers, two queries a field, and four made-up runs of the fields' pools."""
    load(database, LoadRequest("synthetic", options={"papers": "1500"}))
    sizes = {"pool_sizes": (250,), "validation_pool_size": 40}
    chosen: dict[str, Any] = {"queries": 2, "validation_queries": 1, "assigned_by": "synthetic", **sizes}
    sample(database, "field_level", "synthetic", {**chosen, **given})
    rank_pools(database, SYSTEMS, depth=250)


LINKS = {
    "q": ["a", "b", "c"],
    # a cites b, and is cited by c: both neighbours are cited by q, so its overlap is 2/3
    "a": ["b", "x1", "x2"],
    "c": ["a", "y1"],  # overlap 1/3; b has 1/3 as well, and comes first
    "x1": ["b"],
    "z1": ["c"],
    "late": ["a"],
}
NUMBERS = {
    name: n for n, name in enumerate(("q", "a", "b", "c", "late", "x1", "x2", "y1", "z1", "h1", "h2"), 1)
}


def make_small_world(database: Database) -> None:
    """One query of one field, which cites a, b and c; `late` is younger than the query."""
    text = "An abstract."
    add_rows(database, corpora, [(1, "small", "Small", "1", "none", "here")])
    add_rows(
        database,
        papers,
        [
            (number, 1, name, f"Title {name}", text, 2021 if name == "late" else 2019, None, None, 1)
            for name, number in NUMBERS.items()
        ],
    )
    add_rows(
        database,
        cited_references,
        [
            (
                number,
                *[
                    {"corpus_id": 1, "reference_key": name, "paper_id": number, "batch_id": 1}.get(
                        column.name
                    )
                    for column in list(cited_references.columns)[1:]
                ],
            )
            for name, number in NUMBERS.items()
        ],
    )
    pairs = [(NUMBERS[citing], NUMBERS[cited]) for citing, all_cited in LINKS.items() for cited in all_cited]
    add_rows(
        database,
        citations,
        [
            tuple(
                {"citation_id": number, "citing_paper_id": citing, "reference_id": cited, "batch_id": 1}.get(
                    column.name
                )
                for column in citations.columns
            )
            for number, (citing, cited) in enumerate(pairs, 1)
        ],
    )
    add_rows(database, paper_fields, [(number, "mag", "Art") for number in NUMBERS.values()])
    add_rows(database, samplings, [("field_level", 1, "1", 2019, 1, 0, 1, 1, 0, "made", 1, "mag")])
    add_rows(database, sampled_queries, [("field_level", "q_Art", 1, "Art", "test")])
    add_rows(database, sampled_citations, [("field_level", "q_Art", NUMBERS[name]) for name in "abc"])
    add_rows(database, pools, [("field_level", "Art/10/1", "Art/test/1", 10, 10, 1, "Art", "test")])
    members = [name for name in NUMBERS if name != "q"]
    add_rows(
        database,
        pool_members,
        [("field_level", "Art/test/1", place, NUMBERS[name]) for place, name in enumerate(members, 1)],
    )


def rank_small_world(database: Database, rankings: dict[str, list[str]]) -> None:
    for run_id, (system, names) in enumerate(rankings.items(), 1):
        add_run(database, run_id, "field_level", system)
        add_hits(database, run_id, {"Art/10/1/q_Art": [NUMBERS[name] for name in names]})
