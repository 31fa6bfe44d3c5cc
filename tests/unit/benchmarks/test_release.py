"""A release that the synthetic world is written into says what the world says, in the published layout."""

import doctest
import gzip
import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from pinakes.loaders.synthetic import LOADER
from pinakes.loaders.synthetic.world import World
from tests.releases import import_benchmark, write_release

release_module = import_benchmark("_release")

PAPERS = 700
WORLD = World(PAPERS, 3)

Records = list[dict[str, Any]]


def read(paths: list[Path]) -> Records:
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]


def world_rows(role: str) -> dict[str, Records]:
    options = {"papers": str(PAPERS), "seed": "3"}
    (file,) = [file for file in LOADER.find_files(None, options) if file.role == role]
    return {
        name: rows.to_pylist()
        for chunk in LOADER.read_chunks(file, options, 1)
        for name, rows in chunk.tables.items()
    }


def group(rows: Records, key: str) -> dict[Any, Records]:
    groups = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return groups


def number_of(source_id: str) -> int:
    return int(source_id.removeprefix("syn-"))


@pytest.fixture(scope="module")
def mentions() -> Records:
    """The world's mentions, both ends as numbers."""
    rows = world_rows("citations")["citations"]
    return [
        {**row, "citing": number_of(row["citing_source_id"]), "cited": number_of(row["reference_key"])}
        for row in rows
    ]


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """The records of a release in the layout 2020."""
    folder = tmp_path_factory.mktemp("release") / "2020"
    return read(write_release(folder, WORLD, shards=3, compress=False))


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Records]:
    """Dataset -> its records, of a release in the layout s2ag."""
    folder = tmp_path_factory.mktemp("release") / "s2ag"
    paths = write_release(folder, WORLD, layout="s2ag", shards=3, compress=False)
    return {
        name: read([path for path in paths if path.parent.name == name])
        for name in ("papers", "abstracts", "citations")
    }


def test_a_record_of_2020_has_the_published_keys_and_known_values(metadata: Records) -> None:
    assert json.dumps(metadata[99]) == (
        '{"paper_id": "100", "title": "Differing resolution in comparative practice on carbene '
        'insertion", "authors": [{"first": "Henrik", "middle": ["A."], "last": "Maszeth", '
        '"suffix": ""}, {"first": "Ruben", "middle": ["R."], "last": "Veklund", "suffix": ""}, '
        '{"first": "Otto", "middle": ["H."], "last": "Noukhus", "suffix": ""}], "abstract": '
        '"Former contributions typically analysed carbene insertion, but differing resolution '
        "constrained their understanding. X-ray diffraction let us compare carbene insertion with "
        "palladium catalysts. The debate confirmed an early peak in 64 percent of the sources. "
        'Over time, such evidence should be analysed in related areas.", "year": 1995, "arxiv_id": '
        'null, "acl_id": null, "pmc_id": null, "pubmed_id": null, "doi": "10.5555/synthetic.100", '
        '"venue": "Journal of Chemistry", "journal": null, "mag_id": "2000000100", '
        '"mag_field_of_study": ["Chemistry"], "outbound_citations": ["4", "12", "22", "34", "38", '
        '"40", "50", "54", "55", "60", "67", "73", "86", "97"], "inbound_citations": ["104", '
        '"121", "138", "170", "255", "387", "405", "447", "570"], "has_outbound_citations": true, '
        '"has_inbound_citations": true, "has_pdf_parse": false, "s2_url": '
        '"https://api.semanticscholar.org/CorpusID:100"}'
    )


def test_metadata_of_2020_says_what_the_world_says(metadata: Records, mentions: Records) -> None:
    rows = world_rows("papers")
    fields, authors = group(rows["fields"], "source_id"), group(rows["authorships"], "source_id")
    outbound = {(row["citing"], row["cited"]) for row in mentions}
    assert len(metadata) == PAPERS
    for number, (record, paper) in enumerate(zip(metadata, rows["papers"], strict=True), start=1):
        assert record["paper_id"] == str(number) == str(number_of(paper["source_id"]))
        assert {name: record[name] for name in ("title", "abstract", "year", "venue")} == {
            name: paper[name] for name in ("title", "abstract", "year", "venue")
        }
        assert record["mag_field_of_study"] == [row["field"] for row in fields[paper["source_id"]]]
        assert [f"{each['first']} {each['middle'][0]} {each['last']}" for each in record["authors"]] == [
            row["author_name"] for row in authors[paper["source_id"]]
        ]
        assert len(record["inbound_citations"]) == paper["citation_count"]
        assert record["has_outbound_citations"] == bool(record["outbound_citations"])
        assert record["has_inbound_citations"] == bool(record["inbound_citations"])
    assert outbound == {
        (int(r["paper_id"]), int(other)) for r in metadata for other in r["outbound_citations"]
    }
    assert outbound == {
        (int(other), int(r["paper_id"])) for r in metadata for other in r["inbound_citations"]
    }
    assert len(outbound) == sum(len(record["outbound_citations"]) for record in metadata)


def test_no_identifier_is_of_two_papers(metadata: Records) -> None:
    counts: dict[str, int] = {}
    for name in ("doi", "mag_id", "pubmed_id", "s2_url"):
        values = [record[name] for record in metadata if record[name] is not None]
        assert len(set(values)) == len(values)
        counts[name] = len(values)
    assert counts == {"doi": 467, "mag_id": 700, "pubmed_id": 73, "s2_url": 700}


def test_records_of_s2ag_have_the_published_keys_and_known_values(datasets: dict[str, Records]) -> None:
    assert json.dumps(datasets["papers"][99]) == (
        '{"corpusid": 100, "externalids": {"ACL": null, "DBLP": null, "ArXiv": null, "MAG": '
        '"2000000100", "CorpusId": "100", "PubMed": null, "DOI": "10.5555/synthetic.100", '
        '"PubMedCentral": null}, "url": "https://www.semanticscholar.org/p/100", "title": '
        '"Differing resolution in comparative practice on carbene insertion", "authors": '
        '[{"authorId": "158", "name": "Henrik A. Maszeth"}, {"authorId": "140", "name": "Ruben R. '
        'Veklund"}, {"authorId": "163", "name": "Otto H. Noukhus"}], "venue": "Journal of '
        'Chemistry", "publicationvenueid": null, "year": 1995, "referencecount": 14, '
        '"citationcount": 9, "influentialcitationcount": 1, "isopenaccess": false, '
        '"s2fieldsofstudy": [{"category": "Chemistry", "source": "s2-fos-model"}], '
        '"publicationtypes": null, "publicationdate": null, "journal": null}'
    )
    assert json.dumps({**datasets["abstracts"][99], "abstract": "..."}) == (
        '{"corpusid": 100, "openaccessinfo": {"externalids": {"ACL": null, "DBLP": null, "ArXiv": '
        'null, "MAG": "2000000100", "CorpusId": "100", "PubMed": null, "DOI": '
        '"10.5555/synthetic.100", "PubMedCentral": null}, "license": null, "url": null, "status": '
        'null}, "abstract": "..."}'
    )
    assert json.dumps(datasets["citations"][0]) == (
        '{"citationid": 1, "citingcorpusid": 65, "citedcorpusid": 8, "isinfluential": false, '
        '"contexts": ["Earlier authors discussed variation between persons of occupational '
        'exhaustion in nurses and doctors [1]."], "intents": [["background"]]}'
    )


def test_papers_and_abstracts_of_s2ag_say_what_the_world_says(
    datasets: dict[str, Records], mentions: Records
) -> None:
    rows = world_rows("papers")
    fields, authors = group(rows["fields"], "source_id"), group(rows["authorships"], "source_id")
    pairs = Counter((row["citing"], row["cited"]) for row in mentions)
    references = Counter(citing for citing, _ in pairs)
    influential = Counter(cited for (_, cited), count in pairs.items() if count > 1)
    assert len(influential) > 50
    for number, (record, paper, text) in enumerate(
        zip(datasets["papers"], rows["papers"], datasets["abstracts"], strict=True), start=1
    ):
        assert record["corpusid"] == text["corpusid"] == number
        assert {name: record[name] for name in ("title", "year", "venue")} == {
            name: paper[name] for name in ("title", "year", "venue")
        }
        assert text["abstract"] == paper["abstract"]
        assert record["citationcount"] == paper["citation_count"]
        assert record["referencecount"] == references[number]
        assert record["influentialcitationcount"] == influential[number]
        assert [field["category"] for field in record["s2fieldsofstudy"]] == [
            row["field"] for row in fields[paper["source_id"]]
        ]
        assert [(f"aut-{int(each['authorId']):08}", each["name"]) for each in record["authors"]] == [
            (row["author_source_id"], row["author_name"]) for row in authors[paper["source_id"]]
        ]


def test_citations_of_s2ag_are_the_pairs_with_all_their_contexts(
    datasets: dict[str, Records], mentions: Records
) -> None:
    contexts = defaultdict(list)
    for row in mentions:
        contexts[row["citing"], row["cited"]].append(row["context"])
    found = {(row["citingcorpusid"], row["citedcorpusid"]): row for row in datasets["citations"]}
    assert (
        len(found) == len(datasets["citations"]) == len({row["citationid"] for row in datasets["citations"]})
    )
    assert {pair: row["contexts"] for pair, row in found.items()} == contexts
    assert all(row["isinfluential"] == (len(row["contexts"]) > 1) for row in found.values())
    assert all(len(row["intents"]) == len(row["contexts"]) for row in found.values())
    intents = {intent for row in found.values() for each in row["intents"] for intent in each or [None]}
    assert intents == {"background", "methodology", "result", None}


@pytest.mark.parametrize(("layout", "files"), [("2020", 1), ("s2ag", 3)])
def test_shards_partition_the_records_whatever_their_number(tmp_path: Path, layout: str, files: int) -> None:
    whole = write_release(tmp_path / "whole", WORLD, layout=layout, compress=False)
    parts = write_release(tmp_path / "parts", WORLD, layout=layout, shards=5, compress=False, jobs=2)
    assert (len(whole), len(parts)) == (files, 5 * files)
    for path in whole:
        shards = [part for part in parts if part.parent.name == path.parent.name]
        assert [shard.name for shard in shards] == [path.name.replace("0", str(n)) for n in range(5)]
        assert all(shard.stat().st_size for shard in shards)
        assert b"".join(shard.read_bytes() for shard in shards) == path.read_bytes()


def test_a_release_is_the_same_bytes_each_time_and_with_gzip(tmp_path: Path) -> None:
    first = write_release(tmp_path / "first", WORLD, shards=2)
    again = write_release(tmp_path / "again", WORLD, shards=2, jobs=2)
    plain = write_release(tmp_path / "plain", WORLD, shards=2, compress=False)
    assert [path.relative_to(tmp_path / "first").as_posix() for path in first] == [
        "metadata/metadata_0.jsonl.gz",
        "metadata/metadata_1.jsonl.gz",
    ]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert [gzip.decompress(path.read_bytes()) for path in first] == [path.read_bytes() for path in plain]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in plain)).hexdigest()
    assert digest == "e1e0629d9f2a683f2c38395d58c2ac86ad1948c1085e18951742fc2690f3016b"


def test_another_seed_gives_other_bytes(tmp_path: Path) -> None:
    ours = write_release(tmp_path / "ours", WORLD)
    other = write_release(tmp_path / "other", World(PAPERS, 4))
    assert ours[0].read_bytes() != other[0].read_bytes()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_world_of_any_size_is_written_whole(tmp_path: Path, seed: int) -> None:
    papers = random.Random(seed).randint(20, 200)
    (path,) = write_release(tmp_path / "2020", World(papers, seed), compress=False)
    assert [record["paper_id"] for record in read([path])] == [str(n) for n in range(1, papers + 1)]
    assert all(
        path.exists()
        for path in write_release(tmp_path / "s2ag", World(papers, seed), layout="s2ag", shards=20)
    )


def test_a_file_that_breaks_off_leaves_nothing_under_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*_arguments: object) -> Iterator[bytes]:
        yield b"{}\n"
        assert [path.name for path in (tmp_path / "2020" / "metadata").iterdir()] == [
            "metadata_0.jsonl.gz.part"
        ]
        raise KeyboardInterrupt

    monkeypatch.setattr(release_module, "write_metadata", break_off)
    with pytest.raises(KeyboardInterrupt):
        write_release(tmp_path / "2020", WORLD)
    assert list((tmp_path / "2020" / "metadata").iterdir()) == []


def test_a_folder_that_is_not_empty_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").touch()
    with pytest.raises(InputError, match="is there and not empty; give a new folder"):
        write_release(tmp_path, WORLD)
    assert [path.name for path in tmp_path.iterdir()] == ["old.jsonl"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "2021"}, "no layout '2021' of a release; known: 2020, s2ag"),
        ({"shards": 0}, "0 shards for 700 papers; expected 1 to 700"),
        ({"shards": 701}, "701 shards for 700 papers"),
    ],
)
def test_what_cannot_be_written_is_an_error_that_says_what_can(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        write_release(tmp_path / "new", WORLD, **options)


def test_columns_are_written_as_the_examples_show() -> None:
    assert doctest.testmod(import_benchmark("_json_columns")).failed == 0
