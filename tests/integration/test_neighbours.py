"""`derive neighbours` over a corpus: what it makes, keeps and makes anew, and what it says of bad input."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.database import Database
from pinakes.errors import InputError, PinakesError, UnknownNameError
from pinakes.report.status import find_orphans, read_status
from pinakes.texts import corpus_neighbours, derive, top_phrases
from pinakes.texts.corpus_neighbours import TOO_LONG, NeighbourRequest, choose_codes, derive_neighbours
from pinakes.texts.neighbours.codes import CODES
from tests.benching import change
from tests.calling import make_call
from tests.integration.toy_loading import load_records, toy_paper
from tests.loading import dump_tables
from tests.wordnets import build_wordnet

pytestmark = pytest.mark.in_turn

TOY = NeighbourRequest("toy")
TEXTS = {
    "a": (
        "Deep graph models",
        "We train a deep model of graphs. It is robust. Citation graphs help the model in 3 tasks.",
    ),
    "b": (
        "Citation graphs",
        "Citation graphs are common. We read 40 of them. A graph model then ranks the papers well.",
    ),
    "c": ("Of them", None),
    "d": (None, None),
    "e": ("Robust models", "We rank."),
}
DERIVED = ("text_analyses", "paper_variants", "absent_variants", "phrase_statistics")


@pytest.fixture(autouse=True)
def wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_WORDNET", str(build_wordnet(tmp_path / "wordnet")))


def load_texts(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    digest: str,
    texts: dict[str, tuple[str | None, str | None]],
) -> None:
    papers = [toy_paper(name, title=title, abstract=abstract) for name, (title, abstract) in texts.items()]
    load_records(database, monkeypatch, digest, {"papers": papers})


@pytest.fixture
def toy(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A corpus of five papers, of which one has no abstract and one no text at all."""
    load_texts(database, monkeypatch, "1", TEXTS)
    return database


def dump(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    tables = dump_tables(database)
    return {name: tables.get(name, []) for name in DERIVED}


def read(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(query)]


def test_every_paper_has_each_of_the_32_or_the_reason_why_not(toy: Database) -> None:
    made = derive_neighbours(toy, TOY)
    assert (made.papers, made.analysed, made.derived_papers, made.derived_rows) == (5, 4, 5, 5 * 32)
    rows = read(
        toy, "SELECT paper_id, code FROM paper_variants UNION ALL SELECT paper_id, code FROM absent_variants"
    )
    assert Counter(rows) == {(paper_id, code): 1 for paper_id in range(1, 6) for code in CODES}
    assert {(row["table_name"], row["producer"]) for row in read_status(toy)["derived_rows"]} == {
        ("text_analyses", "analysis 1 textblob-0.20.1+punkt-3.10.4"),
        ("paper_variants", made.producer),
        ("absent_variants", made.producer),
    }
    assert made.producer == "neighbours 1 textblob-0.20.1+punkt-3.10.4+wordnet-0.9 seed=1"
    by_code = {code.code: code for code in made.codes}
    assert list(by_code) == list(CODES)
    assert by_code["T_ARot"].made == 3
    assert by_code["T_ARot"].unchanged == 1  # of one sentence
    assert by_code["T_ARot"].absent == {"no abstract": 2}
    assert by_code["T_ADelQ1"].absent == {"no abstract": 2, "fewer than 3 sentences": 1}
    variant = "SELECT title, abstract FROM paper_variants WHERE paper_id = 1 AND code = 'T_ARot'"
    assert read(toy, variant) == [
        (
            "Deep graph models",
            "It is robust. Citation graphs help the model in 3 tasks. We train a deep model of graphs.",
        )
    ]
    assert made.texts == 4 + sum(code.made for code in made.codes)
    originals = "SELECT title, abstract FROM papers WHERE title IS NOT NULL"
    distinct = read(toy, f"{originals} UNION SELECT title, abstract FROM paper_variants")
    assert made.distinct_texts == len(distinct)
    assert find_orphans(toy) == {}


def test_a_second_derivation_makes_nothing(toy: Database) -> None:
    derive_neighbours(toy, TOY)
    before = dump(toy)
    again = derive_neighbours(toy, TOY)
    assert (again.analysed, again.derived_papers, again.derived_rows) == (0, 0, 0)
    assert dump(toy) == before


@pytest.mark.parametrize(
    ("is_published", "jobs"),
    [(False, 1), (True, 1), *(pytest.param(way, 2, marks=pytest.mark.long) for way in (False, True))],
)
def test_rows_are_the_same_in_both_databases_and_with_two_workers(
    both_databases: tuple[Database, Database],
    monkeypatch: pytest.MonkeyPatch,
    is_published: bool,
    jobs: int,
) -> None:
    monkeypatch.setattr(derive, "CHARACTERS_PER_BATCH", 100)
    dumped = []
    for database, number in zip(both_databases, (1, jobs), strict=True):
        load_texts(database, monkeypatch, "1", TEXTS)
        derive_neighbours(database, replace(TOY, as_published=is_published, jobs=number))
        dumped.append(dump(database))
    assert dumped[0] == dumped[1]
    assert len(dumped[0]["paper_variants"]) > 60


def test_what_is_drawn_depends_on_nothing_but_the_paper(
    both_databases: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = tuple(name for name, code in CODES.items() if code.draws)
    found = []
    for database, order in zip(both_databases, (list(TEXTS), list(TEXTS)[::-1]), strict=True):
        load_texts(database, monkeypatch, "1", {name: TEXTS[name] for name in order})
        for codes in (drawn[1:], drawn[:1]) if order[0] == "a" else (drawn,):
            derive_neighbours(database, replace(TOY, codes=codes))
        query = (
            "SELECT source_id, code, made.title, made.abstract FROM paper_variants AS made INNER JOIN papers "
        )
        found.append(read(database, f"{query} ON made.paper_id = papers.paper_id ORDER BY source_id, code"))
    assert found[0] == found[1]
    other = derive_neighbours(both_databases[0], replace(TOY, codes=drawn, seed=2))
    query = f"SELECT abstract FROM paper_variants WHERE producer = '{other.producer}' AND code = 'T_ADelRand'"
    assert set(read(both_databases[0], query)) != {row[3:] for row in found[0] if row[1] == "T_ADelRand"}


def test_a_reload_keeps_neighbours_and_a_changed_paper_is_made_anew(
    toy: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = replace(TOY, codes=("T_ARot", "TNNU_A"))
    derive_neighbours(toy, request)
    before = dump(toy)
    load_texts(toy, monkeypatch, "2", {**TEXTS, "e": ("Frail models", "We read. We rank.")})
    assert dump(toy) == before
    stale = {(row["table_name"], row["stale_rows"]) for row in read_status(toy)["derived_rows"]}
    assert stale == {("text_analyses", 1), ("paper_variants", 2), ("absent_variants", 0)}
    made = derive_neighbours(toy, request)
    assert (made.analysed, made.derived_papers, made.derived_rows) == (1, 1, 2)
    assert [row["stale_rows"] for row in read_status(toy)["derived_rows"]] == [0, 0, 0]
    variants = "SELECT code, title, abstract FROM paper_variants WHERE paper_id = 5 ORDER BY code"
    assert read(toy, variants) == [
        ("TNNU_A", "Frail MODELS", "We read. We rank."),
        ("T_ARot", "Frail models", "We rank. We read."),
    ]
    after = dump(toy)
    for table in ("text_analyses", "paper_variants", "absent_variants"):
        assert [row for row in after[table] if row[0] != 5] == [row for row in before[table] if row[0] != 5]


def test_only_papers_that_need_it_are_analysed(toy: Database) -> None:
    derive_neighbours(toy, replace(TOY, codes=("T_ARot",)))
    change(toy, "DELETE FROM text_analyses")
    change(toy, "DELETE FROM paper_variants WHERE paper_id = 2")
    made = derive_neighbours(toy, replace(TOY, codes=("T_ARot",)))
    assert (made.analysed, made.derived_rows) == (1, 1)


def test_one_analysis_serves_both_semantics_and_all_seeds(toy: Database) -> None:
    made = [
        derive_neighbours(toy, replace(TOY, as_published=way, seed=seed))
        for way in (False, True)
        for seed in (1, 2)
    ]
    assert [one.analysed for one in made] == [4, 0, 0, 0]
    assert [one.derived_rows for one in made] == [160] * 4
    assert [one.producer.partition(" textblob")[0] for one in made] == ["neighbours 1"] * 2 + [
        "neighbours 1 as-published"
    ] * 2


def test_top_phrases_follow_the_corpus(toy: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    request = replace(TOY, codes=("T_ARot", "T_ADelTopNNPH"))
    producer = derive_neighbours(toy, request).producer
    (before,) = dump(toy)["phrase_statistics"]
    change(toy, "UPDATE paper_variants SET title = 'as it was' WHERE paper_id = 1")
    change(toy, "UPDATE absent_variants SET reason = 'as it was' WHERE paper_id = 4")
    added = {
        f"n{number}": ("New", "The citation graphs. A new robust thing. The new robust thing.")
        for number in range(3)
    }
    load_texts(toy, monkeypatch, "2", {**TEXTS, **added})
    made = derive_neighbours(toy, request)
    (after,) = dump(toy)["phrase_statistics"]
    assert (before[:2], before[4], after[:2], after[4]) == ((1, producer), 4, (1, producer), 7)
    assert before[2] != after[2]
    assert made.derived_rows == 5 + 3 * 2
    kept = "SELECT code FROM {} WHERE {} = 'as it was'"
    assert read(toy, kept.format("paper_variants", "title")) == [("T_ARot",)]
    assert read(toy, kept.format("absent_variants", "reason")) == [("T_ARot",)]
    change(toy, "DELETE FROM phrase_statistics")  # with which phrases they were made is not known
    assert derive_neighbours(toy, request).derived_rows == 8


def test_a_derivation_stops_where_another_has_counted_newer_phrases(
    toy: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renew(*given: Any) -> Any:
        generator = renewed(*given)
        change(toy, "UPDATE phrase_statistics SET top_digest = 'newer'")
        return generator

    renewed = top_phrases.renew_top_phrases
    monkeypatch.setattr(corpus_neighbours, "renew_top_phrases", renew)
    with pytest.raises(PinakesError, match="another process has made some since"):
        derive_neighbours(toy, TOY)
    assert dump(toy)["paper_variants"] == []


def test_a_corpus_without_papers_has_no_neighbours(toy: Database) -> None:
    change(toy, "INSERT INTO corpora VALUES (9, 'empty', '', '', '', '')")
    made = derive_neighbours(toy, NeighbourRequest("empty", jobs=2))
    assert (made.papers, made.texts, made.distinct_texts, made.derived_rows) == (0, 0, 0, 0)
    assert {code.made for code in made.codes} == {0}


def test_what_is_asked_for_wrongly_is_refused(toy: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown code 'T_ARto'; known: .*T_ARot"):
        derive_neighbours(toy, replace(TOY, codes=("T_ARto",)))
    with pytest.raises(InputError, match=r"no function.*load csv FILE --corpus NAME --option table=variants"):
        derive_neighbours(toy, replace(TOY, codes=("my_module:function",)))
    with pytest.raises(UnknownNameError, match="unknown analyser 'x'"):
        derive_neighbours(toy, replace(TOY, analyser="x"))
    with pytest.raises(UnknownNameError, match="unknown corpus 'x'; known: toy"):
        derive_neighbours(toy, NeighbourRequest("x"))
    with pytest.raises(InputError, match="--jobs is 0"):
        derive_neighbours(toy, replace(TOY, jobs=0))
    assert dump(toy) == {name: [] for name in DERIVED}


def test_without_wordnet_only_the_code_that_needs_it_is_refused(
    toy: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PINAKES_WORDNET", str(tmp_path))
    with pytest.raises(InputError, match="holds no WordNet"):
        derive_neighbours(toy, TOY)
    made = derive_neighbours(toy, replace(TOY, codes=("T_ARot",)))
    assert made.producer == "neighbours 1 textblob-0.20.1+punkt-3.10.4 seed=1"


def test_codes_are_taken_once_in_the_order_of_the_table() -> None:
    assert choose_codes(["T_AShuff", "T_ARot", "T_ARot"]) == ("T_ARot", "T_AShuff")
    assert choose_codes([]) == tuple(CODES)
    assert len(CODES) == 32


BAD: dict[str, dict[str, Any]] = {
    "one_sentence": {"title": "A model", "abstract": "We train one model"},
    "no_title": {"abstract": "We train a model. It is robust. It works."},
    "no_noun": {"title": "Then", "abstract": "It is. They are. We were."},
    "controls": {
        "title": "A\u0007 model\u009f",
        "abstract": "We\ttrain\u2028a model.\u000b\u000c It \u200b is.",
    },
    "script": {
        "title": "Графы цитирования",
        "abstract": "引用グラフを学習する。モデルは頑健である。我々は三つの課題で評価する。",
    },
    "numbers": {"title": "42", "abstract": "1 2 3. 4 5 6. 7 8 9."},
    "blank": {"title": "  ", "abstract": "\n", "sections": [{"section_number": 1, "text": "A text."}]},
    "signs": {"title": "?!", "abstract": "... --- '' \" `` ) ("},
    "joined": {"title": "👩‍🔬 ɡʀᴀᴘʜ ﬁne", "abstract": "İstanbul ß ŉ. e\u0301tude ǰ. \U0001d50a𝔯."},
}


def write_bad(file: Path, words: int) -> Path:
    """Papers as JSON Lines: those above, one of so many words, and one with a surrogate and one with NUL."""
    long = {"title": "Long", "abstract": "We train a deep model of graphs. " * (words // 7)}
    texts = {**BAD, "long": long}
    lines = [orjson.dumps({"source_id": name, **said}) for name, said in texts.items()]
    lines.append(rb'{"source_id": "surrogate", "title": "A \ud800 model", "abstract": "We \udfff rank."}')
    lines.append(rb'{"source_id": "nul", "title": "A \u0000 model"}')
    file.write_bytes(b"\n".join(lines))
    return file


AS_PUBLISHED = (3_500, ("--as-published",), {TOO_LONG: 1})


@pytest.mark.parametrize(
    ("database_url", "words", "way", "longest"),
    [
        ("duckdb", 5_000, (), {}),
        pytest.param("duckdb", 20_000, (), {}, marks=pytest.mark.long),
        ("postgresql", *AS_PUBLISHED),
        pytest.param("duckdb", *AS_PUBLISHED, marks=pytest.mark.long),
        pytest.param("postgresql", 20_000, (), {}, marks=pytest.mark.long),
    ],
    indirect=["database_url"],
)
def test_odd_texts_have_neighbours_or_reasons(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: int,
    way: tuple[str, ...],
    longest: dict[str, int],
) -> None:
    monkeypatch.setenv("PINAKES_DATABASE_URL", database_url)
    call = make_call(capsys)
    file = write_bad(tmp_path / "bad.jsonl", words)
    loaded = call("load", "jsonl", file, "--corpus", "bad", "--max-rejects", 1, "--json", "--quiet")
    assert loaded.data["reasons"] == {"invalid_value": 1, "not_json": 1}  # NUL, a surrogate
    papers = len(BAD) + 1
    made = call("derive", "neighbours", "--corpus", "bad", "--json", "--quiet", *way)
    assert (made.code, made.err) == (0, "")
    assert made.data["derived_rows"] == papers * 32
    assert sum(code["made"] + sum(code["absent"].values()) for code in made.data["codes"]) == papers * 32
    absent = {code["code"]: code["absent"] for code in made.data["codes"]}
    assert absent["T_A_WS"].get(TOO_LONG) == longest.get(TOO_LONG)
    assert absent["T_ADelQ1"] == {"fewer than 3 sentences": 5, "no abstract": 1}
    assert absent["TNNU_A"] == {"no title": 2, "no noun in the title": 3}
    again = call("derive", "neighbours", "--corpus", "bad", "--json", "--quiet", *way)
    assert again.data["derived_rows"] == 0


def test_the_command_says_what_there_is(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PINAKES_DATABASE_URL", database_url)
    call = make_call(capsys)
    call(
        "load",
        "jsonl",
        write_bad(tmp_path / "bad.jsonl", 70),
        "--corpus",
        "bad",
        "--max-rejects",
        1,
        "--quiet",
    )
    said = call("derive", "neighbours", "--corpus", "bad", "--codes", "T_ADelQ1, T_ARot,T_ARot", "--quiet")
    assert said.code == 0
    assert "T_ADelQ1" in said.out
    assert "fewer than 3 sentences" in said.out
    assert said.out.count("T_ARot") == 1
    assert "need no vector of their own" in said.out
    for arguments, message in {
        ("--codes", ""): "--codes is empty; give it a value",
        ("--codes", "X"): "unknown code 'X'; known: TDelADJ_A, ",
        ("--codes", "m:f"): "no function",
        ("--jobs", "0"): "--jobs is 0; expected a whole number from 1.",
    }.items():
        refused = call("derive", "neighbours", "--corpus", "bad", *arguments)
        assert refused.code == 1
        assert message in refused.err
