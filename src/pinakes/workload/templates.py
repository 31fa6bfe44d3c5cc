"""Which text templates a system reads a benchmark or a corpus with: those given, its own, or the benchmark's.

A preset's template takes the place of `title_abstract` only, the plain text that says the same: a benchmark
that asks with a sentence or a facet goes on asking so.
"""

from typing import Final

from pinakes.indexers.encoder.presets import find_preset
from pinakes.queries.definition import Benchmark
from pinakes.workload.scope import PAPER_TEMPLATE as PLAIN

ENSEMBLE: Final = "mean:"


def choose_templates(
    benchmark: Benchmark, system: str, query_template: str | None, paper_template: str | None
) -> tuple[str, str]:
    """The templates of queries and of papers."""
    own_query, own_paper = find_own_templates(system)
    folder_query, folder_paper = benchmark.query_template, benchmark.paper_template
    return (
        query_template or (own_query if folder_query == PLAIN else folder_query),
        paper_template or (own_paper if folder_paper == PLAIN else folder_paper),
    )


def find_own_templates(system: str) -> tuple[str, str]:
    """What a system's publication reads queries and papers with; `title_abstract` where it does not say.

    >>> find_own_templates("specter"), find_own_templates("bm25")
    (('specter', 'specter'), ('title_abstract', 'title_abstract'))
    """
    names = system.removeprefix(ENSEMBLE).split(",")
    found = {_of_preset(name) for name in names}
    return found.pop() if len(found) == 1 else (PLAIN, PLAIN)


def _of_preset(name: str) -> tuple[str, str]:
    preset = find_preset(name)
    if preset is None:
        return PLAIN, PLAIN
    query, paper = preset.query_template or PLAIN, preset.paper_template or PLAIN
    return _prefixed(preset.query_prefix, query), _prefixed(preset.paper_prefix, paper)


def _prefixed(prefix: str, template: str) -> str:
    return f"{prefix}{{{template}}}" if prefix else template
