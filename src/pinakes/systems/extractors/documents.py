"""Examples by the document that they are of, so that what a document needs is made once."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from pinakes.workload.summaries import Example


def list_documents(examples: Sequence[Example]) -> Iterator[tuple[int, list[Example]]]:
    """Each document that has examples, in the order of `SummaryQuestions.documents`, with these."""
    ordered = sorted(examples, key=lambda example: (example.document, example.query_id))
    for document, found in groupby(ordered, key=lambda example: example.document):
        yield document, list(found)
