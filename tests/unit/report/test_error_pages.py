"""The page, the lines and the table of an error analysis."""

import json
from dataclasses import replace

import pytest

from pinakes.report.errors.data import (
    ErrorCandidate,
    ErrorQuery,
    ErrorReport,
    QuerySentence,
    Ranked,
)
from pinakes.report.errors.page import error_table, left_out_note, render_error_lines, render_error_page
from tests.html_pages import Page
from tests.unit.report.conftest import make_run

ATTACK = "<script>alert(1)</script>"
HIGH = ErrorCandidate(
    "p1", "Not it", "Its abstract.", 0, "bm25, cited", {1: Ranked(1, 0.5), 2: Ranked(7, 0.125)}
)
UNJUDGED = ErrorCandidate("p2", "", "", None, "", {1: Ranked(2, 0.25)})
LOW = ErrorCandidate("p3", "That is it", "An abstract.", 3, "specter", {2: Ranked(40, -3.0)})


@pytest.fixture
def errors() -> ErrorReport:
    worst = ErrorQuery(
        query_id="q1",
        groups={"facet": "method"},
        values={1: 0.25, 2: 0.5},
        relevant=4,
        text="",
        title="A query paper",
        abstract="One. Two.",
        sentences=(QuerySentence("One.", False), QuerySentence("Two.", True)),
        false_positives=(HIGH, UNJUDGED),
        low=(LOW,),
    )
    best = replace(
        worst, query_id="q2", values={1: 1.0}, text="words", title="", abstract="", sentences=(), low=()
    )
    return ErrorReport(
        name="tiny",
        title="Tiny: two queries",
        measure="nDCG@10",
        scale="percent",
        relevant_from=2,
        grades={"2": "similar"},
        top=10,
        runs=(make_run(1, "BM25"), make_run(2, "dense")),
        queries=(worst, best),
        left_out=1200,
    )


def test_page_shows_what_is_too_high_and_too_low_with_ranks_of_both_runs(errors: ErrorReport) -> None:
    text = render_error_page(errors)
    assert "Too high: grade below 2, or not judged" in text
    assert "Too low: grade 2 or more, the lowest first" in text
    assert "grade 2 (similar)" in text
    assert '<td class="number">1 <small>(0.5)</small></td>' in text
    assert '<td class="number">40 <small>(−3)</small></td>' in text
    assert text.count("not ranked") == 3
    assert text.count('<span class="absent">not judged</span>') == 2
    assert "<summary>That is it <small>p3</small></summary>\n<p>An abstract.</p>" in text
    assert "(no title)" in text
    assert "(no abstract)" in text
    assert '<p class="absent">Nothing is relevant.</p>' in text


def test_requested_sentences_are_marked_and_a_text_stands_as_it_is(errors: ErrorReport) -> None:
    text = render_error_page(errors)
    assert "<p>One. <mark>Two.</mark></p>" in text
    assert '<p class="title">A query paper</p>' in text
    assert "<p>words</p>" in text
    plain = replace(errors, queries=(replace(errors.queries[0], sentences=()),))
    assert "<p>One. Two.</p>" in render_error_page(plain)


def test_index_leads_to_every_query_with_its_values(errors: ErrorReport) -> None:
    text = render_error_page(errors)
    page = Page(text)
    links = [value for tag, name, value in page.attributes if (tag, name) == ("a", "href")]
    assert links == ["#query-1", "#query-2", "#top", "#top"]
    assert {"query-1", "query-2", "top"} == set(page.values("id"))
    assert "<span>25.00 · 50.00</span>" in text
    assert "<span>100.00 · –</span>" in text


def test_one_run_has_its_ranks_under_rank(errors: ErrorReport) -> None:
    alone = replace(errors, runs=errors.runs[:1])
    text = render_error_page(alone)
    assert '<th scope="col" class="number">rank</th>' in text
    assert ">dense<" not in text


def test_page_needs_nothing_else_and_is_balanced(errors: ErrorReport) -> None:
    page = Page(render_error_page(errors))
    assert page.open == []
    assert not page.tags.keys() & {"script", "link", "img", "iframe", "object", "embed", "base"}
    assert page.tags["caption"] == page.tags["table"] == 3
    assert page.tags["th"] == len(page.values("scope"))


def test_markup_in_texts_is_text(errors: ErrorReport) -> None:
    candidate = replace(HIGH, source_id=ATTACK, title=ATTACK, abstract=ATTACK, sources=ATTACK)
    query = replace(
        errors.queries[0],
        query_id=ATTACK,
        groups={ATTACK: ATTACK},
        text=ATTACK,
        title=ATTACK,
        sentences=(QuerySentence(ATTACK, True),),
        false_positives=(candidate,),
    )
    hostile = replace(
        errors, name=ATTACK, title=ATTACK, measure=ATTACK, runs=(make_run(1, ATTACK),), queries=(query,)
    )
    text = render_error_page(hostile)
    assert ATTACK not in text
    assert Page(text).tags["script"] == 0


def test_what_is_left_out_is_said(errors: ErrorReport) -> None:
    note = "1,200 better queries are left out; `--query ID` asks for any of them."
    assert left_out_note(errors) == note
    assert note in render_error_page(errors)
    whole = replace(errors, left_out=0)
    assert left_out_note(whole) == ""
    assert 'class="warnings"' not in render_error_page(whole)


def test_lines_hold_the_same_as_the_page(errors: ErrorReport) -> None:
    lines = [json.loads(line) for line in render_error_lines(errors).splitlines()]
    assert [(line["query_id"], line["kind"], line["source_id"]) for line in lines] == [
        ("q1", "false_positive", "p1"),
        ("q1", "false_positive", "p2"),
        ("q1", "low", "p3"),
        ("q2", "false_positive", "p1"),
        ("q2", "false_positive", "p2"),
    ]
    assert lines[2] == {
        "query_id": "q1",
        "kind": "low",
        "source_id": "p3",
        "title": "That is it",
        "grade": 3,
        "sources": "specter",
        "ranks": {"1": None, "2": 40},
        "scores": {"1": None, "2": -3.0},
    }


def test_table_names_the_first_runs_worst(errors: ErrorReport) -> None:
    table = error_table(errors)
    assert [[cell.full_text for cell in row.cells] for row in table.rows] == [
        ["q1", "25.00", "50.00", "4", "p1 (rank 1)", "p3 (not ranked)"],
        ["q2", "100.00", "–", "4", "p1 (rank 1)", "–"],
    ]
