"""The synthetic world as datasets of the Semantic Scholar Academic Graph: papers, abstracts, citations.

A paper's number, counted from 1, is its `corpusid`. A citation is a pair of papers with all its contexts; it
is influential when there are two contexts or more. The intents are drawn, and say nothing of the contexts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from _json_columns import (
    NULL,
    quote_texts,
    take_column,
    write_flags,
    write_lines,
    write_lists,
    write_numbers,
    write_objects,
)
from _release_2020 import derive_identifiers, find_ends, spell_numbers, step_papers

from pinakes.loaders.synthetic.citations import (
    build_citations,
    find_cited,
    find_pairs,
    list_mentions,
    step_mentions,
)
from pinakes.loaders.synthetic.hashing import Integers, scale_words
from pinakes.loaders.synthetic.papers import build_papers
from pinakes.loaders.synthetic.world import World

Counts = npt.NDArray[np.int32]

_INTENTS: Final = ('["background"]', '["methodology"]', '["result"]', '["background", "methodology"]', NULL)
_LOW: Final = 0xFFFFFFFF


@dataclass(frozen=True)
class PairCounts:
    """For each paper how many it cites, how many cite it, and how many of these are influential."""

    references: Counts
    citations: Counts
    influential: Counts


def count_pairs(world: World) -> PairCounts:
    """One pass over all mentions; twelve bytes a paper."""
    counts = PairCounts(*(np.zeros(world.papers, dtype=np.int32) for _ in range(3)))
    one = np.int32(1)
    for pairs, mentions in find_pairs(world):
        cited = pairs & _LOW
        np.add.at(counts.references, pairs >> 32, one)
        np.add.at(counts.citations, cited, one)
        np.add.at(counts.influential, cited[mentions > 1], one)
    return counts


def write_papers(world: World, counts: PairCounts, part: range) -> Iterator[memoryview]:
    """The records of the dataset `papers` for a part of the papers, some thousands at a time."""
    for papers in step_papers(part):
        yield write_lines(_describe_papers(world, counts, papers))


def _describe_papers(world: World, counts: PairCounts, papers: Integers) -> pa.Array:
    tables = build_papers(world, papers, counts.citations[papers])
    rows, ids = tables["papers"], spell_numbers(papers)
    return write_objects(
        {
            "corpusid": ids,
            "externalids": _write_identifiers(world, papers, ids),
            "url": quote_texts(pc.binary_join_element_wise("https://www.semanticscholar.org/p/", ids, "")),
            "title": quote_texts(take_column(rows, "title")),
            "authors": _write_authors(tables["authorships"], papers),
            "venue": quote_texts(take_column(rows, "venue")),
            "publicationvenueid": NULL,
            "year": write_numbers(rows["year"].to_numpy()),
            "referencecount": write_numbers(counts.references[papers]),
            "citationcount": write_numbers(counts.citations[papers]),
            "influentialcitationcount": write_numbers(counts.influential[papers]),
            "isopenaccess": "false",
            "s2fieldsofstudy": _write_fields(tables["fields"], papers),
            "publicationtypes": NULL,
            "publicationdate": NULL,
            "journal": NULL,
        }
    )


def _write_identifiers(world: World, papers: Integers, ids: pa.Array) -> pa.Array:
    known = {scheme: quote_texts(values) for scheme, values in derive_identifiers(world, papers).items()}
    return write_objects(
        {
            "ACL": NULL,
            "DBLP": NULL,
            "ArXiv": NULL,
            "MAG": known["mag"],
            "CorpusId": quote_texts(ids),
            "PubMed": known["pubmed"],
            "DOI": known["doi"],
            "PubMedCentral": NULL,
        }
    )


def _write_authors(rows: pa.Table, papers: Integers) -> pa.Array:
    numbers = pc.cast(pc.utf8_slice_codeunits(take_column(rows, "author_source_id"), 4), pa.int64())
    ids = quote_texts(write_numbers(numbers.to_numpy()))
    names = quote_texts(take_column(rows, "author_name"))
    return write_lists(find_ends(rows, papers), write_objects({"authorId": ids, "name": names}))


def _write_fields(rows: pa.Table, papers: Integers) -> pa.Array:
    fields = quote_texts(take_column(rows, "field"))
    return write_lists(
        find_ends(rows, papers), write_objects({"category": fields, "source": '"s2-fos-model"'})
    )


def write_abstracts(world: World, part: range) -> Iterator[memoryview]:
    """The records of the dataset `abstracts` for a part of the papers, some thousands at a time."""
    for papers in step_papers(part):
        rows = build_papers(world, papers, np.zeros(len(papers), dtype=np.int32))["papers"]
        ids = spell_numbers(papers)
        open_access = write_objects(
            {
                "externalids": _write_identifiers(world, papers, ids),
                "license": NULL,
                "url": NULL,
                "status": NULL,
            }
        )
        abstracts = quote_texts(take_column(rows, "abstract"))
        yield write_lines(
            write_objects({"corpusid": ids, "openaccessinfo": open_access, "abstract": abstracts})
        )


def write_citations(world: World, part: range) -> Iterator[memoryview]:
    """The records of the dataset `citations` for a part of the mentions, some thousands at a time."""
    for first, last in step_mentions(part):
        yield write_lines(_describe_citations(world, first, last))


def _describe_citations(world: World, first: int, last: int) -> pa.Array:
    """The pairs of a chunk of `step_mentions`, in order; `citationid` is the number of the first mention."""
    citing, mentions = list_mentions(world, first, last)
    pairs = (citing << 32) | find_cited(world, citing, mentions)
    pairs = pairs[: last - first]  # none is of the papers behind the chunk: a chunk holds whole papers
    order = np.argsort(pairs, kind="stable")
    once, starts = np.unique(pairs[order], return_index=True)
    ends = np.append(starts, len(pairs))
    contexts = take_column(build_citations(world, first, last), "context").take(pa.array(order))
    intents = scale_words(world.draw("intent", first + order), len(_INTENTS))
    return write_objects(
        {
            "citationid": write_numbers(first + order[starts] + 1),
            "citingcorpusid": spell_numbers(once >> 32),
            "citedcorpusid": spell_numbers(once & _LOW),
            "isinfluential": write_flags(np.diff(ends) > 1),
            "contexts": write_lists(ends, quote_texts(contexts)),
            "intents": write_lists(ends, pa.array(_INTENTS).take(pa.array(intents))),
        }
    )
