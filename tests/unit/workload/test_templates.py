"""Which templates a system reads a benchmark with: those given, its own, or the benchmark's."""

from dataclasses import replace

import pytest

from pinakes.queries.definition import read_benchmark
from pinakes.workload.readers import FormatChoice
from pinakes.workload.templates import choose_templates, find_own_templates

PLAIN = replace(read_benchmark("scifact"), query_template="title_abstract", paper_template="title_abstract")
FACETED = replace(PLAIN, query_template="facet_sentences", paper_template="abstract")


@pytest.mark.parametrize(
    ("system", "own"),
    [
        ("bm25", ("title_abstract", "title_abstract")),
        ("minilm", ("title_abstract", "title_abstract")),
        ("specter", ("specter", "specter")),
        ("mean:specter,scincl", ("specter", "specter")),
        ("mean:specter,minilm", ("title_abstract", "title_abstract")),
        ("/models/mine", ("title_abstract", "title_abstract")),
    ],
)
def test_a_system_has_the_templates_of_its_publication(system: str, own: tuple[str, str]) -> None:
    assert find_own_templates(system, FormatChoice()) == own
    assert choose_templates(PLAIN, system, None, None) == own


def test_a_systems_template_takes_the_place_of_the_plain_one_alone() -> None:
    assert choose_templates(FACETED, "specter", None, None) == ("facet_sentences", "abstract")
    mixed = replace(PLAIN, paper_template="abstract")
    assert choose_templates(mixed, "specter", None, None) == ("specter", "abstract")


def test_a_template_that_is_given_wins() -> None:
    assert choose_templates(PLAIN, "specter", "title", None) == ("title", "specter")
    assert choose_templates(FACETED, "bm25", "title", "title_abstract") == ("title", "title_abstract")
