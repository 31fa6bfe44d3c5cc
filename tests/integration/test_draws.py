"""Instances drawn for training: worked out by hand on small corpora, and alike on both databases."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.errors import BenchmarkError, IndexingError, InputError, UnknownNameError
from pinakes.indexers.training.tasks import TrainingTask
from pinakes.load.load import LoadRequest, load
from pinakes.train.data import Draw, DrawnTask, DrawOptions
from pinakes.train.draw import draw, draw_tasks
from pinakes.train.held import Held, require_apart
from tests.loading import paper, write_beir
from tests.scirepeval_release import write_release
from tests.training_worlds import World

pytestmark = pytest.mark.in_turn

Pair = tuple[Database, Database]
TITLES = {name: f"Title of {name}" for name in ("q", "p1", "p2", "h1", "h2", "e1", "e2", "e3")}


def draw_one(database: Database, name: str, **options: Any) -> DrawnTask:
    (drawn,) = draw(database, [name], DrawOptions(**{"seed": 1, "validation": 0.0, **options})).tasks
    return drawn


def read_texts(task: TrainingTask) -> list[tuple[str, ...]]:
    """The texts of all instances, those that train first."""
    rows = [*task.train.texts.tolist(), *task.validation.texts.tolist()]
    return [tuple(task.texts[place] for place in (row if isinstance(row, list) else [row])) for row in rows]


# --- citations ---


def test_a_citing_paper_has_two_hard_and_three_easy_negatives(initialised: Database) -> None:
    world = World(initialised, "small", TITLES)
    # p1 cites q and p2 too: what the query cites, and the query itself, is no negative.
    world.cite({"q": ["p1", "p2"], "p1": ["h1", "p2", "q"], "p2": ["h2"]})
    drawn = draw_one(initialised, "citations:small")
    own = [triplet for triplet in world.read_triplets(drawn) if triplet[0] == "q"]
    assert sorted(negative for _, _, negative in own) == ["e1", "e2", "e3", "h1", "h2"]
    assert Counter(positive for _, positive, _ in own) in ({"p1": 3, "p2": 2}, {"p1": 2, "p2": 3})
    assert drawn.task.codes() == ("PRX", "PRX", "PRX")
    assert set(read_texts(drawn.task)) == {
        tuple(TITLES[one] for one in triplet) for triplet in world.read_triplets(drawn)
    }


def test_a_hard_negative_is_cited_by_what_the_query_cites_and_not_by_the_query(initialised: Database) -> None:
    load(initialised, LoadRequest("synthetic", options={"papers": "300"}))
    drawn = draw_one(initialised, "citations:synthetic")
    with initialised.read() as session:
        rows = session.fetch_arrow("SELECT citing_paper_id, cited_paper_id FROM citation_links")
    cites: dict[int, set[int]] = {}
    for citing, cited in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        cites.setdefault(citing, set()).add(cited)
    hard = Counter[int]()
    of_query = Counter[int]()
    for row in drawn.instances.to_pylist():
        query, positive, negative = (row[f"{role}_paper_id"] for role in ("query", "positive", "negative"))
        assert positive in cites[query]
        assert negative not in cites[query]
        assert negative != query
        of_query[query] += 1
        hard[query] += any(negative in cites.get(one, ()) for one in cites[query])
    assert set(of_query.values()) <= {3, 4, 5}
    fewer = drawn.left_out.get("hard negatives: queries with fewer than asked for", 0)
    assert sum(count >= 2 for count in hard.values()) >= len(of_query) - fewer


def test_a_merged_paper_is_neither_drawn_nor_cited(initialised: Database) -> None:
    world = World(initialised, "small", {**TITLES, "twin": "Title of p1"})
    world.cite({"q": ["twin"]})
    with initialised.begin() as session:
        session.execute(
            "INSERT INTO duplicate_papers (paper_id, kept_paper_id, matched_by) "
            f"VALUES ({world.ids['twin']}, {world.ids['p1']}, 'title')"
        )
    triplets = world.read_triplets(draw_one(initialised, "citations:small"))
    assert {positive for _, positive, _ in triplets} == {"p1"}
    assert "twin" not in {negative for _, _, negative in triplets}


def test_what_says_the_same_as_the_query_is_neither_nearer_nor_further(initialised: Database) -> None:
    world = World(initialised, "small", {"q": "Same", "twin": "Same", "p1": "One", "e1": "Two"})
    world.cite({"q": ["twin", "p1"]})
    assert world.read_triplets(draw_one(initialised, "citations:small")) == [("q", "p1", "e1")]


def test_queries_without_a_pair_are_counted(initialised: Database) -> None:
    world = World(initialised, "small", {"q": "A", "r": "B", "x": None, "e": "C", "y": None})
    world.cite({"q": ["r", "e"], "r": ["x"], "y": ["q"], "e": ["q"]})
    drawn = draw_one(initialised, "citations:small")
    # q cites all that has a text, r cites a paper without one, y has none itself.
    assert {query for query, _, _ in world.read_triplets(drawn)} == {"e"}
    assert {reason: items for reason, items in drawn.left_out.items() if "hard" not in reason} == {
        "queries without a text": 1,
        "queries without a paper that is nearer": 1,
        "queries without a paper that is further": 1,
    }


# --- influential citations ---


def test_a_paper_is_influential_from_four_mentions_on(initialised: Database) -> None:
    world = World(initialised, "small", TITLES)
    world.cite({"q": ["p1"] * 4 + ["e1"] * 3 + ["e2"], "p1": ["h1"] * 5, "p2": ["h2"] * 3})
    drawn = draw_one(initialised, "influential:small")
    assert sorted(world.read_triplets(drawn)) == [("q", "p1", "e1"), ("q", "p1", "e2")]
    assert drawn.left_out == {
        "queries without a paper that is nearer": 1,
        "queries without a paper that is further": 1,
    }


# --- authors ---


def test_papers_share_an_author_or_none(initialised: Database) -> None:
    world = World(initialised, "small", TITLES)
    world.write_authors({"q": ["a", "b"], "p1": ["b"], "p2": ["c", "a"], "e1": ["c"], "e2": ["d"]})
    drawn = draw_one(initialised, "same_author:small")
    shares = {"q": {"p1", "p2"}, "p1": {"q"}, "p2": {"q", "e1"}, "e1": {"p2"}}
    triplets = world.read_triplets(drawn)
    assert {query for query, _, _ in triplets} == set(shares)
    for query, positive, negative in triplets:
        assert positive in shares[query]
        assert negative not in {*shares[query], query}


def test_signatures_say_who_is_who_and_namesakes_are_hard_negatives(initialised: Database) -> None:
    world = World(initialised, "small", TITLES)
    world.write_authors({name: ["J. Li"] for name in ("e1", "e2")})
    world.sign(
        [
            ("q", "li 1", "j li", "train"),
            ("p1", "li 1", "j li", "train"),
            ("h1", "li 2", "j li", "train"),
            ("h2", "li 3", "j li", "train"),
            ("p2", "li 4", "k li", "test"),
            ("e3", "li 4", "k li", "test"),
        ]
    )
    triplets = world.read_triplets(draw_one(initialised, "same_author:small"))
    # Those who are for a test ask nothing, nor do names without a signature.
    assert {(query, positive) for query, positive, _ in triplets} == {("q", "p1"), ("p1", "q")}
    for query in ("q", "p1"):
        negatives = [negative for one, _, negative in triplets if one == query]
        assert negatives[:2] in (["h1", "h2"], ["h2", "h1"])
        assert len(set(negatives)) == 5


# --- labelled papers ---


def test_years_are_scaled_to_between_0_and_1(initialised: Database) -> None:
    years = {"a": 2006, "b": 2008, "c": 2016, "d": None}
    world = World(initialised, "small", {name: {"title": name, "year": year} for name, year in years.items()})
    drawn = draw_one(initialised, "year:small")
    assert world.read_labelled(drawn) == {"a": 0.0, "b": 0.2, "c": 1.0}
    assert drawn.left_out == {"papers without a label or a number": 1}
    assert (drawn.task.format, drawn.task.objective) == ("RGN", "number")


def test_citation_counts_are_logarithms_of_those_above_0(initialised: Database) -> None:
    counts = {"a": 1, "b": 20, "c": 0, "d": None}
    described = {name: {"title": name, "citation_count": count} for name, count in counts.items()}
    world = World(initialised, "small", described)
    drawn = draw_one(initialised, "citation_count:small")
    assert world.read_labelled(drawn) == {"a": 0.0, "b": float(np.log(20.0))}
    assert drawn.left_out == {"papers without a label or a number": 2}


def test_fields_are_those_of_the_classification_of_most_papers(initialised: Database) -> None:
    world = World(initialised, "small", {name: name for name in "abcde"})
    world.write_fields(
        [
            *(("a", "s2", "Art"), ("b", "s2", "Art"), ("b", "s2", "Biology"), ("c", "s2", "Biology")),
            *(("a", "s2", "Rare"), ("d", "s2", "Seldom"), ("e", "mag", "Art"), ("a", "mag", "Other")),
        ]
    )
    drawn = draw_one(initialised, "fields:small")
    assert drawn.task.classes == ("Art", "Biology")
    assert world.read_labelled(drawn) == {"a": '["Art"]', "b": '["Art","Biology"]', "c": '["Biology"]'}
    assert drawn.left_out == {
        "classes seen once": 2,
        "papers whose every class was seen once": 1,
        "papers without a label or a number": 1,
    }
    targets = dict(
        zip((text for (text,) in read_texts(drawn.task)), drawn.task.train.targets.tolist(), strict=True)
    )
    assert targets == {"a": [1, 0], "b": [1, 1], "c": [0, 1]}


def test_classes_of_a_benchmark_are_those_of_its_training_split(initialised: Database) -> None:
    names = ("t1", "t2", "t3", "t4", "t5", "x1", "x2")
    world = World(initialised, "scirepeval-drsm", {name: f"Text {name}" for name in names})
    world.label("drsm", "train", {"t1": "b", "t2": "a", "t3": "b", "t4": "a", "t5": "once"})
    world.label("drsm", "test", {"x1": "a", "x2": "b"})
    drawn = draw_one(initialised, "scirepeval_drsm")
    assert world.read_labelled(drawn) == {"t1": "b", "t2": "a", "t3": "b", "t4": "a"}
    assert drawn.task.classes == ("a", "b")
    assert drawn.left_out == {"classes seen once": 1, "papers whose every class was seen once": 1}
    said = dict(
        zip((text for (text,) in read_texts(drawn.task)), drawn.task.train.targets.tolist(), strict=True)
    )
    assert said == {"Text t1": 1, "Text t2": 0, "Text t3": 1, "Text t4": 0}


def test_a_paper_of_none_of_several_labels_is_trained_on(initialised: Database) -> None:
    world = World(initialised, "scirepeval-fos", {name: name for name in ("t1", "t2", "t3", "t4", "t5", "x")})
    world.label("fos", "train", {"t1": ["A", "B"], "t2": ["A"], "t3": ["B"], "t5": ["Rare"]})
    world.label("fos:unlabelled", "train", {"t4": "none"})
    world.label("fos", "test", {"x": ["A"]})
    drawn = draw_one(initialised, "scirepeval_fos")
    assert (drawn.task.format, drawn.task.objective) == ("CLF", "labels")
    assert world.read_labelled(drawn) == {
        "t1": '["A","B"]', "t2": '["A"]', "t3": '["B"]', "t4": "[]", "t5": "[]",
    }  # fmt: skip
    assert drawn.left_out == {"classes seen once": 1}


def test_numbers_of_a_benchmark_are_as_they_are(initialised: Database) -> None:
    world = World(initialised, "scirepeval-cite_count", {name: name for name in ("t1", "t2", "x")})
    world.label("cite_count", "train", {"t1": 0.5, "t2": 2.25})
    world.label("cite_count", "test", {"x": 1.0})
    assert world.read_labelled(draw_one(initialised, "scirepeval_cite_count")) == {"t1": 0.5, "t2": 2.25}


# --- judged papers ---


def test_a_nearer_paper_has_a_higher_grade(initialised: Database) -> None:
    world = World(initialised, "scirepeval-search", {name: f"Title {name}" for name in "abcd"})
    graded = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0, "b": 0}, "q3": {"d": 1}}
    world.judge("train", "search", graded)
    drawn = draw_one(initialised, "scirepeval_search")
    assert drawn.unjudged == 0
    assert sorted(world.read_triplets(drawn)) == [("q1", "a", "b"), ("q1", "a", "c"), ("q1", "b", "c")]
    assert drawn.left_out == {
        "queries without a paper that is nearer": 1,
        "queries without a paper that is further": 1,
    }
    assert drawn.task.codes() == ("QRY", "PRX", "PRX")
    assert {query for query, _, _ in read_texts(drawn.task)} == {"text of q1"}


def test_a_query_has_as_many_triplets_as_are_asked_for(initialised: Database) -> None:
    described = {f"p{number}": f"Title {number}" for number in range(30)}
    world = World(initialised, "scirepeval-search", described)
    world.judge("train", "search", {"q": {name: place % 2 for place, name in enumerate(described)}})
    for count in (1, 5, 7):
        triplets = world.read_triplets(draw_one(initialised, "scirepeval_search", triplets_per_query=count))
        assert len(set(triplets)) == count
        for _, positive, negative in triplets:
            assert int(positive[1:]) % 2 == 1
            assert int(negative[1:]) % 2 == 0


def test_the_queries_of_another_task_of_the_corpus_are_not_drawn(initialised: Database) -> None:
    world = World(initialised, "scirepeval", {name: f"Title {name}" for name in "abc"})
    world.judge("train", "search", {"q1": {"a": 1, "b": 0}})
    world.judge("train", "same_author", {"a": {"b": 1, "c": 0}})
    assert world.read_triplets(draw_one(initialised, "scirepeval_search")) == [("q1", "a", "b")]
    assert world.read_triplets(draw_one(initialised, "scirepeval_same_author")) == [("a", "b", "c")]


def test_what_nobody_judged_in_a_shared_pool_is_further(initialised: Database, tmp_path: Path) -> None:
    source = write_beir(tmp_path / "scifact", [paper(number) for number in range(1, 9)], "q2\tp1\t1\n", 2)
    (source / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp2\t1\nq1\tp3\t1\n")
    load(initialised, LoadRequest("beir", source, corpus="scifact"))
    drawn = draw_one(initialised, "scifact")
    assert drawn.unjudged == len(drawn.task.train) > 0
    texts = read_texts(drawn.task)
    assert len(texts) == 5
    assert {query for query, _, _ in texts} == {"query 1"}
    assert {positive for _, positive, _ in texts} == {"Title 2 Text 2", "Title 3 Text 3"}
    assert not {negative for _, _, negative in texts} & {"Title 2 Text 2", "Title 3 Text 3"}


# --- tests kept apart ---


def test_a_training_example_that_a_test_asks_for_is_left_out(initialised: Database) -> None:
    world = World(
        initialised, "scirepeval-drsm", {name: f"Text {name}" for name in ("t1", "t2", "t3", "t4", "both")}
    )
    world.label("drsm", "train", {"t1": "a", "t2": "a", "t3": "b", "t4": "b", "both": "a"})
    world.label("drsm", "test", {"both": "a"})
    drawn = draw_one(initialised, "scirepeval_drsm")
    assert set(world.read_labelled(drawn)) == {"t1", "t2", "t3", "t4"}
    assert drawn.left_out == {"papers asked for in a test": 1}


def test_a_paper_that_a_held_out_test_asks_for_is_left_out_by_its_text(initialised: Database) -> None:
    tests = World(initialised, "scirepeval-drsm", {"x": "A Text", "y": "Another", "z": None})
    tests.label("drsm", "test", {"x": "a", "z": "b"})
    tests.label("drsm", "train", {"y": "a"})
    described = {"p": "A Text", "q": "Something", "r": "Else", "s": "More", "w": None}
    world = World(
        initialised,
        "small",
        {name: {"title": title, "year": 2000 + len(name + str(title))} for name, title in described.items()},
    )
    free = draw_one(initialised, "year:small")
    held = draw_one(initialised, "year:small", held_out=("scirepeval_drsm",))
    assert set(world.read_labelled(free)) == {"p", "q", "r", "s"}
    assert set(world.read_labelled(held)) == {"q", "r", "s"}
    assert held.left_out == {"papers asked for in a test": 1, "papers without a text": 1}


def test_a_query_of_a_test_is_not_drawn_and_its_paper_neither(initialised: Database) -> None:
    world = World(initialised, "scirepeval-same_author", {name: f"Title {name}" for name in "abcdef"})
    world.judge("train", "same_author", {"a": {"b": 1, "c": 0, "f": 0}, "d": {"e": 1, "f": 0}})
    world.judge("test", "same_author", {"d": {"b": 1, "c": 0}, "f": {"a": 1, "b": 0}}, old=("d",))
    drawn = draw_one(initialised, "scirepeval_same_author")
    assert world.read_triplets(drawn) == [("a", "b", "c")]
    assert drawn.left_out == {"queries asked in a test": 1, "judged papers asked for in a test": 1}


def test_a_text_that_a_test_asks_is_not_drawn_in_another_corpus(initialised: Database) -> None:
    tests = World(initialised, "scirepeval-nfcorpus", {name: f"Title {name}" for name in "ab"})
    tests.judge("test", "nfcorpus", {"q1": {"a": 1, "b": 0}})
    world = World(initialised, "scirepeval-search", {name: f"Title {name}" for name in "cd"})
    world.judge("train", "search", {"q1": {"c": 1, "d": 0}, "q2": {"c": 1, "d": 0}})
    drawn = draw_one(initialised, "scirepeval_search", held_out=("scirepeval_nfcorpus",))
    assert world.read_triplets(drawn) == [("q2", "c", "d")]
    assert drawn.left_out == {"queries asked in a test": 1}


def test_a_benchmark_that_asks_its_training_split_for_want_of_a_test_can_be_drawn(
    initialised: Database,
) -> None:
    world = World(initialised, "scirepeval-cite_prediction", {name: f"Title {name}" for name in "abc"})
    world.judge("train", "cite_prediction", {"a": {"b": 1, "c": 0}})
    assert world.read_triplets(draw_one(initialised, "scirepeval_cite_prediction")) == [("a", "b", "c")]


@pytest.mark.parametrize("role", ["query_paper_id", "positive_paper_id", "negative_paper_id"])
def test_a_draw_with_a_paper_of_a_test_is_refused(initialised: Database, role: str) -> None:
    world = World(initialised, "small", TITLES)
    world.cite({"q": ["p1"]})
    instances = draw_one(initialised, "citations:small").instances
    leaked = instances[role][0].as_py()
    with pytest.raises(BenchmarkError, match=rf"has the paper {leaked}, which the test of other asks for"):
        require_apart("citations:small", "", instances, Held({leaked: "other"}, frozenset()))


def test_a_draw_with_a_query_of_its_test_is_refused(initialised: Database) -> None:
    world = World(initialised, "scirepeval-search", {name: f"Title {name}" for name in "ab"})
    world.judge("train", "search", {"q1": {"a": 1, "b": 0}})
    instances = draw_one(initialised, "scirepeval_search").instances
    held = Held({}, frozenset({("scirepeval_search", "q1")}))
    with pytest.raises(BenchmarkError, match="has the query q1, which its test asks"):
        require_apart("scirepeval_search", "scirepeval_search", instances, held)
    require_apart("another", "another", instances, held)


# --- sides, seeds, numbers ---


def draw_years(database: Database, **options: Any) -> Draw:
    return draw(database, ["year:many", "citations:many"], DrawOptions(**{"seed": 1, **options}))


def write_many(database: Database, *, reverse: bool = False) -> World:
    """200 papers, some of the same text, each citing the next three."""
    names = [f"p{number:03d}" for number in range(200)]
    described = {
        name: {"title": f"Title {min(place, 195)}", "year": 1990 + place % 30}
        for place, name in enumerate(names)
    }
    world = World(database, "many", described, reverse=reverse)
    world.cite({name: names[place + 1 : place + 4] for place, name in enumerate(names[:-3])})
    return world


def test_no_text_that_is_asked_for_is_on_both_sides_of_any_task(initialised: Database) -> None:
    write_many(initialised)
    sides: dict[str, set[str]] = {"train": set(), "validation": set()}
    for drawn in draw_years(initialised, validation=0.3).tasks:
        for side, part in (("train", drawn.task.train), ("validation", drawn.task.validation)):
            asked = part.texts[:, 0] if part.texts.ndim == 2 else part.texts
            sides[side] |= {drawn.task.texts[place] for place in asked}
    assert not sides["train"] & sides["validation"]
    assert 30 < len(sides["validation"]) < 90  # of 196


def test_the_seed_decides_what_is_drawn(initialised: Database) -> None:
    write_many(initialised)
    first, again, other = (draw_years(initialised, seed=seed) for seed in (1, 1, 2))
    assert first.digest == again.digest
    assert first.digest != other.digest
    for task in (0, 1):
        assert first.tasks[task].instances.equals(again.tasks[task].instances)
        assert not first.tasks[task].instances.equals(other.tasks[task].instances)


def test_fewer_instances_are_the_first_of_more(initialised: Database) -> None:
    write_many(initialised)
    more, fewer = (draw_years(initialised, most=most, validation=0.2) for most in (10_000, 20))
    for of_fewer in fewer.tasks:
        assert (len(of_fewer.task.train), len(of_fewer.task.validation)) == (20, 5)
    year, rows = more.tasks[0], fewer.tasks[0].instances.to_pylist()
    for side, count in (("train", 20), ("validation", 5)):
        whole = [row["query_paper_id"] for row in year.instances.to_pylist() if row["side"] == side]
        assert [row["query_paper_id"] for row in rows if row["side"] == side] == whole[:count]
    assert fewer.tasks[0].left_out == {"papers beyond the greatest number": 175}
    assert fewer.tasks[1].left_out.keys() >= {
        "queries beyond the greatest number",
        "triplets beyond the greatest number",
    }


def test_every_paper_is_dealt_about_as_often(initialised: Database) -> None:
    world = write_many(initialised)
    drawn = draw_one(initialised, "citations:many", triplets_per_query=3)
    dealt = Counter(negative for _, _, negative in world.read_triplets(drawn))
    assert len(dealt) > 190
    assert max(dealt.values()) <= 12  # on average 3


@pytest.mark.long
def test_a_draw_does_not_depend_on_our_ids(both_databases: Pair) -> None:
    duck, post = both_databases
    write_many(duck)
    write_many(post, reverse=True)
    assert draw_years(duck).digest == draw_years(post).digest


# --- both databases ---

KINDS = ("citations", "influential", "same_author", "year", "citation_count", "fields")
BENCHMARKS = (
    *("scirepeval_drsm", "scirepeval_fos", "scirepeval_cite_count", "scirepeval_pub_year"),
    *("scirepeval_search", "scirepeval_same_author"),
)


@pytest.fixture(scope="module")
def both(both_initialised: Pair, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """A synthetic corpus, and SciRepEval's tasks with a split for training, on both databases."""
    release = write_release(tmp_path_factory.mktemp("scirepeval") / "release")
    for reverse, database in enumerate(both_initialised):
        load(database, LoadRequest("synthetic", options={"papers": "300"}))
        for task in ("cite_count", "pub_year"):
            load(database, LoadRequest("scirepeval", release[task], {"task": task}))
        names = [f"p{number}" for number in range(60)]
        for task, classes in (("drsm", ("a", "b", "c")), ("fos", (["x", "y"], ["x"], ["z"]))):
            world = World(
                database,
                f"scirepeval-{task}",
                {name: f"{task} {name}" for name in names},
                reverse=bool(reverse),
            )
            world.label(task, "train", {name: classes[place % 3] for place, name in enumerate(names[:50])})
            world.label(task, "test", {name: classes[place % 3] for place, name in enumerate(names[40:])})
        for task in ("search", "same_author"):
            world = World(
                database,
                f"scirepeval-{task}",
                {name: f"{task} {name}" for name in names},
                reverse=bool(reverse),
            )
            asked = names[:40] if task == "same_author" else [f"q{number}" for number in range(40)]
            graded = {
                query: {names[(place * 7 + step + 1) % 60]: step % 3 for step in range(8)}
                for place, query in enumerate(asked)
            }
            world.judge("train", task, dict(list(graded.items())[:30]))
            world.judge("test", task, dict(list(graded.items())[30:]))
    return both_initialised


@pytest.mark.parametrize("name", [*(f"{kind}:synthetic" for kind in KINDS), *BENCHMARKS])
def test_both_databases_draw_the_same(both: Pair, name: str) -> None:
    options = DrawOptions(seed=7, most=400, validation=0.2)
    duck, post = (draw(database, [name], options) for database in both)
    assert len(duck.tasks[0].task.train) > 0
    assert duck.tasks[0].left_out == post.tasks[0].left_out
    assert duck.tasks[0].task.texts == post.tasks[0].task.texts
    assert duck.digest == post.digest


def test_nothing_that_was_made_for_a_draw_stays(both: Pair) -> None:
    for database in both:
        draw_tasks(database, ["citations:synthetic", "year:synthetic"], seed=1)
        with database.read() as session:
            left = session.rows(
                "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'drawing%'"
            )
        assert left == []


def test_tasks_come_in_the_order_of_their_names(both: Pair) -> None:
    names = ["year:synthetic", "scirepeval_fos", "citations:synthetic"]
    assert [task.name for task in draw_tasks(both[0], names, seed=1)] == names


# --- what cannot be drawn ---


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ([], InputError, "no task is named"),
        (["year:small", "year:small"], InputError, "year:small is named twice"),
        (["years:small"], UnknownNameError, "unknown kind of training task 'years'; known: .*influential"),
        (["year:large"], UnknownNameError, "unknown corpus 'large'; known: small"),
        (["scirepeval_fox"], UnknownNameError, "unknown training task 'scirepeval_fox'.*scirepeval_fos"),
        (["scirepeval_s2and"], BenchmarkError, "has the task clustering; expected one of classification"),
        (["scirepeval_drsm"], BenchmarkError, "has no split for training in this database; load its corpus"),
        (["citations:small"], IndexingError, "has no instance to train on: the corpus has none"),
        (["fields:small"], IndexingError, "has 0 classes of two papers or more"),
        (["year:small"], IndexingError, "has the one number 2000"),
        (["citation_count:small"], IndexingError, "no instance to train on: 3 papers without a label"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    initialised: Database, names: list[str], error: type[Exception], message: str
) -> None:
    World(initialised, "small", {name: {"title": name, "year": 2000} for name in "abc"})
    with pytest.raises(error, match=message):
        draw_tasks(initialised, names, seed=1)


@pytest.mark.parametrize(
    "given",
    [
        {"most": 0},
        {"triplets_per_query": 0},
        {"validation": 1.0},
        {"validation": -0.1},
        {"validation": math.nan},
    ],
)
def test_a_number_that_cannot_be_is_refused(initialised: Database, given: dict[str, Any]) -> None:
    World(initialised, "small", {"a": "A"})
    with pytest.raises(InputError, match="expected"):
        draw_tasks(initialised, ["year:small"], seed=1, **given)


def test_a_benchmark_without_a_training_split_is_refused(initialised: Database) -> None:
    labelled = World(initialised, "scirepeval-drsm", {"x": "X"})
    labelled.label("drsm", "test", {"x": "a"})
    judged = World(initialised, "scirepeval-search", {name: name for name in "ab"})
    judged.judge("test", "search", {"q1": {"a": 1, "b": 0}})
    for name in ("scirepeval_drsm", "scirepeval_search"):
        with pytest.raises(BenchmarkError, match=f"{name} has no split for training in this database: no"):
            draw_tasks(initialised, [name], seed=1)


def test_a_paper_of_two_classes_is_refused(initialised: Database) -> None:
    world = World(initialised, "scirepeval-drsm", {name: name for name in "abc"})
    world.label("drsm", "train", {"a": ["x", "y"], "b": "x", "c": "y"})
    with pytest.raises(BenchmarkError, match="has 2 different targets for scirepeval-drsm:a"):
        draw_tasks(initialised, ["scirepeval_drsm"], seed=1)


def test_one_class_is_refused(initialised: Database) -> None:
    world = World(initialised, "scirepeval-drsm", {name: name for name in "abc"})
    world.label("drsm", "train", {"a": "x", "b": "x", "c": "y"})
    with pytest.raises(IndexingError, match="has 1 classes of two papers or more, of 2 in all"):
        draw_tasks(initialised, ["scirepeval_drsm"], seed=1)


def test_a_benchmark_whose_test_names_no_paper_cannot_be_held_out(initialised: Database) -> None:
    World(initialised, "small", {name: {"title": name, "year": 2000} for name in "abc"})
    with pytest.raises(BenchmarkError, match="expected a benchmark with queries or examples to hold out"):
        draw_one(initialised, "year:small", held_out=("scirepeval_s2and",))
