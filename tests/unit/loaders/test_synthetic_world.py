"""What holds in every synthetic world: texts, offsets, the citation graph, the grades."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

from pinakes.loaders.synthetic import LOADER
from pinakes.loaders.synthetic.citations import count_citing
from pinakes.loaders.synthetic.world import FIELD_CYCLE, World

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module", params=["20", "130", "1500"])
def world(request: pytest.FixtureRequest) -> Rows:
    options = {"papers": request.param, "seed": "5"}
    rows: Rows = {"citations": []}
    for file in LOADER.find_files(None, options):
        for chunk in LOADER.read_chunks(file, options, 1):
            for name, table in chunk.tables.items():
                rows.setdefault(name, []).extend(table.to_pylist())
    return rows


def _group(rows: list[dict[str, Any]], key: str, value: str) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row[value])
    return groups


def test_source_ids_are_unique_and_sort_as_the_papers_come(world: Rows) -> None:
    ids = [row["source_id"] for row in world["papers"]]
    assert ids == sorted(set(ids))


def test_sentences_joined_by_a_space_are_the_abstract(world: Rows) -> None:
    texts = _group(world["sentences"], "source_id", "text")
    assert {row["source_id"]: row["abstract"] for row in world["papers"]} == {
        paper: " ".join(sentences) for paper, sentences in texts.items()
    }
    assert {len(sentences) for sentences in texts.values()} <= {4, 5, 6, 7, 8}
    for positions in _group(world["sentences"], "source_id", "position").values():
        assert positions == list(range(1, len(positions) + 1))


def test_every_abstract_has_background_method_and_result(world: Rows) -> None:
    facets = _group(world["sentences"], "source_id", "facet").values()
    assert all({"background", "method", "result"} <= set(given) for given in facets)
    assert set().union(*facets) == {"background", "method", "result", "other"}


def test_texts_are_plain_sentences_without_a_gap_or_an_open_slot(world: Rows) -> None:
    for row in world["sentences"]:
        text = row["text"]
        assert text.isascii()
        assert text.endswith(".")
        assert not text[0].islower()
        assert "  " not in text
        assert "{" not in text
    assert all(not row["title"][0].islower() for row in world["papers"])


def test_hardly_any_sentence_comes_twice(world: Rows) -> None:
    texts = [row["text"] for row in world["sentences"]]
    assert len(set(texts)) > 0.97 * len(texts)


def test_years_never_fall_and_volume_grows() -> None:
    years = World(20_000, 1).find_years(np.arange(20_000))
    volume = list(Counter(years.tolist()).values())
    assert (years[0], years[-1]) == (1970, 2024)
    assert np.all(np.diff(years) >= 0)
    assert volume[-1] > 10 * volume[0]


def test_authors_of_a_paper_are_distinct_numbered_and_keep_their_names(world: Rows) -> None:
    positions = _group(world["authorships"], "source_id", "position")
    authors = _group(world["authorships"], "source_id", "author_source_id")
    names = _group(world["authorships"], "author_source_id", "author_name")
    assert set(positions) == {row["source_id"] for row in world["papers"]}
    assert all(given == list(range(1, len(given) + 1)) for given in positions.values())
    assert {len(given) for given in positions.values()} <= {1, 2, 3, 4, 5, 6}
    assert all(len(set(given)) == len(given) for given in authors.values())
    assert all(len(set(given)) == 1 for given in names.values())


def test_every_paper_has_one_or_two_distinct_fields(world: Rows) -> None:
    fields = _group(world["fields"], "source_id", "field")
    assert set(fields) == {row["source_id"] for row in world["papers"]}
    assert all(len(set(given)) == len(given) <= 2 for given in fields.values())
    assert {row["assigned_by"] for row in world["fields"]} == {"synthetic"}


def test_five_hundred_papers_cover_all_nineteen_fields() -> None:
    small = World(500, 1)
    assert set(small.find_fields(small.find_topics(np.arange(500))).tolist()) == set(range(19))
    assert Counter(FIELD_CYCLE.tolist()).most_common(1) == [(13, 4)]


def test_every_citation_goes_to_an_earlier_paper(world: Rows) -> None:
    ids = {row["source_id"] for row in world["papers"]}
    for row in world["citations"]:
        assert row["reference_key"] in ids
        assert row["citing_source_id"] in ids
        assert row["reference_key"] < row["citing_source_id"]


def test_offsets_match_the_marker_of_the_reference(world: Rows) -> None:
    for row in world["citations"]:
        marker = row["context"][row["context_start"] : row["context_end"]]
        assert marker == f"[{row['source_reference_id'][1:]}]"
        assert row["context"].count("[") == 1


def test_a_reference_id_names_one_cited_paper(world: Rows) -> None:
    cited: dict[tuple[str, str], str] = {}
    for row in world["citations"]:
        reference = (row["citing_source_id"], row["source_reference_id"])
        assert cited.setdefault(reference, row["reference_key"]) == row["reference_key"]
    assert len(cited) == len({(citing, paper) for (citing, _), paper in cited.items()})


def test_citation_count_is_the_number_of_papers_that_cite(world: Rows) -> None:
    pairs = {(row["citing_source_id"], row["reference_key"]) for row in world["citations"]}
    counted = Counter(cited for _, cited in pairs)
    assert {row["source_id"]: row["citation_count"] for row in world["papers"]} == {
        row["source_id"]: counted[row["source_id"]] for row in world["papers"]
    }


def test_in_degrees_have_a_heavy_tail() -> None:
    counts = np.sort(count_citing(World(20_000, 1)))
    # The top hundredth of an even or a Poisson in-degree of mean 9 would hold less than 0.02 of all links.
    assert counts[-200:].sum() > 0.1 * counts.sum()
    assert counts[-1] > 20 * counts.mean()
    assert 0.02 < np.mean(counts == 0) < 0.3


def test_most_citations_stay_in_the_field() -> None:
    options = {"papers": "3000"}
    papers = World(3000, 1)
    fields = papers.find_fields(papers.find_topics(np.arange(3000)))
    same = total = 0
    for chunk in LOADER.read_chunks(LOADER.find_files(None, options)[1], options, 1):
        for row in chunk.tables["citations"].select(["citing_source_id", "reference_key"]).to_pylist():
            citing, cited = (int(name[4:]) - 1 for name in row.values())
            same += fields[citing] == fields[cited]
            total += 1
    assert 0.5 < same / total < 0.9


def test_every_query_has_a_grade_two_and_a_grade_zero_and_no_paper_twice(world: Rows) -> None:
    grades = _group(world["judgments"], "query_id", "grade")
    judged = _group(world["judgments"], "query_id", "source_id")
    assert list(grades) == [row["query_id"] for row in world["queries"]]
    assert all({0, 2} <= set(given) <= {0, 1, 2} for given in grades.values())
    assert all(len(set(papers)) == len(papers) for papers in judged.values())
    assert set().union(*judged.values()) <= {row["source_id"] for row in world["papers"]}


def test_judgments_lie_in_the_split_of_their_query(world: Rows) -> None:
    folds = {row["query_id"]: row["fold"] for row in world["queries"]}
    assert all(row["split"] == folds[row["query_id"]] for row in world["judgments"])
    assert set(folds.values()) == {"dev", "test"}


def test_relevant_papers_are_those_of_the_topic_and_the_others_share_its_field() -> None:
    options = {"papers": "1500", "queries": "40"}
    papers = World(1500, 1)
    topics = papers.find_topics(np.arange(1500))
    (chunk,) = LOADER.read_chunks(LOADER.find_files(None, options)[3], options, 1)
    by_query: dict[str, dict[int, int]] = defaultdict(dict)
    for row in chunk.tables["judgments"].to_pylist():
        by_query[row["query_id"]][int(row["source_id"][4:]) - 1] = row["grade"]
    for grades in by_query.values():
        (topic,) = {int(topics[paper]) for paper, grade in grades.items() if grade}
        assert {paper for paper, grade in grades.items() if grade} == set(np.flatnonzero(topics == topic))
        assert {int(topics[paper]) // 4 for paper in grades} == {topic // 4}


def test_topic_and_paper_are_found_from_each_other() -> None:
    papers = World(5000, 9)
    numbers = np.arange(5000)
    found = papers.find_papers(numbers // papers.slots, papers.find_slots(numbers))
    assert np.array_equal(found, numbers)
