"""`derive summaries` over a small corpus: examples, reasons, labels, splits; what is kept and made anew."""

from dataclasses import replace
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.load.deduplicate import deduplicate
from pinakes.report.status import find_orphans, read_status
from pinakes.texts.summaries import label_store, sections
from pinakes.texts.summaries.derive import derive_summaries
from pinakes.texts.summaries.request import SummariesMade, SummaryRequest
from tests.benching import change
from tests.integration.summaries import GRAPHS, full_text, load_toy
from tests.loading import dump_tables

pytestmark = pytest.mark.in_turn

CITING = ("citing exact", "citing aligned 0.6")
TOY = SummaryRequest("toy", labellers=CITING)
PRODUCER = "summaries 1 punkt-3.10.4 seed=1"
DERIVED = (
    "summary_examples",
    "absent_examples",
    "summary_labels",
    "summary_labellings",
    "summary_augmentations",
    "summary_splits",
)


def add_others(database: Database) -> None:
    """Two more corpora: of papers with r4's DOI, with r5's title (one in each), and two with r6's title."""
    change(database, "INSERT INTO corpora VALUES (8, 'other', '', '', '', ''), (9, 'third', '', '', '', '')")
    papers = [
        (801, 8, "x", "'Of another name'", "'A paper of that DOI.'"),
        (802, 8, "y", "'The title of a work, that others hold'", "'The abstract in other.'"),
        (803, 8, "z1", "'A title that stands with two works'", "'One.'"),
        (804, 8, "z2", "'A title that stands with two works'", "'Two.'"),
        (901, 9, "y", "'the title of a work that others hold'", "'The abstract in third.'"),
    ]
    for paper_id, corpus_id, source_id, title, abstract in papers:
        change(
            database,
            "INSERT INTO papers (paper_id, corpus_id, source_id, title, abstract, batch_id) "
            f"VALUES ({paper_id}, {corpus_id}, '{source_id}', {title}, {abstract}, 1)",
        )
    change(database, "INSERT INTO paper_identifiers VALUES (801, 'doi', '10.1/x')")


@pytest.fixture
def toy(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    load_toy(database, monkeypatch)
    add_others(database)
    return database


def read(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query)]


def dump(database: Database, *names: str) -> dict[str, list[tuple[Any, ...]]]:
    tables = dump_tables(database)
    return {name: tables.get(name, []) for name in names or DERIVED}


EXAMPLES = (
    "SELECT papers.source_id, cited_references.reference_key, {} FROM {} AS made "
    "INNER JOIN papers ON made.paper_id = papers.paper_id "
    "INNER JOIN cited_references ON made.reference_id = cited_references.reference_id ORDER BY 1, 2"
)


def read_examples(database: Database, columns: str, table: str = "summary_examples") -> list[tuple[Any, ...]]:
    return read(database, EXAMPLES.format(columns, table))


def test_every_pair_is_an_example_or_has_its_reason(toy: Database) -> None:
    made = derive_summaries(toy, TOY)
    assert read_examples(toy, "query_from, query, mentions, sentences") == [
        ("a", "b", "paper", "Ranking of deep models.", 1, 6),
        ("a", "r1", "reference", GRAPHS, 3, 6),
        ("b", "r1", "reference", GRAPHS, 1, 2),
        ("b", "r4", "identifier", "A paper of that DOI.", 1, 2),
        ("b", "r5", "title", "The abstract in other.", 1, 2),
        ("c", "r1", "reference", GRAPHS, 1, 1),
    ]
    assert read_examples(toy, "reason", "absent_examples") == [
        ("a", "r3", "no abstract of the cited work"),
        ("b", "r6", "several papers with the title of the cited work"),
        ("d", "r1", "no full text"),
        ("e", "b", "no citing context"),
        ("e", "r1", "no citing context"),
    ]
    pairs = read(toy, "SELECT DISTINCT citing_paper_id, reference_id FROM citations")
    assert made.pairs == len(pairs) == made.examples + sum(made.absent.values()) == 11
    assert (made.mentions, made.mentions_without_context) == (14, 3)
    assert (made.papers, made.sentences, made.made_examples) == (3, 9, 6)
    assert made.query_from == {"reference": 3, "identifier": 1, "paper": 1, "title": 1}
    assert made.producer == PRODUCER
    cited = "SELECT cited FROM summary_examples WHERE mentions = 3"
    assert read(toy, cited) == [
        ("Lee ranks papers by citation graphs (2020). It works.\nAs we show, the graphs are very large.",)
    ]
    assert find_orphans(toy) == {}


def test_sentences_of_the_sections_are_the_splitters(toy: Database) -> None:
    derive_summaries(toy, TOY)
    of_a = "SELECT section_number, position, text FROM sentences WHERE paper_id = 1 ORDER BY 1, 2"
    assert read(toy, of_a) == [
        (1, 1, "Deep models are common."),
        (1, 2, "Lee ranks papers by citation graphs (2020)."),
        (1, 3, "It works."),
        (2, 1, "The graphs are large, as we show."),
        (2, 2, "Weather is fine."),
        (2, 3, "They are large."),
    ]
    assert read(toy, "SELECT DISTINCT producer FROM sentences") == [("split 1 punkt-3.10.4",)]
    assert {row["stale_rows"] for row in read_status(toy)["derived_rows"]} == {0}


def test_labels_are_those_of_the_citing_sentences(toy: Database) -> None:
    made = derive_summaries(toy, TOY)
    labels = (
        "SELECT labeller, section_number, position, step, score FROM summary_labels "
        "INNER JOIN summary_examples USING (paper_id, reference_id, producer) WHERE mentions = 3 "
        "ORDER BY 1, 2, 3"
    )
    assert read(toy, labels) == [
        ("citing aligned 0.6", 1, 2, None, 1.0),
        ("citing aligned 0.6", 1, 3, None, 1.0),
        ("citing aligned 0.6", 2, 1, None, 14 / 15),
        ("citing exact", 1, 2, None, None),
        ("citing exact", 1, 3, None, None),
    ]
    assert [(one.labeller, one.labels, one.without_positives) for one in made.labellers] == [
        ("citing aligned 0.6", 7, 1),
        ("citing exact", 6, 1),
    ]
    assert [one.mean_positives for one in made.labellers] == [7 / 6, 1.0]


def test_a_second_derivation_makes_nothing_and_another_labeller_adds(toy: Database) -> None:
    derive_summaries(toy, TOY)
    before = dump(toy, *DERIVED, "sentences")
    again = derive_summaries(toy, TOY)
    done = (again.split_papers, again.made_examples, again.removed_examples, again.made_labellings)
    assert done == (0, 0, 0, 0)
    assert dump(toy, *DERIVED, "sentences") == before
    more = derive_summaries(toy, replace(TOY, labellers=("citing aligned 0.9",)))
    assert (more.made_examples, more.made_labellings, len(more.labellers)) == (0, 6, 3)
    after = dump(toy)
    assert set(before["summary_labels"]) < set(after["summary_labels"])
    assert after["summary_examples"] == before["summary_examples"]


def test_greedy_labels_are_the_seed_and_what_was_added(toy: Database) -> None:
    names = ("greedy rouge2 f rouge_score citing", "greedy rouge2 f rouge zero")
    derive_summaries(toy, replace(TOY, labellers=names))
    ended = (
        "SELECT labeller, steps, start_score > 0, score, published_score FROM summary_augmentations "
        "INNER JOIN summary_examples USING (paper_id, reference_id, producer) WHERE mentions = 3 ORDER BY 1"
    )
    rows = read(toy, ended)
    assert [row[:3] for row in rows] == [(names[1], 1, False), (names[0], 1, True)]
    assert [row[3:] for row in rows] == [
        (0.35714285278061225, 0.3529411725778547),
        (0.5, pytest.approx(7 / 15, rel=1e-12)),
    ]
    labels = (
        "SELECT labeller, section_number, position, step FROM summary_labels "
        "INNER JOIN summary_examples USING (paper_id, reference_id, producer) WHERE mentions = 3 "
        "ORDER BY 1, 2, 3"
    )
    assert read(toy, labels) == [
        (names[1], 1, 2, None),
        (names[1], 1, 3, None),
        (names[1], 2, 3, 1),
        (names[0], 1, 2, None),
        (names[0], 1, 3, None),
        (names[0], 2, 1, None),
        (names[0], 2, 3, 1),
    ]


GREEDY = ("greedy rouge2 f rouge_score citing", "greedy rouge2 f rouge zero")


@pytest.mark.parametrize(
    ("labellers", "jobs"),
    [
        ((CITING[-1], GREEDY[0]), 1),
        pytest.param((*CITING, *GREEDY), 2, marks=pytest.mark.long),
    ],
)
def test_rows_are_the_same_in_both_databases_and_with_two_workers(
    both_databases: tuple[Database, Database],
    monkeypatch: pytest.MonkeyPatch,
    labellers: tuple[str, ...],
    jobs: int,
) -> None:
    monkeypatch.setattr(sections, "PAPERS_PER_BATCH", 1)
    monkeypatch.setattr(label_store, "PAPERS_PER_BATCH", 1)
    dumped = []
    made: list[SummariesMade] = []
    for database, number in zip(both_databases, (1, jobs), strict=True):
        load_toy(database, monkeypatch)
        add_others(database)
        said = derive_summaries(database, replace(TOY, labellers=labellers, jobs=number))
        made.append(replace(said, elapsed_s=0.0))
        dumped.append(dump(database, *DERIVED, "sentences"))
    assert dumped[0] == dumped[1]
    assert made[0] == made[1]
    assert all(dumped[0].values())


def test_what_changes_is_made_anew_and_what_is_stale_goes(
    toy: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    derive_summaries(toy, TOY)
    before = dump(toy)
    load_toy(toy, monkeypatch, "2", b=full_text("b", "We follow Lee [1].", abstract="Ranking."))
    made = derive_summaries(toy, TOY)
    assert (made.split_papers, made.made_examples, made.removed_examples, made.made_labellings) == (
        1,
        4,
        4,
        8,
    )
    of_b = "SELECT position, text FROM sentences WHERE paper_id = 2"
    assert read(toy, of_b) == [(1, "We follow Lee [1].")]
    assert read_examples(toy, "query, sentences")[0] == ("a", "b", "Ranking.", 6)
    after = dump(toy)
    for table in ("summary_labels", "summary_labellings"):
        kept = [row for row in before[table] if row[0] == 3]
        assert [row for row in after[table] if row[0] == 3] == kept
    change(toy, "UPDATE cited_references SET abstract = NULL WHERE reference_key = 'r1'")
    made = derive_summaries(toy, TOY)
    assert (made.made_examples, made.removed_examples, made.absent["no abstract of the cited work"]) == (
        0,
        3,
        6,
    )
    assert made.pairs == 11
    keys = read(toy, "SELECT paper_id, reference_id FROM summary_examples")
    for table in ("summary_labels", "summary_labellings", "summary_splits"):
        assert set(read(toy, f"SELECT paper_id, reference_id FROM {table}")) <= set(keys)
    change(toy, "DELETE FROM citations")
    made = derive_summaries(toy, TOY)
    assert (made.pairs, made.removed_examples) == (0, 3)
    assert dump(toy) == {name: [] for name in DERIVED}


def test_merged_papers_and_works_count_as_one(toy: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    title = "Of ranking papers by their graphs"
    papers = {
        "f": full_text("f", title=title, abstract="Ours."),
        "g": full_text("g", "It works. Weather is fine.", title=title),
    }
    load_toy(toy, monkeypatch, "2", **papers)
    change(
        toy,
        "INSERT INTO cited_references (reference_id, corpus_id, reference_key, title, abstract) "
        "VALUES (70, 1, 'r7', 'citation graphs of scholarly papers!', NULL)",
    )
    batch = "SELECT MIN(batch_id) FROM papers"
    for number, (citing, context) in enumerate([("f", "It works."), ("g", "Weather is fine.")], start=900):
        change(
            toy,
            "INSERT INTO citations (citation_id, citing_paper_id, reference_id, context, batch_id) "
            f"SELECT {number}, paper_id, {70 if citing == 'f' else 1}, '{context}', ({batch}) FROM papers "
            f"WHERE source_id = '{citing}'",
        )
    first = read(toy, "SELECT reference_id FROM cited_references WHERE reference_key = 'r1'")[0][0]
    change(toy, f"UPDATE citations SET reference_id = {first} WHERE citation_id = 901")
    deduplicate(toy, "toy")
    made = derive_summaries(toy, TOY)
    assert made.pairs == 12
    examples = read_examples(toy, "query, cited, mentions")
    assert examples[-1] == ("g", "r1", GRAPHS, "It works.\nWeather is fine.", 2)


def test_too_few_relevant_sentences_are_a_reason_that_stays(toy: Database) -> None:
    request = replace(TOY, min_positives=2, min_sentences=2)
    made = derive_summaries(toy, request)
    assert made.producer == (
        "summaries 1 punkt-3.10.4 min_sentences=2 min_positives=2 of citing exact, seed=1"
    )
    assert (made.pairs, made.examples) == (11, 1)
    assert made.absent["fewer than 2 relevant sentences"] == 4
    assert made.absent["fewer than 2 sentences"] == 1
    assert [one.examples for one in made.labellers] == [1, 1]
    before = dump(toy)
    again = derive_summaries(toy, request)
    assert (again.made_examples, again.removed_examples, again.made_labellings) == (0, 0, 0)
    assert dump(toy) == before
    derive_summaries(toy, TOY)
    assert len(dump(toy)["summary_examples"]) == 7
    change(toy, "UPDATE cited_references SET abstract = 'Another.' WHERE reference_key = 'r1'")
    assert derive_summaries(toy, request).made_examples == 2


def test_sentences_of_the_source_are_taken_as_they_are(toy: Database) -> None:
    change(
        toy,
        "INSERT INTO sentences (paper_id, section_number, position, text, producer) VALUES "
        "(2, 1, 1, 'We follow Lee [1]. Others rank papers, too.', 'toy'), (2, 0, 1, 'Not this.', 'toy')",
    )
    made = derive_summaries(toy, replace(TOY, splitter="source"))
    assert made.producer == "summaries 1 source seed=1"
    assert (made.examples, made.absent["no sentences from the source"]) == (3, 3)
    assert set(read(toy, "SELECT splitter, sentences FROM summary_examples")) == {("toy", 1)}
    assert read(toy, "SELECT COUNT(*) FROM sentences") == [(2,)]


def test_tiny_corpora_are_split(duckdb_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    load_toy(duckdb_database, monkeypatch)
    add_others(duckdb_database)
    derive_summaries(duckdb_database, TOY)
    for count in (5, 2, 1, 0):
        check_split(duckdb_database, count)


def check_split(duckdb_database: Database, count: int) -> None:
    """With all examples but so many taken away."""
    kept = read(
        duckdb_database, f"SELECT paper_id, reference_id FROM summary_examples ORDER BY 1, 2 LIMIT {count}"
    )
    listed = " OR ".join(f"(citing_paper_id = {one} AND reference_id = {other})" for one, other in kept)
    change(duckdb_database, f"DELETE FROM citations WHERE NOT ({listed or '1 = 0'})")
    made = derive_summaries(duckdb_database, TOY)
    assert made.examples == count
    by_example, by_paper = made.splits
    assert by_example.train + by_example.dev + by_example.test == count
    assert (by_example.train, by_example.test) == {0: (0, 0), 1: (1, 0), 2: (1, 1), 5: (4, 1)}[count]
    assert by_paper.train + by_paper.dev + by_paper.test == count
    if by_paper.leaked_examples is not None:
        assert by_paper.leaked_examples == by_paper.leaked_sentences == 0


def test_what_is_asked_for_wrongly_is_refused(toy: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [])
    for wrong, message in {
        replace(TOY, splitter="nltk"): "python -m nltk.downloader punkt_tab; or take punkt",
        replace(TOY, labellers=("citing",)): "unknown labeller 'citing'; expected `citing exact`",
        replace(TOY, labellers=("citing aligned 1.5",)): "above 0 and at most 1",
        replace(TOY, labellers=()): "no labeller is named",
        replace(TOY, min_positives=-1): "--min-positives is -1; expected a whole number from 0",
        replace(TOY, min_sentences=0): "--min-sentences is 0; expected a whole number from 1",
        replace(TOY, jobs=0): "--jobs is 0",
        replace(TOY, split_seed=-1): "--seed is -1",
        replace(TOY, test=0.6, dev=0.4): "must be above 0, and below 1 together",
    }.items():
        with pytest.raises(InputError, match=message):
            derive_summaries(toy, wrong)
    with pytest.raises(UnknownNameError, match="unknown splitter 'x'; known: "):
        derive_summaries(toy, replace(TOY, splitter="x"))
    with pytest.raises(UnknownNameError, match="unknown corpus 'x'"):
        derive_summaries(toy, replace(TOY, corpus="x"))
    assert dump(toy, *DERIVED, "sentences") == {name: [] for name in (*DERIVED, "sentences")}
