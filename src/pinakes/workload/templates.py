"""Which text templates a system reads a benchmark or a corpus with: those given, its own, or the benchmark's.

A preset's template takes the place of `title_abstract` only, the plain text that says the same: a benchmark
that asks with a sentence or a facet goes on asking so. Prefixes of an encoder are no part of a template.
"""

from collections.abc import Sequence

from pinakes.indexers.encoder.presets import find_base
from pinakes.queries.definition import Benchmark
from pinakes.workload.readers import FormatChoice, Reader, find_readers
from pinakes.workload.scope import PAPER_TEMPLATE as PLAIN


def choose_templates(
    benchmark: Benchmark,
    system: str,
    query_template: str | None,
    paper_template: str | None,
    format: str | None = None,
) -> tuple[str, str]:
    """The templates of queries and of papers; `format` is one asked for in place of the benchmark's."""
    own_query, own_paper = find_own_templates(system, FormatChoice(benchmark.format, format))
    folder_query, folder_paper = benchmark.query_template, benchmark.paper_template
    return (
        query_template or (own_query if folder_query == PLAIN else folder_query),
        paper_template or (own_paper if folder_paper == PLAIN else folder_paper),
    )


def find_own_templates(system: str, choice: FormatChoice) -> tuple[str, str]:
    """What a system's publication reads queries and papers with; `title_abstract` where it does not say.

    Raises:
        InputError: the system has an embedding for each format, and none is known.

    >>> find_own_templates("specter", FormatChoice()), find_own_templates("bm25", FormatChoice())
    (('specter', 'specter'), ('title_abstract', 'title_abstract'))
    """
    readers = find_readers(system, choice)
    return _agree(readers.queries, "query_template"), _agree(readers.papers, "paper_template")


def _agree(readers: Sequence[Reader], side: str) -> str:
    """The template that all readers have; the plain one where they differ or have none."""
    found = {getattr(find_base(reader.encoder), side, None) for reader in readers}
    return (found.pop() if len(found) == 1 else None) or PLAIN
