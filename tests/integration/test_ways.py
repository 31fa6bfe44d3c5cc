"""What goes out and comes in again is the same, whatever the ids are, on both databases."""

import json
from collections.abc import Callable
from itertools import count as count_up
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.export.beir import export_beir
from pinakes.export.collections import find_collection
from pinakes.load.load import LoadRequest, load
from pinakes.run.export_qrels import QRELS_FORMATS, export_qrels
from pinakes.run.export_run import RUN_FORMATS, export_run
from pinakes.run.import_run import ImportRequest, import_run
from tests.benching import POOLS, change, read_hits, write_benchmark
from tests.integration.test_imports import write_pools
from tests.long import long
from tests.writing import write_file, write_files

pytestmark = pytest.mark.in_turn

SUFFIXES = {"trec": ".run.gz", "ranx": ".json.zst", "csv": ".csv", "tsv": ".tsv", "parquet": ".parquet"}
WORD = st.text(st.sampled_from("abé1_\"',;\\{}%&.:/-"), min_size=1, max_size=4)
HOSTILE = st.text(st.sampled_from("a1_ \t\"'#,;\\{}\u00a0\u2003%&"), min_size=1, max_size=4)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
SCORE = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 1.00000001])
_NUMBERS = count_up()


@st.composite
def draw_worlds(draw: st.DrawFn) -> dict[str, Any]:
    """A BEIR folder's content, and a ranking of its papers."""
    ids = draw(st.sampled_from([WORD, WORD, HOSTILE.map(str.strip).filter(bool)]))
    papers, queries = (draw(st.lists(ids, min_size=1, max_size=4, unique=True)) for _ in range(2))
    pairs = st.lists(
        st.tuples(st.sampled_from(queries), st.sampled_from(papers)), min_size=1, max_size=8, unique=True
    )
    return {
        "papers": {one: (draw(TEXT), draw(TEXT), draw(st.none() | st.integers(1, 2030))) for one in papers},
        "queries": {one: draw(TEXT.filter(str.strip)) for one in queries},
        "judged": {pair: draw(st.integers(-1, 3)) for pair in draw(pairs)},
        "ranked": {pair: draw(SCORE) for pair in draw(pairs)},
    }


def write_world(folder: Path, world: dict[str, Any]) -> Path:
    """The world as a BEIR folder without judgments."""
    corpus = [
        {"_id": one, "title": title, "text": text, "metadata": {} if year is None else {"year": year}}
        for one, (title, text, year) in world["papers"].items()
    ]
    queries = [{"_id": one, "text": text} for one, text in world["queries"].items()]
    files = {"corpus.jsonl": corpus, "queries.jsonl": queries}
    return write_files(folder, {name: "\n".join(map(json.dumps, lines)) for name, lines in files.items()})


def load_world(database: Database, folder: Path, world: dict[str, Any]) -> str:
    """The name of a corpus and of a benchmark over it, with the world's judgments."""
    name = f"world{next(_NUMBERS)}"
    load(database, LoadRequest("beir", write_world(folder / name, world), corpus=name))
    with database.begin() as session:
        for (query, source_id), grade in world["judged"].items():
            session.execute(
                "INSERT INTO judgments SELECT papers.corpus_id, :query, paper_id, 'published', 'test', "
                ":grade, "
                "batch_id FROM papers INNER JOIN corpora ON papers.corpus_id = corpora.corpus_id "
                "WHERE name = :name AND source_id = :source_id",
                {"query": query, "grade": grade, "name": name, "source_id": source_id},
            )
    write_benchmark(folder / "benchmarks", name, corpus=name)
    return name


def dump(database: Database, corpus: str) -> list[list[tuple[Any, ...]]]:
    """The papers, queries and judgments of a corpus."""
    of_corpus = "INNER JOIN corpora USING (corpus_id) WHERE corpora.name = :corpus"
    queries = (
        f"SELECT source_id, papers.title, abstract, year FROM papers {of_corpus} ORDER BY source_id",
        f"SELECT query_id, text FROM benchmark_queries {of_corpus} ORDER BY query_id",
        "SELECT query_id, source_id, assessor, split, grade FROM judged_papers WHERE corpus = :corpus "
        "ORDER BY query_id, source_id, assessor, split",
    )
    with database.read() as session:
        return [[tuple(row.values()) for row in session.rows(query, {"corpus": corpus})] for query in queries]


def is_word(one: str) -> bool:
    return one.split() == [one]


def try_to(write: Callable[[], object]) -> str | None:
    """What is said where an id cannot stand in a format."""
    try:
        write()
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("worlds", [2, long(3)])
def test_runs_qrels_and_corpora_come_back_as_they_went_out(database: Database, worlds: int) -> None:
    @settings(max_examples=worlds)
    @given(world=draw_worlds())
    def check(world: dict[str, Any]) -> None:
        with TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
            folder = Path(made)
            patch.setenv("PINAKES_BENCHMARKS", str(folder / "benchmarks"))
            name = load_world(database, folder, world)
            check_runs(database, folder, name, world)
            check_qrels(database, folder, name, world)
            check_corpus(database, folder, name, world)

    check()


def check_runs(database: Database, folder: Path, name: str, world: dict[str, Any]) -> None:
    ranked: dict[str, dict[str, float]] = {}
    for (query, source_id), score in world["ranked"].items():
        ranked.setdefault(query, {})[source_id] = score
    file = write_file(folder / "first.json", ranked)
    first = import_run(database, ImportRequest(name, "first", [file])).run_id
    for format_, suffix in SUFFIXES.items():
        path = folder / f"run{suffix}"
        told = try_to(lambda path=path: export_run(database, first, path))  # type: ignore[misc]
        queries, papers = ({pair[place] for pair in world["ranked"]} for place in (0, 1))
        holds = all(map(is_word, queries | papers)) and not any(one.startswith("#") for one in queries)
        assert (told is None) == (format_ != "trec" or holds), told
        if told is None:
            back = import_run(database, ImportRequest(name, format_, [path])).run_id
            assert read_hits(database, back) == read_hits(database, first), format_


def check_qrels(database: Database, folder: Path, name: str, world: dict[str, Any]) -> None:
    ids = {one for pair in world["judged"] for one in pair}
    queries = {query for query, _ in world["judged"]}
    holds = all(map(is_word, ids)) and not any(one.startswith("#") for one in queries)
    assert (try_to(lambda: export_qrels(database, name, folder / "q.qrels")) is None) == holds
    if holds:
        back = f"{name}_back"
        load(database, LoadRequest("beir", write_world(folder / back, world), corpus=back))
        load(database, LoadRequest("trec", folder / "q.qrels", corpus=back))
        assert dump(database, back) == dump(database, name)
    assert export_qrels(database, name, folder / "q.json") == len(world["judged"])
    read = json.loads((folder / "q.json").read_text(encoding="utf-8"))
    assert {(q, d): grade for q, row in read.items() for d, grade in row.items()} == world["judged"]


def check_corpus(database: Database, folder: Path, name: str, world: dict[str, Any]) -> None:
    ids = {one for pair in world["judged"] for one in pair}
    holds = all(is_word(one) and not one.startswith(('"', "#")) for one in ids)
    collection = find_collection(database, None, name)
    told = try_to(lambda: export_beir(database, collection, folder / "beir"))
    assert (told is None) == holds, told
    assert (folder / "beir").exists() == holds
    if holds:
        load(database, LoadRequest("beir", folder / "beir", corpus=f"{name}_again"))
        assert dump(database, f"{name}_again") == dump(database, name)


def test_every_format_is_tried() -> None:
    assert {*SUFFIXES, "csfcube", "mdcr"} == set(RUN_FORMATS)
    assert set(QRELS_FORMATS) == {"trec", "beir", "ranx"}


def test_csfcubes_own_files_and_tables_keep_the_order_of_equal_distances(
    prepared: Database, tmp_path: Path
) -> None:
    files = [write_pools(tmp_path, facet) for facet in POOLS]
    first = import_run(prepared, ImportRequest("csfcube", "theirs", files)).run_id
    assert export_run(prepared, first, tmp_path / "out", "csfcube") == 18
    out = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in out] == sorted(path.name for path in files)
    assert [json.loads(path.read_text()) for path in out] == [
        json.loads((tmp_path / path.name).read_text()) for path in out
    ]
    export_run(prepared, first, tmp_path / "run.parquet")
    for name, back in (("folder", out), ("table", [tmp_path / "run.parquet"])):
        again = import_run(prepared, ImportRequest("csfcube", name, back)).run_id
        assert read_hits(prepared, again) == read_hits(prepared, first)


def test_mdcrs_scores_come_back_and_keys_that_could_be_cut_twice_are_refused(
    prepared: Database, tmp_path: Path
) -> None:
    path = write_file(
        tmp_path / "run", "1_background Q0 3 1 2 t\n1_background Q0 4 1 2 t\n2_method Q0 5 1 1 t\n"
    )
    first = import_run(prepared, ImportRequest("csfcube", "theirs", [path])).run_id
    assert export_run(prepared, first, tmp_path / "scores.json", "mdcr") == 3
    back = import_run(prepared, ImportRequest("csfcube", "back", [tmp_path / "scores.json"])).run_id
    assert read_hits(prepared, back) == read_hits(prepared, first)
    change(prepared, "UPDATE benchmark_queries SET query_id = '1' WHERE query_id = '2_method'")
    with pytest.raises(
        InputError, match=r"'1_background_4' cannot stand in MDCR's files: .* more than one query"
    ):
        export_run(prepared, first, tmp_path / "scores.json", "mdcr")


def test_compressed_and_columnar_names_say_what_is_written(prepared: Database, tmp_path: Path) -> None:
    path = write_file(tmp_path / "run", "q1 Q0 p1 1 2 t\n")
    run_id = import_run(prepared, ImportRequest("scifact", "theirs", [path])).run_id
    for name, begin in (
        (".gz", b"\x1f\x8b"),
        (".parquet", b"PAR1"),
        (".zst", b"\x28\xb5\x2f\xfd"),
        (".txt", b"q1 Q0"),
    ):
        export_run(prepared, run_id, tmp_path / f"out{name}")
        assert (tmp_path / f"out{name}").read_bytes().startswith(begin)
    with pytest.raises(InputError, match="--provenance is of the format trec; csv has no comments"):
        export_run(prepared, run_id, tmp_path / "out.csv", with_provenance=True)
