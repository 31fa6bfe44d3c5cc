"""The synthetic world's papers as S2ORC of 2020 publishes them: `metadata/metadata_<n>.jsonl`.

A paper's number, counted from 1, is its `paper_id`. Every third paper has no DOI, and papers of Medicine and
Biology have a PubMed id; all DOIs are of the prefix 10.5555, which names nothing.
Full texts (`pdf_parses`) are not written.
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

from pinakes.loaders.synthetic.citations import count_citations, find_pairs
from pinakes.loaders.synthetic.hashing import Integers
from pinakes.loaders.synthetic.papers import build_papers
from pinakes.loaders.synthetic.world import World

_PAPER_STEP: Final = 10_000
_PUBMED_FIELDS: Final = (1, 13)
_LOW: Final = 0xFFFFFFFF


@dataclass(frozen=True)
class Links:
    """For each paper the others, from `ends[paper]` to `ends[paper + 1]` - 1."""

    ends: Integers
    others: npt.NDArray[np.int32]

    def write_ids(self, papers: Integers) -> pa.Array:
        """The others of consecutive papers as JSON lists of ids."""
        ends = self.ends[papers[0] : papers[-1] + 2]
        ids = spell_numbers(self.others[ends[0] : ends[-1]].astype(np.int64))
        return write_lists(ends - ends[0], quote_texts(ids))

    def are_there(self, papers: Integers) -> pa.Array:
        """Whether each of consecutive papers has any, as JSON."""
        return write_flags(np.diff(self.ends[papers[0] : papers[-1] + 2]) > 0)


def invert_citations(world: World) -> tuple[Links, Links]:
    """Outbound and inbound citations, each pair once: 16 bytes a mention while they are sorted, 8 after."""
    pairs = np.empty(count_citations(world), dtype=np.int64)
    used = 0
    for found, _ in find_pairs(world):
        pairs[used : used + len(found)] = found
        used += len(found)
    pairs = pairs[:used]
    outbound = _collect(world, pairs)
    pairs = ((pairs & _LOW) << 32) | (pairs >> 32)
    pairs.sort()
    return outbound, _collect(world, pairs)


def _collect(world: World, pairs: Integers) -> Links:
    ends = np.searchsorted(pairs, np.arange(world.papers + 1) << 32)
    return Links(ends, pairs.astype(np.int32))  # the lower half alone


def step_papers(part: range) -> Iterator[Integers]:
    """The papers of the part, some thousands at a time."""
    for start in range(part.start, part.stop, _PAPER_STEP):
        yield np.arange(start, min(start + _PAPER_STEP, part.stop))


def spell_numbers(papers: Integers) -> pa.Array:
    """The ids of papers in a release: paper 0 is `1`."""
    return write_numbers(papers + 1)


def find_ends(rows: pa.Table, papers: Integers) -> Integers:
    """Where the rows of each paper end among `rows`, which are in order of consecutive papers."""
    return np.searchsorted(rows["row_number"].to_numpy(), np.append(papers, papers[-1] + 1) + 1)


def derive_identifiers(world: World, papers: Integers) -> dict[str, pa.Array]:
    """The identifiers of papers: `doi`, `mag` and `pubmed`; a paper may lack the first and the last."""
    fields = world.find_fields(world.find_topics(papers))
    dois = pc.binary_join_element_wise("10.5555/synthetic.", spell_numbers(papers), "")
    return {
        "doi": pc.if_else(pa.array(papers % 3 != 2), dois, None),
        "mag": write_numbers(papers + 2_000_000_001),
        "pubmed": pc.if_else(
            pa.array(np.isin(fields, _PUBMED_FIELDS)), write_numbers(papers + 500_000_001), None
        ),
    }


def write_metadata(world: World, links: tuple[Links, Links], part: range) -> Iterator[memoryview]:
    """The records of the papers of a part as JSON Lines, some thousands at a time."""
    for papers in step_papers(part):
        yield write_lines(_write_records(world, links, papers))


def _write_records(world: World, links: tuple[Links, Links], papers: Integers) -> pa.Array:
    tables = build_papers(world, papers, np.zeros(len(papers), dtype=np.int32))
    rows, fields = tables["papers"], tables["fields"]
    ids = spell_numbers(papers)
    known = {scheme: quote_texts(values) for scheme, values in derive_identifiers(world, papers).items()}
    outbound, inbound = links
    return write_objects(
        {
            "paper_id": quote_texts(ids),
            "title": quote_texts(take_column(rows, "title")),
            "authors": _write_authors(tables["authorships"], papers),
            "abstract": quote_texts(take_column(rows, "abstract")),
            "year": write_numbers(rows["year"].to_numpy()),
            "arxiv_id": NULL,
            "acl_id": NULL,
            "pmc_id": NULL,
            "pubmed_id": known["pubmed"],
            "doi": known["doi"],
            "venue": quote_texts(take_column(rows, "venue")),
            "journal": NULL,
            "mag_id": known["mag"],
            "mag_field_of_study": write_lists(
                find_ends(fields, papers), quote_texts(take_column(fields, "field"))
            ),
            "outbound_citations": outbound.write_ids(papers),
            "inbound_citations": inbound.write_ids(papers),
            "has_outbound_citations": outbound.are_there(papers),
            "has_inbound_citations": inbound.are_there(papers),
            "has_pdf_parse": "false",
            "s2_url": quote_texts(
                pc.binary_join_element_wise("https://api.semanticscholar.org/CorpusID:", ids, "")
            ),
        }
    )


def _write_authors(rows: pa.Table, papers: Integers) -> pa.Array:
    names = pc.extract_regex(
        take_column(rows, "author_name"), r"^(?P<first>\S+) (?P<middle>\S+) (?P<last>.+)$"
    )
    first, middle, last = (quote_texts(part) for part in names.flatten())
    middles = pc.binary_join_element_wise("[", middle, "]", "")
    authors = write_objects({"first": first, "middle": middles, "last": last, "suffix": '""'})
    return write_lists(find_ends(rows, papers), authors)
