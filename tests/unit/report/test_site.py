"""The parts of a site: file names, links, looks, its folder, and the page of a query whose data attack it."""

import json
import os
import subprocess
import unicodedata
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from pinakes.errors import InputError
from pinakes.queries.definition import read_benchmark
from pinakes.report.data import BenchmarkReport
from pinakes.report.layout import Table, make_columns, make_row
from pinakes.report.parts import Section
from pinakes.report.plots.drawing import make_look
from pinakes.report.site.benchmark_pages import BenchmarkPages
from pinakes.report.site.folder import LIST, SiteFolder
from pinakes.report.site.gather import Lead, Subject
from pinakes.report.site.keys import Key
from pinakes.report.site.layout import MOST_ROWS, Layout, NamedRun, add_contents, render_sections
from pinakes.report.site.lines import QueryLine
from pinakes.report.site.looks import Swatch, assign_looks, make_swatch
from pinakes.report.site.names import list_links, make_file_name, name_pair
from pinakes.report.site.queries import MOST_JUDGED, ShownPaper, ShownQuery
from pinakes.report.site.query_page import QueryPages
from pinakes.report.site.record import Part, read_record
from pinakes.report.site.top_pages import OverviewRow, recall_row
from tests.html_pages import Page
from tests.site_worlds import NOON

ATTACK = '</td><script>alert("1")</script>'


@given(st.text(), st.text())
def test_two_names_never_share_a_file_and_none_leaves_its_folder(one: str, other: str) -> None:
    found = make_file_name(one)
    assert found == found.lower()
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")
    assert 0 < len(found) <= 62
    assert (found == make_file_name(other)) == (one == other)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "/etc/passwd", "con", "LPT1", "nul", "a\x00b", "ü" * 300]
)
def test_a_name_that_a_disk_could_read_otherwise_has_a_digest(name: str) -> None:
    assert make_file_name(name) != name
    assert make_file_name(make_file_name(name)) != make_file_name(name)


@pytest.mark.parametrize(
    "names",
    [
        ("straße", "STRASSE", "strasse", "straẞe"),
        ("é", "e\u0301", "É", "e"),
        ("\u212a", "k", "K"),  # the sign of Kelvin
        ("ﬁ", "fi", "FI", "Fi"),
        ("x" * 300, "x" * 301, "X" * 300),
        ("a\x00b", "ab", "a b", "a/b", "a\\b"),
    ],
)
def test_names_that_a_disk_could_take_for_one_have_files_of_their_own(names: tuple[str, ...]) -> None:
    found = [make_file_name(name) for name in names]
    assert len({unicodedata.normalize("NFKC", one).casefold() for one in found}) == len(names)
    assert all(len(f"{name_pair(one, names[0])}.html") < 200 for one in names)


def test_a_pair_has_one_file_and_names_with_dashes_are_not_taken_for_each_other() -> None:
    assert name_pair("a", "b") == name_pair("b", "a") == "a--b"
    assert name_pair("a--b", "c") != name_pair("a", "b--c")


@pytest.mark.parametrize(
    ("identifiers", "links"),
    [
        ("", []),
        ("doi javascript:alert(1)", []),
        ("acl P19-1\nacl A00-1", [("ACL", "https://aclanthology.org/A00-1")]),
        ("arxiv cs.CL/0001001", [("arXiv", "https://arxiv.org/abs/cs.CL/0001001")]),
        ("s2 12", [("S2", "https://api.semanticscholar.org/CorpusID:12")]),
        ("s2 " + "a" * 40, [("S2", "https://www.semanticscholar.org/paper/" + "a" * 40)]),
        ("unknown 1\narxiv ../../x\npubmed 1x", []),
        ("arxiv 1706.03762\nnot a line", [("arXiv", "https://arxiv.org/abs/1706.03762")]),
    ],
)
def test_identifiers_lead_where_their_scheme_says_and_nowhere_else(
    identifiers: str, links: list[tuple[str, str]]
) -> None:
    assert list_links(identifiers) == links


def test_a_system_keeps_its_look_when_others_come() -> None:
    few, more = assign_looks(["bm25", "tfidf"]), assign_looks(["bm25", "tfidf", "minilm", "specter"])
    assert {name: more[name] for name in few} == few
    assert len({make_look(number).colour for number in more.values()}) == 4
    names = [f"system {number}" for number in range(24)]
    many = assign_looks(names)
    assert len({make_swatch(number) for number in many.values()}) == 24
    for count in range(24):  # whoever comes later moves nobody, and where all come at once it is the same
        assert assign_looks(names[:count]).items() <= many.items()
        assert (
            assign_looks(reversed(names), assign_looks(names[:count])).items()
            >= assign_looks(names[:count]).items()
        )
    assert len({number % 8 for number in assign_looks(names[:8]).values()}) == 8


def read_files(folder: Path) -> dict[str, str]:
    return {str(one.relative_to(folder)): one.read_text() for one in folder.rglob("*") if one.is_file()}


def test_a_folder_holds_what_was_written_last_and_what_is_not_the_sites(tmp_path: Path) -> None:
    with SiteFolder(tmp_path) as site:
        site.write("a/b/old.html", "old")
        site.write("a/same.html", "same")
        assert site.finish().written == 2
    (tmp_path / "a" / "mine").write_text("mine")
    with SiteFolder(tmp_path) as site:
        site.write("a/same.html", "same")
        site.write("new.html", "new")
        done = site.finish()
    assert (done.written, done.unchanged, done.removed) == (1, 1, 1)
    found = read_files(tmp_path)
    listed = found.pop(LIST).splitlines()
    assert found == {"a/mine": "mine", "a/same.html": "same", "new.html": "new"}
    assert [json.loads(line)[:2] for line in listed[1:]] == [["file", "a/same.html"], ["file", "new.html"]]
    assert not (tmp_path / "a" / "b").exists()


def test_a_site_that_was_stopped_owns_its_pages(tmp_path: Path) -> None:
    with SiteFolder(tmp_path) as site:
        site.write("index.html", "half")
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / f".site-unfinished.{ended.pid}").write_text("ha")
    running = tmp_path / f".site-unfinished.{os.getppid()}"
    running.write_text("another's")
    with SiteFolder(tmp_path) as site:
        site.write("other.html", "whole")
        assert site.finish().removed == 1
    running.unlink()
    assert set(read_files(tmp_path)) == {LIST, "other.html"}


def test_a_part_is_whole_when_all_its_files_are_as_they_were(tmp_path: Path) -> None:
    part = Part("key", {"title": "A part"})
    with SiteFolder(tmp_path) as site:
        for name in ("part/one.html", "part/two.html", "other.html"):
            site.write(name, name)
        site.end_part("part/", part)
    with SiteFolder(tmp_path) as site:  # the one before was killed behind its part
        assert site.find_part("part/") == part
        site.keep_part("part/")
        assert (site.finish().unchanged, site.finish().removed) == (2, 1)
    assert set(read_files(tmp_path)) == {LIST, "part/one.html", "part/two.html"}
    (tmp_path / "part" / "two.html").write_text("part/two.htm1")
    with SiteFolder(tmp_path) as site:
        assert site.find_part("part/") is None
        assert site.find_part("none/") is None
        site.write("part/one.html", "part/one.html")
        site.end_part("part/", part)
    with SiteFolder(tmp_path) as site:
        assert site.find_part("part/") == part
    assert not (tmp_path / "part" / "two.html").exists()


def test_a_half_line_of_a_killed_site_costs_no_other_line(tmp_path: Path) -> None:
    with SiteFolder(tmp_path) as site:
        site.write("a.html", "a")
    with (tmp_path / LIST).open("a") as stream:
        stream.write('["file","b')
    with SiteFolder(tmp_path) as site:
        site.write("c.html", "c")
    lines = [
        *(tmp_path / LIST).read_bytes().splitlines(),
        b"[1]",
        b'["look","x",-1]',
        b"null",
        b'["part","a"]',
    ]
    record = read_record(b"\n".join(lines))
    assert set(record.files) == {"a.html", "c.html"}
    assert (record.looks, record.parts) == ({}, {})


def test_what_decides_pages_is_told_apart() -> None:
    values = [
        1,
        "1",
        1.0,
        1.5,
        None,
        True,
        [1],
        {"1": 1},
        {1: 1},
        {1, 2},
        np.array([1]),
        np.array([1.0]),
        Path("1"),
    ]
    keys = [Key(value).finish() for value in values]
    assert len(set(keys)) == len(values)
    assert keys == [Key(value).finish() for value in values]
    query = make_query([ShownPaper(1, "p", "t", 1, {1: 1, 2: 2}, [])])
    turned = make_query([ShownPaper(1, "p", "t", 1, {2: 2, 1: 1}, [])])
    other = make_query([ShownPaper(1, "p", "t", 1, {1: 2, 2: 1}, [])])
    first, same, differs = (watch_key(one) for one in (query, turned, other))
    assert first == same != differs
    with pytest.raises(TypeError, match="depends on a function, which has no digest"):
        Key(watch_key)


def watch_key(query: ShownQuery) -> str:
    key = Key()
    assert list(key.watch([query])) == [query]
    return key.finish()


def test_what_an_overview_remembers_is_what_it_said() -> None:
    for lead in (Lead("bm25", "0.70", Swatch(3, 1)), Lead("bm25", "0.70"), None):
        row = OverviewRow("n", "t", "ranking", "AP", lead, 3, None, NOON, ["careful"])
        assert recall_row(json.loads(json.dumps(row.say())), NOON) == row
    assert recall_row({"name": "n"}, NOON) is None
    for broken in (5, ["bm25"], ["bm25", "0.70", [3]]):
        assert recall_row({**row.say(), "lead": broken}, NOON) is None


def test_a_list_that_somebody_changed_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("mine")
    folder = tmp_path / "site"
    folder.mkdir()
    names = ["../outside", str(tmp_path / "outside"), "a/../../outside", "..\\outside", "", "a\0b"]
    (folder / LIST).write_text("\n".join(json.dumps(["file", name, ""]) for name in names))
    (folder / "link").symlink_to(tmp_path / "outside")
    with SiteFolder(folder) as site:
        with pytest.raises(InputError, match="of no site that pinakes made"):
            site.write("link", "x")
        site.finish()
    assert (tmp_path / "outside").read_text() == "mine"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("mine")
    with pytest.raises(InputError, match="the site cannot be written"):
        SiteFolder(tmp_path / "site")


def test_contents_name_every_second_heading_once() -> None:
    body = add_contents(Markup("<h2>One &amp; <i>two</i></h2><h3>no</h3><h2>One &amp; two</h2>"))
    assert body.count('href="#one-two"') == body.count('id="one-two-2"') == 1
    assert "contents" not in add_contents(Markup("<p>nothing</p>"))


def test_a_long_table_is_cut_with_a_word_and_the_query_for_the_rest() -> None:
    rows = [make_row(f"row {number}") for number in range(MOST_ROWS + 7)]
    layout = Layout("", rest="SELECT 'a < b'")
    text = render_sections(
        layout, "kind", "title", [Section("Rows", [Table("Rows", make_columns(["name"]), rows)])]
    )
    assert text.count("<tr>") == 1 + MOST_ROWS
    assert "7 more rows are left out here" in text
    assert "SELECT &#39;a &lt; b&#39;" in text


@pytest.fixture
def subject(report: BenchmarkReport) -> Subject:
    hostile = replace(report, grades={"0": "no", "1": ATTACK})
    named = {run.run_id: NamedRun(run.run_id, run.label, make_swatch(0)) for run in hostile.runs}
    return Subject(read_benchmark("scifact"), hostile, named, {"q1": {}}, 1)


def test_a_system_whose_name_attacks_is_text_on_every_page(subject: Subject) -> None:
    label = f'"{ATTACK}../\u202e'
    named = {run_id: replace(one, label=f"{label}{run_id}") for run_id, one in subject.named.items()}
    runs = [replace(run, label=named[run.run_id].label) for run in subject.report.runs]
    hostile = replace(subject, named=named, report=replace(subject.report, runs=runs))
    common = {frozenset((1, 2)): 3}
    lines = [QueryLine(f"q{n}", ATTACK, {}, 1, {1: 0.5, 2: n / 4}, common) for n in (1, 3)]
    pages = BenchmarkPages(hostile, lines, frozenset(["q1"]))
    texts = [text for _name, text in (*pages.render_report(), *pages.render_lists())]
    texts += [pages.render_pair(pair) for pair in pages.list_pairs()]
    texts.append(QueryPages(hostile).render(make_query([ShownPaper(1, "p1", "Both", 1, {1: 1, 2: 2}, [])])))
    assert len(texts) == 5
    for text in texts:
        page = Page(text)
        assert (page.open, page.tags["script"]) == ([], 2)
        assert "\u202e" not in text
        assert {urlsplit(one).scheme for one in page.values("href")} <= {"", "https"}
        assert not [one for one in page.values("href") if one.removeprefix("../../../").count("..") > 2]
    assert all(
        set(pages.name_pair(pair)) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.")
        for pair in pages.list_pairs()
    )


def make_query(papers: list[ShownPaper]) -> ShownQuery:
    query = ShownQuery(f"q{ATTACK}", {ATTACK: ATTACK}, text=ATTACK, abstract=ATTACK, title=ATTACK)
    query.judged, query.relevant, query.papers = 90, 2, papers
    query.values = {1: {"nDCG@10": 0.5}}
    query.links = [("DOI", "https://doi.org/10.1/1")]
    return query


def test_nothing_on_the_page_of_a_query_acts(subject: Subject) -> None:
    papers = [
        ShownPaper(1, ATTACK, ATTACK, 1, {1: 1}, [("DOI", "https://doi.org/10.1/1")]),
        ShownPaper(2, "p2", "\u202eturned", None, {1: 2, 2: 1}, []),
        ShownPaper(3, "p3", "", 0, {2: 30}, []),
    ]
    text = QueryPages(subject).render(make_query(papers), (ATTACK, "a.html"), None)
    page = Page(text)
    assert page.open == []
    assert page.tags["script"] == 2
    assert "alert(" in text
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert "(no title)" in text
    outside = {one for one in page.values("href") if one.startswith("http")}
    assert outside == {"https://doi.org/10.1/1"}


def test_the_page_of_a_query_says_what_differs_and_where_papers_stand(subject: Subject) -> None:
    papers = [
        ShownPaper(1, "p1", "Both", 1, {1: 1, 2: 2}, []),
        ShownPaper(2, "p2", "Only one", 1, {1: 2, 2: 11}, []),
        ShownPaper(3, "p3", "Nowhere", 1, {}, []),
    ]
    text = QueryPages(subject).render(make_query(papers))
    differing = text[text.index('id="what-differs"') : text.index('id="judged-papers"')]
    assert ("Only one" in differing, "Both" in differing, "Nowhere" in differing) == (True, False, False)
    assert "alone has 1 paper among its first 10, 1 of them relevant" in differing
    row = '<tr><th scope="row">{}</th><td><b class="grade yes">1</b></td>{}<td class="links">{}</td></tr>'
    places = '<td class="top">2</td><td>11</td>'
    assert row.format("Only one", places, "p2") in text
    nowhere = '<td class="absent" data-sort="">–</td>' * 2
    assert row.format("Nowhere", nowhere, "p3") in text


def test_a_query_of_many_judged_papers_shows_some_and_how_many_there_are(subject: Subject) -> None:
    papers = [ShownPaper(n, f"p{n}", f"Title {n}", 1, {1: n}, []) for n in range(1, MOST_JUDGED + 9)]
    text = QueryPages(subject).render(make_query(papers))
    assert f"The {MOST_JUDGED} of the highest grades, of 90." in text
    assert "WHERE judgments.query_id = &#39;q&lt;/td&gt;" in text


def test_a_query_without_answers_has_a_page(subject: Subject) -> None:
    query = ShownQuery("q", {}, text="words")
    text = QueryPages(subject).render(query)
    assert "The systems have the same papers among their first 10." in text
    assert Page(text).open == []


def test_queries_that_are_many_are_split_over_pages(subject: Subject) -> None:
    lines = [QueryLine(f"q{n}", ATTACK, {}, 1, {1: 0.5, 2: n / 1000}, {}) for n in range(MOST_ROWS + 1)]
    pages = BenchmarkPages(subject, lines, frozenset(["q0"]))
    found = dict(pages.render_lists())
    assert list(found) == ["queries.html", "queries-2.html"]
    assert found["queries.html"].count("<tr>") == MOST_ROWS + 1
    assert found["queries-2.html"].count("<tr>") == 2
    assert [one for one in Page(found["queries.html"]).values("href") if "query/" in one] == ["query/q0.html"]
    assert "300 others have none" in found["queries.html"]
    assert "<script>alert" not in found["queries.html"]


def test_sentences_that_a_query_asks_with_are_marked(subject: Subject) -> None:
    query = ShownQuery("q", {}, abstract="One. Two <b>.", sentences=[("One.", False), ("Two <b>.", True)])
    text = QueryPages(subject).render(query)
    assert "<p>One. <mark>Two &lt;b&gt;.</mark></p>" in text


def test_a_benchmark_whose_queries_have_no_pages_links_to_none(subject: Subject) -> None:
    pages = BenchmarkPages(subject, [], frozenset())
    assert (pages.list_pairs(), list(pages.render_lists())) == ([], [])
    for _name, text in pages.render_report():
        assert not [one for one in Page(text).values("href") if one.startswith(("pair/", "quer"))]


def test_the_leaderboard_has_letters_and_what_counts_beside_the_names(subject: Subject) -> None:
    common = {frozenset((1, 2)): 3}
    lines = [QueryLine(f"q{n}", "words", {}, 1, {1: 0.5, 2: n / 4}, common) for n in (1, 3)]
    pages = BenchmarkPages(subject, lines, frozenset(["q1"]))
    (first, text), (second, details) = pages.render_report()
    assert (first, second) == ("index.html", "details.html")
    ids = set(Page(details).values("id"))
    led = [one.partition("#") for one in Page(text).values("href") if one.startswith("details.html")]
    assert {anchor for _page, _sign, anchor in led} <= ids
    assert len(led) == details.count("<section>")
    results = text[text.index('id="results"') : text.index('id="queries"')]
    head = results[results.index("<thead>") : results.index("</thead>")]
    titles = [one.split("<")[0] for one in head.replace(".<wbr>", ".").split(">") if one[:1].isalpha()]
    assert titles == ["system", "alike", "nDCG@10", "P@10", "from", "queries"]
    assert results.index(">dense</span>") < results.index(">BM25</span>")
    for letter in ("<td>a</td>", "<td>b</td>"):
        assert letter in results
    (pair,) = pages.list_pairs()
    page = pages.render_pair(pair)
    assert '<td class="number" data-sort="-25.00">−25.00</td>' in page
    assert '<td class="number" data-sort="3">3</td>' in page
    assert page.index('scope="row">q3') < page.index('query/q1.html">')
    assert Page(page).open == Page(text).open == []
