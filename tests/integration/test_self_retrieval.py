"""Altered texts that ask for their papers, from rows of variants to scores, on both databases."""

import math

import pytest

from pinakes.database import Database
from pinakes.errors import BenchmarkError, EvaluationError, InputError, RunError, UnknownNameError
from pinakes.evaluate.compare import compare_subsets
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.queries.definition import list_benchmarks
from pinakes.report.gather import gather_report
from pinakes.report.output import Output
from pinakes.report.present.evaluate import print_scores
from pinakes.report.self_retrieval.gather import gather_self_retrieval
from pinakes.run import run as run_module
from pinakes.run.run import RunRequest, run
from pinakes.run.stored_runs import delete_run, find_runs
from pinakes.systems.base import SystemOptions
from pinakes.texts.neighbours.codes import CODES
from pinakes.workload.benchmark import open_benchmark
from tests.benching import change, count
from tests.long import sample
from tests.self_worlds import (
    PAPERS,
    PRODUCER,
    PUBLISHED,
    VARIANTS,
    Letters,
    read_rows,
    write_corpus,
    write_variants,
)

pytestmark = pytest.mark.in_turn

NAME = "self_retrieval"
REQUEST = RunRequest(NAME, "letters", corpus="toy")


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> Letters:
    """The one system that runs find."""
    system = Letters()
    monkeypatch.setattr(run_module, "find_system", lambda _name, _options: system)
    return system


def _write_toy(database: Database, first: int = 1) -> Database:
    write_corpus(database, "toy", PAPERS, first=first)
    write_variants(database, "toy", VARIANTS)
    return database


@pytest.fixture
def toy(initialised: Database) -> Database:
    """Three papers and seven altered texts."""
    return _write_toy(initialised)


def test_altered_texts_have_the_ranks_of_a_hand_worked_example(toy: Database, letters: Letters) -> None:
    made = run(toy, REQUEST)
    assert (made.queries_expected, made.queries_answered, made.hit_count) == (3, 3, 6 * 3 + 7)
    ranks = read_rows(toy, 'scheme, vectors, code, query_id, "rank", ties', "self_ranks")
    assert [row for row in ranks if row[1] == "raw"] == [
        ("I", "raw", "T", "p1", 1, 0),
        ("I", "raw", "T", "p2", 1, 0),
        ("I", "raw", "T", "p3", 2, 0),  # (2, 1) is nearer to (3, 0)
        ("II", "raw", "T", "p1", 1, 0),
        ("II", "raw", "T", "p2", 1, 0),
        ("II", "raw", "T", "p3", 3, 0),  # and to the title (1, 0)
        ("NN", "raw", "TDelNN_A", "p1", 1, 0),
        ("NN", "raw", "TNNU_A", "p1", 1, 0),
        ("NN", "raw", "TNNU_A", "p2", 2, 0),  # (1, 2) is nearer to (2, 9)
        ("NN", "raw", "TNNU_A", "p3", None, None),
        ("NN", "raw", "T_ADelQ1", "p2", 1, 0),
        ("NN", "raw", "T_ARot", "p1", 3, 0),
        ("NN", "raw", "mine", "p3", 1, 0),
    ]
    changed = [(row[2], row[4]) for row in ranks if row[:2] == ("I", "l2")]
    assert changed == [("T", 1), ("T", 1), ("T", 2)]
    standardised = [row[4] for row in ranks if row[:2] == ("I", "standardised")]
    assert standardised == [2, 1, 3]


def test_neighbours_share_what_is_nearest_and_change_what_they_change(
    toy: Database, letters: Letters
) -> None:
    run(toy, REQUEST)
    overlaps = read_rows(toy, "code, query_id, reading, shared_10, shared_20, same", "neighbour_overlaps")
    # two neighbours and three originals: five candidates, less the one or the two that a reading leaves out
    assert [row[1:] for row in overlaps if row[0] == "TNNU_A"] == [
        ("p1", "all", 5, 5, True),
        ("p1", "without_own", 3, 3, True),
        ("p1", "without_pair", 3, 3, True),
        ("p2", "all", 5, 5, False),
        ("p2", "without_own", 3, 3, False),
        ("p2", "without_pair", 3, 3, False),
        *(("p3", reading, None, None, None) for reading in ("all", "without_own", "without_pair")),
    ]
    changes = read_rows(toy, "code, query_id, changed", "self_ranks WHERE changed IS NOT NULL")
    assert changes == [
        ("TDelNN_A", "p1", 0.5),  # "x xx" -> "xx"
        ("TNNU_A", "p1", 0.0),
        ("TNNU_A", "p2", 0.25),  # "y yy" -> "x yy"
        ("TNNU_A", "p3", 1.0),
        ("T_ADelQ1", "p2", 0.75),
        ("T_ARot", "p1", 1.0),
        ("mine", "p3", 0.0),
    ]


def test_pairs_are_described_and_a_sample_is_mapped(toy: Database, letters: Letters) -> None:
    run(toy, REQUEST)
    statistics = read_rows(
        toy, "code, papers, pairs, lowest, highest, mean, above_mean", "similarity_statistics"
    )
    assert [(row[0], *row[1:3], row[6]) for row in statistics] == [("TNNU_A", 2, 1, 0), ("T_A", 3, 3, 1)]
    low, middle, high = 0.0, 2 / math.sqrt(85), 9 / math.sqrt(85)
    assert statistics[1][3:6] == pytest.approx((low, high, (low + middle + high) / 3), abs=1e-6)
    mapped = read_rows(toy, "code, query_id", "vector_maps")
    assert mapped == [(code, paper) for code in ("T", "T_A") for paper in ("p1", "p2", "p3")]


def test_a_text_without_a_representation_counts_as_zero(toy: Database, letters: Letters) -> None:
    run(toy, REQUEST)
    (result,) = evaluate(toy, NAME)
    assert len(result.scores) == len(result.aggregates())
    found = {(one.subset, one.measure): one for one in result.scores}

    def take(measure: str, subset: str) -> tuple[float, int, int]:
        one = found[subset, measure]
        return round(one.value, 9), one.queries_expected, one.queries_answered

    assert take("MRR", "task=I") == (round(2.5 / 3, 9), 3, 3)
    assert take("T100", "task=I") == (1.0, 3, 3)
    assert take("MRR", "task=II") == (round((2 + 1 / 3) / 3, 9), 3, 3)
    assert take("MRR", "task=I/vectors=standardised") == (round((0.5 + 1 + 1 / 3) / 3, 9), 3, 3)
    assert take("MRR", "code=TNNU_A") == take("MRR", "category=LL-HS") == (0.5, 3, 2)
    assert take("NN1", "code=TNNU_A") == (round(1 / 3, 9), 3, 2)
    assert take("NN10", "code=TNNU_A") == (round(2 / 3, 9), 3, 2)
    assert take("NN1", "category=LL-PS") == (0.0, 1, 1)
    assert take("MRR", "category=own") == (1.0, 1, 1)
    assert take("MRR", "all") == (round((1 + 0.5 + 0 + 1 / 3 + 1 + 1 + 1) / 7, 9), 7, 6)
    assert take("robustness", "all") == (round((0.5 + 1 + 1 / 3 + 1) / 4, 9), 6, 5)
    assert take("AOP@10[all]", "code=TNNU_A") == (round((0.5 + 0.5 + 0) / 3, 9), 3, 2)
    assert take("AOP@10[without_own]", "code=TNNU_A") == (0.2, 3, 2)
    assert take("AOP@20[without_pair]", "code=TNNU_A") == (0.1, 3, 2)
    assert ("task=I", "NN1") not in found
    assert ("all", "T100") not in found


def test_intervals_are_over_papers_and_a_code_of_few_papers_has_none(toy: Database, letters: Letters) -> None:
    run(toy, REQUEST)
    (result,) = evaluate(toy, NAME, measures=["MRR", "T100"])
    low, high = result.intervals["code=TNNU_A", "MRR"]
    assert (low, high) == (0.0, 1.0)  # three papers worth 1, 0.5 and 0
    assert result.intervals["task=I", "T100"] == (1.0, 1.0)
    assert ("code=T_ARot", "MRR") not in result.intervals
    assert {measure for _, measure in result.intervals} == {"MRR", "T100"}


def test_a_run_says_what_it_was_asked_and_is_made_once(toy: Database, letters: Letters) -> None:
    made = run(toy, REQUEST)
    (row,) = find_runs(toy, NAME)
    told = (
        "corpus",
        "variants",
        "mode",
        "queries_expected",
        "candidates_expected",
        "candidates_without_text",
    )
    assert [row[name] for name in told] == ["toy", PRODUCER, "corrected", 3, 3, 0]
    assert run(toy, REQUEST).existing
    change(toy, "UPDATE paper_variants SET title = 'y' WHERE code = 'TNNU_A' AND title = 'x'")
    assert not run(toy, REQUEST).existing
    with toy.begin() as session:
        delete_run(session, made.run_id)
    assert count(toy, f"neighbour_overlaps WHERE run_id = {made.run_id}") == 0


def test_both_databases_give_the_same_whatever_ids_papers_have(
    both_initialised: tuple[Database, Database], letters: Letters
) -> None:
    duck, post = both_initialised
    _write_toy(duck)
    _write_toy(post, first=500)
    tables = ("self_ranks", "neighbour_overlaps", "similarity_statistics", "scores")
    columns = {
        "self_ranks": 'scheme, vectors, code, query_id, "rank", ties, changed',
        "neighbour_overlaps": "code, query_id, reading, shared_10, shared_20, same",
        "similarity_statistics": "code, papers, pairs, lowest, highest, mean, deviation, above_mean",
        "scores": "measure, subset, value, queries_expected, queries_answered",
    }
    found = []
    for database in (duck, post):
        run(database, REQUEST)
        evaluate(database, NAME)
        rows = {table: read_rows(database, columns[table], table) for table in tables}
        found.append((find_runs(database, NAME)[0]["run_digest"], rows))
    assert found[0] == found[1]


@pytest.mark.parametrize("system", sample(["bm25", "tfidf", "sparse_bm25"], 2))
def test_lexical_systems_weigh_terms_alike_on_both_databases(
    both_initialised: tuple[Database, Database], system: str
) -> None:
    papers = [
        ("a", "graph search", "search of citation graph"),
        ("b", "protein", "folding of a protein"),
        ("c", "graph", "protein graph"),
    ]
    variants = [
        ("TNNU_A", "a", "GRAPH SEARCH", "search of citation graph"),
        ("TNNU_A", "b", "unheard", None),
        ("T_ARot", "c", "citation search", None),
    ]
    found = []
    for database in both_initialised:
        if not count(database, "corpora WHERE name = 'words'"):
            write_corpus(database, "words", papers, first=50)
            write_variants(database, "words", variants)
        index(database, NAME, system, corpus="words")
        made = run(database, RunRequest(NAME, system, corpus="words"))
        chosen = f"self_ranks WHERE run_id = {made.run_id}"
        found.append(read_rows(database, 'scheme, vectors, code, query_id, "rank", ties', chosen))
    assert found[0] == found[1]
    assert {row[1] for row in found[0]} == {"raw"}
    # c's altered text says what a says; a text of no known word finds nothing
    assert [row[2:] for row in found[0] if row[0] == "NN"] == [
        ("TNNU_A", "a", 1, 0),
        ("TNNU_A", "b", None, None),
        ("T_ARot", "c", 2, 1),
    ]


def test_what_cannot_be_asked_is_said_with_what_can(toy: Database, letters: Letters) -> None:
    with pytest.raises(InputError, match=r"expected --corpus with one of toy \(3 papers\)\."):
        run(toy, RunRequest(NAME, "letters"))
    with pytest.raises(UnknownNameError, match=r"unknown corpus 'other'; known: toy\."):
        run(toy, RunRequest(NAME, "letters", corpus="other"))
    with pytest.raises(BenchmarkError, match=r"mode published yet; .*--corpus toy --as-published`"):
        run(toy, RunRequest(NAME, "letters", corpus="toy", mode="published"))
    with pytest.raises(UnknownNameError, match=rf"'me'; known: {PRODUCER} \(corrected\)"):
        run(toy, RunRequest(NAME, "letters", corpus="toy", producer="me"))
    options = SystemOptions(index_folder=None, distance="l2")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="compares vectors by cosine, not by l2; leave --distance out"):
        run(toy, RunRequest(NAME, "letters", options, corpus="toy"))
    write_corpus(toy, "bare", [("q", "title", None), ("r", " ", "abstract")], first=90)
    with pytest.raises(BenchmarkError, match="no paper of bare has both a title and an abstract"):
        run(toy, RunRequest(NAME, "letters", corpus="bare"))
    write_corpus(toy, "plain", [("q", "title", "abstract")], first=95)
    with pytest.raises(
        BenchmarkError, match=r"no paper of plain has a neighbour yet; .*`pinakes derive neigh"
    ):
        run(toy, RunRequest(NAME, "letters", corpus="plain"))
    counted = read_rows(toy, "corpus, papers, originals, without_title, without_abstract", f"{NAME}.datasets")
    assert counted == [("bare", 2, 0, 1, 1), ("plain", 1, 1, 0, 0), ("toy", 3, 3, 0, 0)]


def test_a_producers_name_may_have_commas(toy: Database, letters: Letters) -> None:
    named = "by hand, twice"
    write_variants(toy, "toy", [("theirs", "p1", "x", None)], named)
    run(toy, REQUEST)
    asked = {row[0] for row in read_rows(toy, "code", "self_ranks")}
    assert asked == {"T", "theirs", *(variant[0] for variant in VARIANTS)}
    assert read_rows(toy, "variants", "runs") == [(f"{named}\n{PRODUCER}",)]
    evaluate(toy, NAME)
    found = gather_self_retrieval(toy, open_benchmark(toy, NAME))
    assert {(one.producer, one.code) for one in found.coverage} >= {(named, "theirs"), (PRODUCER, "mine")}


def test_a_producer_is_named_where_several_made_a_code(toy: Database, letters: Letters) -> None:
    write_variants(toy, "toy", [("TNNU_A", "p1", "y", None)], "user")
    write_variants(toy, "toy", [("TNNU_A", "p1", "yyx", None)], PUBLISHED)
    with pytest.raises(InputError, match=f"TNNU_A those of '{PRODUCER}'; 'user'. Say which with --producer"):
        run(toy, REQUEST)
    made = [
        run(toy, RunRequest(NAME, "letters", corpus="toy", producer="user")),
        run(toy, RunRequest(NAME, "letters", corpus="toy", producer=PRODUCER)),
        run(toy, RunRequest(NAME, "letters", corpus="toy", mode="published")),
    ]
    assert [row["variants"] for row in find_runs(toy, NAME)] == ["user", PRODUCER, PUBLISHED]
    ranked = read_rows(toy, 'run_id, code, query_id, "rank"', "self_ranks WHERE scheme = 'NN'")
    assert [row[1:] for row in ranked if row[0] == made[0].run_id] == [("TNNU_A", "p1", 3)]
    assert [row[1:] for row in ranked if row[0] == made[2].run_id] == [("TNNU_A", "p1", 3)]
    assert len([row for row in ranked if row[0] == made[1].run_id]) == 7


def test_neighbours_of_an_older_text_are_not_asked_with(toy: Database, letters: Letters) -> None:
    change(toy, "UPDATE papers SET abstract = 'xxx' WHERE source_id = 'p1'")
    with pytest.raises(
        BenchmarkError, match=r"^3 neighbours of toy are of an older text of their paper; make"
    ):
        run(toy, REQUEST)
    change(toy, "UPDATE paper_variants SET text_digest = NULL")
    assert run(toy, REQUEST).queries_answered == 3


def test_a_corpus_is_named_of_no_other_benchmark(toy: Database, letters: Letters) -> None:
    with pytest.raises(InputError, match=r"scifact reads the corpus scifact; no other can be named\. Leave"):
        run(toy, RunRequest("scifact", "letters", corpus="toy"))
    with pytest.raises(InputError, match="`pinakes use-corpus scirepeval_s2and toy` has it read another"):
        run(toy, RunRequest("scirepeval_s2and", "letters", corpus="toy"))
    with pytest.raises(InputError, match="scifact asks with no variants of papers; leave --producer out"):
        run(toy, RunRequest("scifact", "letters", producer="user"))
    assert NAME in list_benchmarks()


def test_a_dataset_is_a_selection_of_a_loaded_corpus(initialised: Database, letters: Letters) -> None:
    write_corpus(initialised, "paperlists", PAPERS, venue="iclr")
    write_variants(initialised, "paperlists", VARIANTS)
    made = run(initialised, RunRequest(NAME, "letters", corpus="ICLR"))
    assert made.queries_answered == 3
    asked = read_rows(initialised, "corpus, within", f"{NAME}.selections")
    assert asked == [("ICLR", "paperlists")] * 3 + [("paperlists", "paperlists")] * 3
    sizes = read_rows(
        initialised, "number, corpus, published_papers, within, papers, originals", f"{NAME}.table_2"
    )
    assert sizes[:2] == [(1, "ACL-ANTH", 35482, None, 0, 0), (2, "ICLR", 5032, "paperlists", 3, 3)]
    change(initialised, "UPDATE papers SET year = 2021, venue = 'acl'")
    asked = read_rows(initialised, "corpus, within", f"{NAME}.selections")
    assert asked[:3] == [("ACL-ANTH", "paperlists")] * 3
    write_corpus(initialised, "acl-anthology", [("P18-1001", "x", "x"), ("W18-0102", "y", "y")], first=40)
    asked = read_rows(initialised, "corpus, within, paper_id", f"{NAME}.selections")
    assert asked[:2] == [("ACL-ANTH", "acl-anthology", 40), ("acl-anthology", "acl-anthology", 40)]


def test_runs_of_two_corpora_are_not_compared_and_told_apart(
    toy: Database, letters: Letters, capsys: pytest.CaptureFixture[str]
) -> None:
    write_corpus(toy, "two", PAPERS[:2], first=30)
    write_variants(toy, "two", VARIANTS[:2])
    for corpus in ("toy", "two"):
        run(toy, RunRequest(NAME, "letters", corpus=corpus))
    print_scores(evaluate(toy, NAME, measures=["MRR"]), Output(), per_query=False)
    printed = capsys.readouterr().out
    assert (printed.count("code=TNNU_A"), printed.count("code=T_ARot")) == (2, 1)
    with pytest.raises(EvaluationError, match="each run of self_retrieval is of another mode or corpus"):
        compare_subsets(toy, NAME)
    report = gather_report(toy, NAME)
    assert [one.label for one in report.runs] == ["letters, toy", "letters, two"]
    letters.letters = "xyx"
    run(toy, REQUEST)
    evaluate(toy, NAME)
    pairs = compare_subsets(toy, NAME, by="category").resampled
    assert {(one.subset, one.run_a, one.run_b) for one in pairs} == {("all", 1, 3), ("category=LL-HS", 1, 3)}


def test_one_paper_finds_itself(initialised: Database, letters: Letters) -> None:
    write_corpus(initialised, "single", PAPERS[:1])
    write_variants(initialised, "single", VARIANTS[:1])
    run(initialised, RunRequest(NAME, "letters", corpus="single"))
    (result,) = evaluate(initialised, NAME)
    found = {(one.subset, one.measure): one.value for one in result.scores}
    assert (found["all", "MRR"], found["task=II", "MRR"], found["all", "AOP@10[without_pair]"]) == (1, 1, 0)
    assert count(initialised, "similarity_statistics") == 0
    assert "robustness" not in {one.measure for one in result.scores}


def test_a_corpus_that_a_system_represents_by_nothing_is_refused(toy: Database, letters: Letters) -> None:
    letters.letters = "z"
    with pytest.raises(RunError, match="letters represents no paper of toy"):
        run(toy, REQUEST)
    letters.letters, letters.spoilt = "xy", True
    with pytest.raises(RunError, match="the vector of p3, T_A, by letters is not of finite numbers"):
        run(toy, REQUEST)
    assert count(toy, "runs") == 0


def test_views_say_what_is_covered_equal_lost_and_met(toy: Database, letters: Letters) -> None:
    change(
        toy,
        "INSERT INTO absent_variants (paper_id, code, reason, producer) "
        f"SELECT paper_id, 'T_ARot', 'no abstract', '{PRODUCER}' FROM papers WHERE source_id <> 'p1'",
    )
    run(toy, REQUEST)
    evaluate(toy, NAME)
    covered = read_rows(toy, "code, category, outcome, papers, originals", f"{NAME}.coverage")
    assert [row for row in covered if row[0] == "T_ARot"] == [
        ("T_ARot", "LL-PS", "made", 1, 3),
        ("T_ARot", "LL-PS", "no abstract", 2, 3),
    ]
    equal = read_rows(
        toy, "code, category, neighbours, equal_to_original, distinct_texts", f"{NAME}.equal_texts"
    )
    assert [row for row in equal if row[3]] == [("TNNU_A", "LL-HS", 3, 1, 3), ("mine", "own", 1, 1, 1)]
    lost = read_rows(toy, "code, tenth, neighbours, loss, not_first", f"{NAME}.loss_by_change")
    assert [row for row in lost if row[0] == "TNNU_A"] == [
        ("TNNU_A", 0, 1, 0.0, 0.0),
        ("TNNU_A", 3, 1, 0.5, 1.0),
        ("TNNU_A", 10, 1, 1.0, 1.0),
    ]
    met = read_rows(toy, "category, above, below, aop_20, is_met", f"{NAME}.capability WHERE reading = 'all'")
    assert [(row[0], *row[1:3], round(row[3], 6), row[4]) for row in met] == [
        ("LL-HS", 75, None, round(100 * 0.5 / 3, 6), False),
        ("LL-PS", 50, 70, 20.0, False),
        ("LO-HS", 70, None, 20.0, False),
        ("LO-PS", 50, 70, 20.0, False),
    ]
    published = read_rows(
        toy, "system, corpus, subset, measure, printed", f"{NAME}.published_figures WHERE printed = '86.77'"
    )
    assert published == [("SPECTER", "all", "category=LL-HS", "AOP@20[all]", "86.77")]


def test_the_codes_of_the_view_are_those_that_are_made(initialised: Database) -> None:
    listed = read_rows(initialised, "code, category, number", "self_retrieval.codes")
    assert {(code, category) for code, category, _ in listed} == {
        (code.name, code.category) for code in CODES.values()
    }
    assert sorted(number for *_, number in listed) == list(range(1, len(CODES) + 1))
