"""A site from real tables: the same bytes on both databases, safe against its data, kept up to date."""

import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.database.read_only import ask
from pinakes.errors import EvaluationError, InputError
from pinakes.report.site.benchmark_pages import BenchmarkPages
from pinakes.report.site.folder import LIST, SiteFolder
from pinakes.report.site.names import make_file_name
from pinakes.report.site.queries import QueryRequest, read_groups, stream_queries
from pinakes.report.site.write import SiteRequest, write_site
from pinakes.schema import benchmark_queries, papers, scores
from pinakes.workload.benchmark import open_benchmark
from tests.html_pages import Page
from tests.integration.ranked_csfcube import import_rankings
from tests.site_worlds import ATTACK, QUERIES, TITLES, fill_world, write_world

pytestmark = pytest.mark.in_turn


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return write_world(tmp_path, monkeypatch)


def read_tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Shown(HTMLParser):
    """The text of a page that a reader sees, and the queries in SQL."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self.sql: list[str] = []
        self._is_sql = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "pre":
            self._is_sql = True
            self.sql.append("")

    def handle_endtag(self, tag: str) -> None:
        self._is_sql = self._is_sql and tag != "pre"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._is_sql:
            self.sql[-1] += data


def list_pages(folder: Path) -> Iterator[tuple[Path, str, Page]]:
    for path in sorted(folder.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        yield path, text, Page(text)


def test_both_databases_give_the_same_site_and_a_second_run_rewrites_nothing(
    duckdb_database: Database, postgres_database: Database, corpus: Path, tmp_path: Path
) -> None:
    for database, name in ((duckdb_database, "duck"), (postgres_database, "post")):
        fill_world(database, corpus)
        done = write_site(database, tmp_path / name)
        assert (done.benchmarks, done.failed, done.files.unchanged) == (1, [], 0)
    tree = read_tree(tmp_path / "duck")
    assert tree == read_tree(tmp_path / "post")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "duck").rglob("*")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BenchmarkPages, "render_report", lambda _self: pytest.fail("drawn again"))
        again = write_site(duckdb_database, tmp_path / "duck").files
    assert (again.written, again.removed, again.unchanged) == (0, 0, len(tree) - 1)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "duck").rglob("*")} == times

    check_skipping(duckdb_database, tmp_path / "duck", tree)
    check_kill(duckdb_database, tmp_path / "duck", tree)
    check_pages(tmp_path / "duck")
    check_queries(duckdb_database, tmp_path / "duck")
    check_removal(duckdb_database, tmp_path / "duck")


def check_skipping(database: Database, folder: Path, tree: dict[str, bytes]) -> None:
    """What somebody removed or edited is put back, and what changed in the database is shown."""
    (folder / "benchmarks" / "tiny" / "query" / "n3.html").unlink()
    (folder / "benchmarks" / "tiny" / "queries.html").write_text("edited")
    assert write_site(database, folder).files.written == 2
    assert read_tree(folder) == tree
    change = sa.update(papers).where(papers.c.source_id == "p5")
    with database.begin() as session:
        session.execute(change.values(title="Another title"))
    assert write_site(database, folder).files.written > 2
    assert b"Another title" in (folder / "benchmarks" / "tiny" / "query" / "n3.html").read_bytes()
    with database.begin() as session:
        session.execute(change.values(title=TITLES[5]))


def check_kill(database: Database, folder: Path, tree: dict[str, bytes]) -> None:
    """Killed amid pages of queries, with half a line in its list: the next ends as if nothing had been."""
    replace = SiteFolder._replace

    def stop(site: SiteFolder, path: str, content: bytes) -> None:
        if path.endswith("n4.html"):
            raise KeyboardInterrupt
        replace(site, path, content)

    shutil.rmtree(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SiteFolder, "_replace", stop)
        with pytest.raises(KeyboardInterrupt):
            write_site(database, folder)
    assert 9 < len(read_tree(folder)) < len(tree)
    with (folder / LIST).open("a") as stream:
        stream.write('["file","half')
    write_site(database, folder)
    assert read_tree(folder) == tree


def check_pages(folder: Path) -> None:
    """Nothing of the data acts, links lead somewhere, each page has contents and asks nobody for anything."""
    pages = folder / "benchmarks" / "tiny"
    assert len(list((pages / "query").iterdir())) == len(QUERIES)
    assert not list(folder.parent.glob("up*"))
    assert (pages / "pair" / "good--poor.html").is_file()
    outside = set()
    for path, text, page in list_pages(folder):
        assert page.open == []
        assert (page.tags["script"], page.values("src")) == (
            2,
            [src for src in page.values("src") if src.endswith(("assets/sortable.js", "assets/site.js"))],
        )
        assert page.tags["img"] == page.tags["iframe"] == 0
        assert not [name for _tag, name, _value in page.attributes if name.startswith("on")]
        assert "\u202e" not in text
        assert ("contents" in page.values("class")) == (text.count("<section>") > 1)
        for address in page.values("href") + page.values("src"):
            parts = urlsplit(address)
            if parts.scheme:
                outside.add(address)
            elif parts.path:
                target = (path.parent / unquote(parts.path)).resolve()
                assert target.is_file(), (path, address)
                assert target.is_relative_to(folder.resolve())
            else:
                assert parts.fragment in page.values("id")
    assert outside == {"https://doi.org/10.1000/a%22b%3Cc%3E", "https://arxiv.org/abs/1706.03762"}


def check_queries(database: Database, folder: Path) -> None:
    """The page of the query that attacks shows what it is, and its SQL runs."""
    text = (folder / "benchmarks" / "tiny" / "query" / f"{make_file_name(ATTACK)}.html").read_text()
    shown = Shown(text)
    for words in (
        f"{ATTACK} asked by {ATTACK}",
        "poor alone" if "poor alone" in shown.text else "same papers",
    ):
        assert words in shown.text
    assert len(shown.sql) == 1
    with ask(database, shown.sql[0]) as found:
        assert len(list(found.rows)) == 12
    pair = Shown((folder / "benchmarks" / "tiny" / "pair" / "good--poor.html").read_text())
    assert all(query_id in pair.text for query_id in QUERIES)


def check_removal(database: Database, folder: Path) -> None:
    """What is gone leaves the site; what the site never made stays."""
    (folder / "mine.txt").write_text("mine")
    gone = folder / "benchmarks" / "tiny" / "query" / "n7.html"
    assert gone.exists()
    with database.begin() as session:
        session.execute(sa.delete(benchmark_queries).where(benchmark_queries.c.query_id == "n7"))
    files = write_site(database, folder, SiteRequest(["tiny"])).files
    assert (files.removed, gone.exists(), (folder / "mine.txt").exists()) == (1, False, True)
    few = write_site(database, folder, SiteRequest(["tiny"], most_queries=3)).files
    assert few.removed == len(QUERIES) - 1 - 3
    assert "others have none" in (folder / "benchmarks" / "tiny" / "queries.html").read_text()
    with pytest.raises(EvaluationError, match="benchmarks that have: tiny"):
        write_site(database, folder, SiteRequest(["scifact"]))
    with database.begin() as session:
        session.execute(sa.delete(scores).where(scores.c.measure == "RR"))
    kept = read_part(folder)
    done = write_site(database, folder)
    assert [name for name, _why in done.failed] == ["tiny"]
    assert read_part(folder) == kept != []
    assert "could not be done now" in (folder / "index.html").read_text()


def read_part(folder: Path) -> list[str]:
    return [line for line in (folder / LIST).read_text().splitlines() if "benchmarks/tiny/" in line]


def test_a_file_that_no_site_made_is_never_overwritten(
    duckdb_database: Database, corpus: Path, tmp_path: Path
) -> None:
    fill_world(duckdb_database, corpus)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine")
    with pytest.raises(InputError, match=r"index\.html is there and of no site"):
        write_site(duckdb_database, tmp_path / "site")
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["index.html"]


def test_a_query_of_a_facet_marks_the_sentences_that_it_asks_with(prepared: Database, tmp_path: Path) -> None:
    import_rankings(prepared, tmp_path)
    benchmark = open_benchmark(prepared, "csfcube")
    groups = read_groups(prepared, benchmark)
    request = QueryRequest(benchmark, groups, [1, 2], ["CSFCube.nDCG%20"], relevant_from=2)
    found = {query.query_id: query for query in stream_queries(prepared, request)}
    assert list(found) == sorted(groups)
    query = found["1_background"]
    assert query.sentences == [("Citation graph retrieval.", True), ("A model of the graph.", False)]
    assert [(one.source_id, one.grade, one.ranks) for one in query.papers] == [
        ("3", 3, {1: 1, 2: 3}),
        ("4", 0, {1: 5, 2: 1}),
        ("5", 1, {1: 4, 2: 2}),
        ("6", 2, {1: 2}),
        ("8", 2, {1: 3}),
    ]
    assert (query.judged, query.relevant, query.groups) == (5, 3, {"facet": "background"})
    assert [one.source_id for one in query.list_top(2)] == ["4", "5", "3"]
