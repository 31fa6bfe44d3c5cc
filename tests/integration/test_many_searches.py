"""Many searches in one process: what each would find, and files of queries of which no line is lost."""

import gzip
import os
from pathlib import Path

import pytest

import pinakes
from pinakes.database import Database, connect
from pinakes.errors import IndexingError, InputError, PinakesError, RunError
from pinakes.index.approximate import FaissRequest, index_faiss
from pinakes.index.index import index_corpus
from pinakes.search.filter import PaperFilter
from pinakes.search.found import Found
from pinakes.search.query_files import read_query_file
from pinakes.search.search import SearchRequest, search
from pinakes.search.searcher import Searcher, open_searcher
from pinakes.systems.base import SystemOptions
from tests.benching import change
from tests.calling import Call
from tests.long import alternate

TEXTS = ["graph", "neural text predictors", "the of", "graph", "cells of cells in graphs", "zzz"]
SYSTEMS = ["bm25", "tfidf", "sparse_bm25", "toy"]


def choose(tmp_path: Path, through: str = "exact") -> SystemOptions:
    return SystemOptions(tmp_path / "indexes", precision="fp32", device="cpu", through=through)


def describe(found: list[Found]) -> list[tuple[object, ...]]:
    return [(one.rank, one.score, one.source_id, one.title, one.year, one.paper_id) for one in found]


def require_equal(database: Database, request: SearchRequest, opened: Searcher, k: int, exact: bool) -> None:
    """Each list is that of a search for the text; of vectors made together the last bits may differ."""
    together = opened.search(TEXTS, k)
    for text, found in zip(TEXTS, together, strict=True):
        alone = search(database, replace_text(request, text, k))
        assert describe(opened.search([text], k)[0]) == describe(alone)
        if exact:
            assert describe(found) == describe(alone)
        else:
            assert [one.score for one in found] == pytest.approx([one.score for one in alone], abs=1e-5)


def replace_text(request: SearchRequest, text: str, k: int) -> SearchRequest:
    return SearchRequest(
        request.corpus, text, request.system, k, request.wanted, request.paper_template, request.options
    )


@pytest.mark.parametrize(
    ("system", "wanted"), alternate(SYSTEMS, [PaperFilter(), PaperFilter(year_from=2000)])
)
def test_a_searcher_finds_what_single_searches_find(
    prepared: Database, tmp_path: Path, toy_folder: str, system: str, wanted: PaperFilter
) -> None:
    named = toy_folder if system == "toy" else system
    index_corpus(prepared, "synthetic", named, options=choose(tmp_path))
    request = SearchRequest("synthetic", system=named, wanted=wanted, options=choose(tmp_path))
    opened = open_searcher(prepared, request)
    for k in (1, 7, 1000):
        require_equal(prepared, request, opened, k, exact=system != "toy")


def test_a_searcher_goes_through_a_faiss_index(prepared: Database, tmp_path: Path, toy_folder: str) -> None:
    index_corpus(prepared, "synthetic", toy_folder, options=choose(tmp_path))
    index_faiss(prepared, FaissRequest("synthetic", toy_folder, "flat", choose(tmp_path)))
    request = SearchRequest("synthetic", system=toy_folder, options=choose(tmp_path, "faiss:flat"))
    require_equal(prepared, request, open_searcher(prepared, request), 9, exact=False)
    with pytest.raises(InputError, match="pgvector searches in the database"):
        open_searcher(
            prepared,
            SearchRequest("synthetic", system=toy_folder, options=choose(tmp_path, "pgvector")),
        )


def test_a_searcher_says_what_it_cannot_be_asked(prepared: Database, tmp_path: Path) -> None:
    options = choose(tmp_path)
    with pytest.raises(RunError, match="build it with"):
        open_searcher(prepared, SearchRequest("scifact", options=options))
    index_corpus(prepared, "scifact", "bm25", options=options)
    with pytest.raises(InputError, match="no text and no paper before"):
        open_searcher(prepared, SearchRequest("scifact", "graph", options=options))
    with pytest.raises(InputError, match="no paper of scifact passes"):
        open_searcher(prepared, SearchRequest("scifact", wanted=PaperFilter(venue="none"), options=options))
    opened = open_searcher(prepared, SearchRequest("scifact", options=options))
    assert opened.search([]) == []
    with pytest.raises(InputError, match="text 2 of 2 to search for is empty"):
        opened.search(["graph", " "])
    with pytest.raises(IndexingError, match="expected k of at least 1"):
        opened.search(["graph"], 0)
    change(prepared, "UPDATE papers SET abstract = 'other' WHERE source_id = 'p2'")
    with pytest.raises(RunError, match="built from other texts"):
        open_searcher(prepared, SearchRequest("scifact", options=options))
    assert [one.source_id for one in opened.search(["graph models"])[0]] == ["p2", "p10", "p1"]


def test_a_searcher_of_a_connection_holds_no_file(prepared_duckdb_url: str) -> None:
    file = Path(prepared_duckdb_url.removeprefix("duckdb:///"))
    work = pinakes.connect(file, read_only=False)
    work.index(system="bm25", corpus="scifact")
    searcher = work.searcher("scifact")
    found = searcher.search("graph models")
    assert found == work.search("scifact", "graph models")
    assert isinstance(found, pinakes.Records)
    assert searcher.search(["graph models", "graph"], k=1) == [
        work.search("scifact", text, k=1) for text in ("graph models", "graph")
    ]
    assert (searcher.corpus, searcher.system) == ("scifact", "bm25")
    held = [os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")]
    assert str(file) not in held
    with connect(prepared_duckdb_url) as writer:  # nobody is waited for
        change(writer, "UPDATE papers SET year = 1 WHERE source_id = 'p1'")
    with pytest.raises(PinakesError, match="is empty"):
        searcher.search("")


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content", "queries"),
    [
        ("q.txt", "\ufeffone two\r\n\n  \nthree\tfour", [("1", "one two"), ("4", "three\tfour")]),
        ("q", "one\n", [("1", "one")]),
        ("q.tsv", "b\ttwo\t2\na\tone\n", [("b", "two\t2"), ("a", "one")]),
        ("q.tsv.gz", "b\ttwo\n", [("b", "two")]),
        (
            "q.jsonl",
            '{"_id": "x", "text": "one", "metadata": {}}\n{"query_id": 7, "query": "two"}\n',
            [("x", "one"), ("7", "two")],
        ),
    ],
)
def test_the_name_of_a_file_says_how_its_queries_are_written(
    tmp_path: Path, name: str, content: str, queries: list[tuple[str, str]]
) -> None:
    read = read_query_file(write(tmp_path, name, content))
    assert [(one.query_id, one.text) for one in read.queries] == queries
    assert read.refused == ()
    read.require_whole()


def test_every_line_that_is_no_query_is_counted_and_named(tmp_path: Path) -> None:
    lines = ['{"_id": "a", "text": "x"}', "nope", "[1]", '{"text": "x"}', '{"_id": true, "text": "x"}']
    lines += [
        '{"_id": "a", "text": "y"}',
        '{"_id": "b", "text": " "}',
        '{"_id": "c"}',
        '{"_id": "", "text": "x"}',
    ]
    read = read_query_file(write(tmp_path, "q.jsonl", "\n".join(lines)))
    assert [(one.query_id, one.text) for one in read.queries] == [("a", "x")]
    no_id = "it has no _id or query_id or qid or id"
    assert [(one.line, one.reason) for one in read.refused] == [
        (2, "it is not JSON"),
        (3, "it is no JSON object"),
        (4, no_id),
        (5, no_id),
        (6, "the id 'a' was given before"),
        (7, "the text is empty"),
        (8, "it has no text or query"),
        (9, "the id is empty"),
    ]
    with pytest.raises(InputError, match=r"8 of 9 lines of q\.jsonl are no queries .* line 2: .*and 3 more"):
        read.require_whole()
    with pytest.raises(InputError, match=r"q\.tsv holds no query: line 1: it has no tab"):
        read_query_file(write(tmp_path, "q.tsv", "a b\n"))
    with pytest.raises(InputError, match=r"e\.txt holds no query: it is empty"):
        read_query_file(write(tmp_path, "e.txt", "\n"))
    (tmp_path / "latin.txt").write_bytes("é\nplain\n".encode("latin-1"))
    assert [one.line for one in read_query_file(tmp_path / "latin.txt").refused] == [1]


def test_a_file_of_queries_is_answered_as_each_query_is(call: Call, tmp_path: Path) -> None:
    call("index", "--corpus", "scifact", "-s", "bm25")
    file = write(tmp_path, "q.tsv", "b\tgraph models\na\tcitation\nno\tzzz\n")
    done = call("search", "scifact", "--queries", file, "-k", 2, "--json")
    assert done.code == 0
    assert "3 queries, 3 papers; 1 queries found none" in done.err
    alone = {
        name: call("search", "scifact", text, "-k", 2, "--json").data
        for name, text in (("b", "graph models"), ("a", "citation"))
    }
    assert done.data == [{"query_id": name, **row} for name, rows in alone.items() for row in rows]
    run = tmp_path / "run.trec"
    assert call("search", "scifact", "--queries", file, "-k", 2, "--trec", run).out == ""
    assert run.read_text(encoding="utf-8").splitlines() == [
        f"{row['query_id']} Q0 {row['source_id']} {row['rank']} {row['score']:.17g} pinakes-bm25"
        for row in done.data
    ]


def test_a_file_with_bad_lines_is_answered_and_ends_in_an_error(call: Call, tmp_path: Path) -> None:
    call("index", "--corpus", "scifact", "-s", "bm25")
    file = write(tmp_path, "q.tsv", "b\tgraph models\nno tab\n")
    done = call("search", "scifact", "--queries", file, "--json")
    assert done.code == 1
    assert [row["query_id"] for row in done.data] == ["b", "b", "b"]
    assert "1 of 2 lines of q.tsv are no queries and were left out: line 2: it has no tab" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("graph", "--queries", "q.txt"), "expected either --queries, or a text or a paper"),
        (("--paper", "p1", "--queries", "q.txt"), "expected either --queries, or a text or a paper"),
        (("graph", "--trec", "run"), "add --queries FILE"),
        (("--queries", "nowhere.txt"), "there is no file nowhere.txt"),
    ],
)
def test_what_does_not_go_together_is_refused(call: Call, words: tuple[str, ...], said: str) -> None:
    done = call("search", "scifact", *words)
    assert done.code == 1
    assert said in done.err
