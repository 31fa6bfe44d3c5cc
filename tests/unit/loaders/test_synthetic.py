"""The synthetic loader's records against literals, its digest, its options, and where a load may start."""

import hashlib
import json
import tracemalloc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pinakes.errors import InputError
from pinakes.loaders import staging
from pinakes.loaders.staging import CHUNK_ROWS, STAGED, Chunk
from pinakes.loaders.synthetic import LOADER
from pinakes.loaders.synthetic.citations import build_citations, count_citations
from pinakes.loaders.synthetic.papers import build_papers
from pinakes.loaders.synthetic.world import World

THOUSAND = {"papers": "1000", "seed": "1"}


def read_file(role: str, options: Mapping[str, str], first_row: int = 1) -> Iterator[Chunk]:
    (file,) = [file for file in LOADER.find_files(None, options) if file.role == role]
    return LOADER.read_chunks(file, options, first_row)


def read_rows(role: str, options: Mapping[str, str], first_row: int = 1) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for chunk in read_file(role, options, first_row):
        for name, table in chunk.tables.items():
            table.validate(full=True)
            assert table.schema.equals(STAGED[name])
            rows.setdefault(name, []).extend(table.to_pylist())
    return rows


COUNTS = {"papers": 1000, "fields": 1243, "authorships": 3180, "sentences": 6006}
FIRST = {
    "row_number": 1,
    "source_id": "syn-00000001",
    "title": "Towards general practice on oceanic crust in coal fields",
    "abstract": (
        "Little is known about the cooling history of seafloor basalt in carboniferous measures "
        "because of mistakes by people. With thin section petrography we investigated 12 "
        "documents of oceanic crust. Microscope mineral study let us compare seafloor basalt with"
        " zircon grains. The assessment observed higher variance in 15 percent of the documents. "
        "In 36 of 86 records, Mianton discovered higher variance."
    ),
    "year": 1970,
    "venue": "Proceedings of the Geology Society",
    "citation_count": 43,
}
TENTH = {
    "row_number": 10,
    "source_id": "syn-00000010",
    "title": "A targeted account of use of colour in leaded windows",
    "abstract": (
        "Conflicting definitions and use of colour have complicated the discussion about postwar "
        "capitals. Many scholars mainly studied stained glass, but conflicting definitions shaped"
        " their assessment. Earlier authors treated Sukwen and leaded windows under inconsistent "
        "terms. We propose RIMBARD, a form of search of records for leaded windows in cities "
        "rebuilt after war. We used search of records on 150 sources from postwar capitals. "
        "Contrary to modest practice, we saw a trade-off in use of colour. Use of colour showed a"
        " trade-off after bodily attitude had been taken into account. The familiar implications "
        "for postwar capitals are discussed beyond this case."
    ),
    "year": 1973,
    "venue": "Annals of Art",
    "citation_count": 21,
}
LAST = {
    "row_number": 1000,
    "source_id": "syn-00001000",
    "title": "Soil erosion and toxicity: first-hand practice from glacial lakes",
    "abstract": (
        "Glacial lakes can offer a recent test of scholarship on toxicity despite small samples. "
        "In glacial lakes, small samples complicated what is known about poisonous effect. We "
        "propose LURJIN, a form of satellite observation for soil erosion in meltwater ponds. We "
        "used remote sensing on 18 observations from meltwater ponds. Contrary to general "
        "interpretation, we saw a sudden collapse in toxicity. Toxicity showed an abrupt "
        "breakdown after biodiversity loss had been taken into account. For glacial lakes, the "
        "measurements demonstrated a sudden collapse. Considerable argument will need practical "
        "documents beyond this case."
    ),
    "year": 2024,
    "venue": "Proceedings of the Environmental Science Society",
    "citation_count": 0,
}
N_CITATIONS = 9338
CITATIONS = [
    (
        1,
        "syn-00000065",
        "syn-00000040",
        "b1",
        "As reported in [1], cold regions supported the leakage of heat exchangers.",
        15,
        18,
        None,
        None,
    ),
    (
        10,
        "syn-00000066",
        "syn-00000051",
        "b6",
        "We refer to [6] for targeted investigation on absorption of minerals in intertidal mud.",
        12,
        15,
        None,
        None,
    ),
    (
        9338,
        "syn-00001000",
        "syn-00000783",
        "b10",
        "We take the toxicity of soil erosion [10] as a targeted case.",
        37,
        41,
        None,
        None,
    ),
]
N_QUERIES = (50, 1247)
QUERIES = [
    (
        "qry-00000001",
        "use of cue exposure in users of two languages to understand Gospell",
        "method",
        "Psychology",
        "dev",
    ),
    (
        "qry-00000010",
        "grain markets in the Low Countries before 1500 studied by handwriting chronology, family ties, "
        "border fortresses",
        "method",
        "History",
        "test",
    ),
    (
        "qry-00000050",
        "smoothness and nonrandom inclusion in large crystal groups with automorphic functions or prime gaps",
        "background",
        "Mathematics",
        "test",
    ),
]
JUDGMENTS = [
    (1, "qry-00000001", "syn-00000085", "synthetic", "dev", 2),
    (10, "qry-00000001", "syn-00000036", "synthetic", "dev", 0),
    (1247, "qry-00000050", "syn-00000541", "synthetic", "test", 0),
]


def test_a_thousand_papers_have_the_known_first_tenth_and_last_record() -> None:
    rows = read_rows("papers", THOUSAND)
    assert {name: len(members) for name, members in rows.items()} == COUNTS
    assert rows["papers"][0] == FIRST
    assert rows["papers"][9] == TENTH
    assert rows["papers"][-1] == LAST


def test_citations_have_the_known_first_tenth_and_last_record() -> None:
    (rows,) = read_rows("citations", THOUSAND).values()
    assert len(rows) == N_CITATIONS
    assert [tuple(rows[place].values()) for place in (0, 9, -1)] == CITATIONS


def test_queries_and_judgments_have_the_known_first_tenth_and_last_record() -> None:
    (queries,) = read_rows("queries", THOUSAND).values()
    (judgments,) = read_rows("judgments", THOUSAND).values()
    assert (len(queries), len(judgments)) == N_QUERIES
    requested = ("query_id", "text", "facet", "field", "fold")
    assert [tuple(queries[place][name] for name in requested) for place in (0, 9, -1)] == QUERIES
    assert queries[0]["narrative"] == (
        "Grade 2: creative thinking in bilingual speakers with regard to empathy, and of that "
        "priming tasks. Grade 1: the same topic without that. Grade 0: other topics of "
        "Psychology."
    )
    assert [tuple(judgments[place].values()) for place in (0, 9, -1)] == JUDGMENTS


def test_the_same_options_give_the_same_bytes_everywhere() -> None:
    options = {"papers": "300", "seed": "7"}
    digest = hashlib.sha256()
    for role in ("papers", "citations", "queries", "judgments"):
        for name, rows in read_rows(role, options).items():
            for row in rows:
                digest.update(f"{name}\t{json.dumps(list(row.values()))}\n".encode())
    assert digest.hexdigest() == "930a3825369b6a2cb955a282b61c5b22f1c90b91676b0a45e7f48a3be273e4d1"


def test_another_seed_gives_another_world() -> None:
    other = read_rows("papers", {"papers": "1000", "seed": "2"})["papers"]
    ours = read_rows("papers", THOUSAND)["papers"]
    assert sum(one["title"] == two["title"] for one, two in zip(ours, other, strict=True)) < 10


def read_tables(role: str, options: Mapping[str, str], first_row: int = 1) -> dict[str, pa.Table]:
    tables: dict[str, list[pa.Table]] = {}
    for chunk in read_file(role, options, first_row):
        for name, table in chunk.tables.items():
            tables.setdefault(name, []).append(table)
    return {name: pa.concat_tables(members) for name, members in tables.items()}


@pytest.mark.parametrize(
    ("role", "first_row"),
    [
        ("papers", 20_000),
        ("papers", 20_001),
        ("citations", 19_999),
        ("citations", 20_008),
        ("queries", 7),
        ("judgments", 321),
    ],
)
def test_rows_do_not_depend_on_where_a_load_starts(role: str, first_row: int) -> None:
    options = {"papers": "20100", "seed": "3", "queries": "60"}
    rest = read_tables(role, options, first_row)
    for name, whole in read_tables(role, options).items():
        expected = whole.filter(pc.greater_equal(whole["row_number"], first_row))
        assert 0 < expected.num_rows < whole.num_rows
        assert rest[name].equals(expected)


def test_rows_do_not_depend_on_the_size_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 20_000)
    options = {"papers": "2600", "seed": "3"}
    whole = read_tables("citations", options)["citations"]
    assert whole.num_rows > 20_000
    monkeypatch.setattr(staging, "CHUNK_ROWS", 7_001)
    assert read_tables("citations", options)["citations"].combine_chunks().equals(whole.combine_chunks())


def test_chunks_end_at_the_same_rows_wherever_a_load_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 20_000)
    options = {"papers": "4500"}
    whole = [(chunk.last_row, chunk.rows_in) for chunk in read_file("citations", options)]
    resumed = [(chunk.last_row, chunk.rows_in) for chunk in read_file("citations", options, 20_500)]
    assert [row for row, _ in whole] == [20_000, 40_000, 44374]
    assert resumed == [(40_000, 19_501), whole[-1]]


@pytest.mark.parametrize("role", ["papers", "citations", "queries", "judgments"])
def test_rows_in_count_the_records_of_the_role(role: str) -> None:
    chunks = list(read_file(role, {"papers": "2100"}))
    numbers = [number for chunk in chunks for number in chunk.tables[role]["row_number"].to_pylist()]
    assert numbers == list(range(1, sum(chunk.rows_in for chunk in chunks) + 1))
    assert max(chunk.rows_in for chunk in chunks) <= CHUNK_ROWS


def test_a_load_that_starts_behind_the_last_row_reads_nothing() -> None:
    assert list(read_file("papers", THOUSAND, 1001)) == []


def test_files_come_in_the_order_of_what_they_need() -> None:
    files = LOADER.find_files(None, THOUSAND)
    assert [file.name for file in files] == [
        "synthetic:papers=1000:seed=1:papers",
        "synthetic:papers=1000:seed=1:citations",
        "synthetic:papers=1000:seed=1:queries",
        "synthetic:papers=1000:seed=1:judgments",
    ]
    assert {file.path for file in files} == {None}


def test_more_queries_change_the_digests_of_queries_and_judgments_alone() -> None:
    before = LOADER.find_files(None, THOUSAND)
    after = LOADER.find_files(None, {**THOUSAND, "queries": "51"})
    changed = [one.role for one, two in zip(before, after, strict=True) if one.digest != two.digest]
    assert changed == ["queries", "judgments"]
    assert before[0].digest == hashlib.sha256(b"generator 1:synthetic:papers=1000:seed=1:papers").hexdigest()


def test_the_corpus_says_how_to_make_it_again() -> None:
    described = LOADER.describe_corpus(None, {"papers": "500"})
    assert (described.name, described.version, described.licence) == ("synthetic", "1", "CC0-1.0")
    assert described.source == "pinakes load synthetic --papers 500 --seed 1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"papers": "many"}, "option papers='many' of the synthetic loader is not a whole number from 20 to"),
        ({"papers": "19"}, "option papers='19' of"),
        ({"seed": "-1"}, "option seed='-1' of"),
        ({"papers": "100", "queries": "145"}, "option queries='145' of .* from 1 to 144; give for example"),
    ],
)
def test_an_option_that_makes_no_world_is_an_error_that_says_the_range(
    options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        LOADER.find_files(None, options)


def test_a_source_is_an_error() -> None:
    with pytest.raises(InputError, match="reads no file"):
        LOADER.find_files(Path("papers.jsonl"), {})


def _peak_of_chunk(first: int) -> int:
    world = World(2_100_000, 1)
    papers = np.arange(first, first + 2000)
    tracemalloc.start()
    build_papers(world, papers, np.zeros(len(papers), dtype=np.int32))
    build_citations(world, first * 9, first * 9 + 2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_chunk_far_into_a_large_world_takes_no_more_memory_than_the_first() -> None:
    _peak_of_chunk(0)
    assert _peak_of_chunk(2_000_000) < 1.2 * _peak_of_chunk(0) < 50_000_000


def test_the_number_of_mentions_is_known_without_making_them() -> None:
    assert count_citations(World(2_000_000, 1)) == (2_000_000 // 64 - 1) * 640
    assert count_citations(World(63, 1)) == 0
