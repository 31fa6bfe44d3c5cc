"""What the Academic Graph's diffs take back: papers, citations, abstracts and full texts.

A paper that has lost its abstract or its full text is a record that says so: it holds neither. Leaves out:
the other names of papers (`paper-ids`), which go with their papers.
"""

from typing import Any

from pinakes.loaders.s2orc.graph_papers import take_corpus_id
from pinakes.loaders.staging import Rows


def parse_paper(record: dict[str, Any]) -> Rows:
    """A paper that is in the graph no longer."""
    return {"deletions": [{"kind": "papers", "key": take_corpus_id(record)}]}


def parse_citation(record: dict[str, Any]) -> Rows:
    """A citation that is in the graph no longer."""
    return {"deletions": [{"kind": "citations", "key": take_corpus_id(record, "citationid")}]}


def parse_cleared(record: dict[str, Any]) -> Rows:
    """A paper of which the graph says no longer what the file is about."""
    return {"papers": [{"source_id": take_corpus_id(record)}]}
