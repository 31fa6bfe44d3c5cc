"""Rankings of others: what of their files is taken, in which order, and what is refused."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import InputError, RunError, UnknownNameError
from pinakes.run.import_run import ImportRequest, import_run
from tests.benching import POOLS, count, read_hits

pytestmark = pytest.mark.in_turn

GOOD = "q1 Q0 p1 9 0.5 tag\n# a comment\n\nq1 Q0 p2 1 0.50000001 tag\r\nq1\tQ0  p10 3 2e0 tag\n"


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def take(database: Database, files: Iterable[Path], **given: str) -> int:
    benchmark = given.pop("benchmark", "scifact")
    return import_run(database, ImportRequest(benchmark, "theirs", list(files), **given)).run_id


@pytest.mark.parametrize("compressed", [False, True])
def test_a_trec_run_is_ordered_as_trec_eval_orders_it(
    prepared: Database, tmp_path: Path, compressed: bool
) -> None:
    path = write(tmp_path / "run.txt", GOOD)
    if compressed:
        path = write(tmp_path / "run.txt.gz", gzip.compress(GOOD.encode()))
    run_id = take(prepared, [path])
    assert read_hits(prepared, run_id) == [
        ("q1", "p10", 1, 2.0),
        ("q1", "p2", 2, 0.50000001),  # as a 32-bit float it ties with p1, and "p2" is above "p1"
        ("q1", "p1", 3, 0.5),
    ]


def test_hits_are_written_in_the_order_of_their_key_where_an_index_keeps_it(
    prepared: Database, tmp_path: Path
) -> None:
    lines = "q1 Q0 p2 1 3 t\nq1 Q0 p10 2 2 t\nq1 Q0 p1 3 1 t\n"
    run_id = take(prepared, [write(tmp_path / "run", lines)])
    place = "ctid" if prepared.name == "postgresql" else "rowid"
    with prepared.read() as session:
        rows = session.rows(
            f"SELECT query_id, paper_id, rank FROM hits WHERE run_id = {run_id} ORDER BY {place}"
        )
    by_key, by_rank = (
        sorted(rows, key=lambda row: (row["query_id"], row[name])) for name in ("paper_id", "rank")
    )
    assert by_key != by_rank
    assert rows == (by_key if prepared.name == "postgresql" else by_rank)


def test_scores_beyond_32_bits_are_kept_and_tie(prepared: Database, tmp_path: Path) -> None:
    run_id = take(prepared, [write(tmp_path / "run", "q1 Q0 p1 1 1e300 t\nq1 Q0 p2 2 1e299 t\n")])
    assert read_hits(prepared, run_id) == [("q1", "p2", 1, 1e299), ("q1", "p1", 2, 1e300)]


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "five columns": (
        "q1 Q0 p2 1 1 t\nq1 Q0 p1 1 0.5\n",
        r"run\.txt, line 2: 'q1 Q0 p1 1 0\.5' is no row of a TREC run",
    ),
    "no number": (
        "q1 Q0 p1 1 0.5 t\nq1 Q0 p2 2 high t\n",
        "line 2: the score 'high' is no number; expected `query Q0",
    ),
    "NaN": ("q1 Q0 p1 1 nan t\n", "line 1: the score nan is not a finite number"),
    "infinite": ("q1 Q0 p1 1 -inf t\n", "line 1: the score -inf is not a finite number"),
    "twice": ("q1 Q0 p1 1 1 t\nq1 Q0 p1 2 0 t\n", "query q1 ranks p1 twice"),
    "unknown query": ("q9 Q0 p1 1 1 t\n", "1 queries of the files are no queries of scifact, as 'q9'"),
    "unknown paper": (
        "q1 Q0 p99 1 1 t\n",
        "1 papers of the files are no candidates of scifact, as 'p99'; noth",
    ),
    "no UTF-8": (b"q1 Q0 \xff 1 1 t\n", r"run\.txt, line 1: .* is not UTF-8"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_a_trec_run_that_is_not_one_is_refused_and_nothing_is_stored(
    untouched: Database, tmp_path: Path, case: str
) -> None:
    content, message = REFUSED[case]
    with pytest.raises((InputError, RunError), match=message):
        take(untouched, [write(tmp_path / "run.txt", content)])
    assert (count(untouched, "runs"), count(untouched, "hits")) == (0, 0)


def test_a_file_that_cannot_be_read_is_refused(untouched: Database, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        take(untouched, [tmp_path / "none"])
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        take(untouched, [tmp_path])
    whole = gzip.compress(GOOD.encode())
    for content in (whole[:-12], b"plain"):
        with pytest.raises(InputError, match=r"run\.gz is damaged or cut short"):
            take(untouched, [write(tmp_path / "run.gz", content)])
    with pytest.raises(InputError, match="there is no file to import"):
        take(untouched, [])
    with pytest.raises(UnknownNameError, match="format of rankings 'json'; known: csfcube, csv, mdcr"):
        take(untouched, [tmp_path], format="json")
    with pytest.raises(InputError, match="unknown='skip': expected reject or create"):
        take(untouched, [tmp_path], unknown="skip")


def test_imported_again_the_same_files_change_nothing(prepared: Database, tmp_path: Path) -> None:
    one = write(tmp_path / "one", "q1 Q0 p1 1 1 t\n")
    two = write(tmp_path / "two", "q1 Q0 p2 1 2 t\n")
    first = import_run(prepared, ImportRequest("scifact", "theirs", [one, two]))
    again = import_run(prepared, ImportRequest("scifact", "theirs", [two, one]))
    assert (first.existing, again.existing, again.run_id) == (False, True, first.run_id)
    renamed = import_run(prepared, ImportRequest("scifact", "other", [one, two]))
    assert renamed.run_id == first.run_id + 1
    write(two, "q1 Q0 p2 1 3 t\n")
    assert import_run(prepared, ImportRequest("scifact", "theirs", [one, two])).run_id == first.run_id + 2


def test_two_files_that_rank_one_pair_are_refused(untouched: Database, tmp_path: Path) -> None:
    files = [write(tmp_path / name, "q1 Q0 p1 1 1 t\n") for name in ("a", "b")]
    with pytest.raises(RunError, match="two of the files rank the same paper for the same query"):
        take(untouched, files)


def test_unknown_papers_are_created_once_without_a_text(prepared: Database, tmp_path: Path) -> None:
    path = write(tmp_path / "run", "q1 Q0 p1 1 1 t\nq1 Q0 new2 2 0 t\nq1 Q0 new1 3 0 t\n")
    before = count(prepared, "papers")
    run_id = take(prepared, [path], unknown="create")
    assert take(prepared, [path], unknown="create") == run_id
    assert [source_id for _, source_id, *_ in read_hits(prepared, run_id)] == ["p1", "new2", "new1"]
    assert count(prepared, "papers") == before + 2
    assert count(prepared, "papers WHERE source_id LIKE 'new%' AND title IS NULL AND abstract IS NULL") == 2
    with prepared.read() as session:
        batches = session.rows(
            "SELECT file, rows_in, rows_loaded FROM load_batches WHERE loader = 'import-run'"
        )
    assert batches == [{"file": "run", "rows_in": 2, "rows_loaded": 2}]


def write_pools(folder: Path, facet: str, changed: Mapping[str, object] | None = None) -> Path:
    """The sample form: `{query: [[candidate, distance], …]}`, best first, without the query itself."""
    pools = POOLS[facet]
    ranked: dict[str, object] = {
        query: [[candidate, 0.5] for candidate in pool if candidate != query] for query, pool in pools.items()
    }
    name = f"test-pid2pool-csfcube-theirs-{facet}-ranked.json"
    return write(folder / name, json.dumps(ranked | dict(changed or {})))


def test_ranked_pools_keep_the_files_order_of_equal_distances(prepared: Database, tmp_path: Path) -> None:
    files = [write_pools(tmp_path, facet) for facet in POOLS]
    run_id = take(prepared, files, benchmark="csfcube", format="csfcube")
    hits = read_hits(prepared, run_id)
    assert len(hits) == 18
    assert [hit[1:] for hit in hits if hit[0] == "1_background"] == [
        ("3", 1, -0.5),
        ("4", 2, -0.5),
        ("5", 3, -0.5),
        ("6", 4, -0.5),
        ("8", 5, -0.5),
    ]


POOLS_REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "not ascending": ({"1": [["3", 0.2], ["4", 0.1]]}, "the distances of 1 do not ascend"),
    "outside the pool": ({"1": [["3", 0.1], ["9", 0.2]]}, "'9' is not in the pool of query 1_background"),
    "self": ({"1": [["1", 0.0], ["3", 0.2]]}, "'1' is not in the pool of query 1_background"),
    "unknown": ({"1": [["77", 0.1]]}, "'77' is not in the pool of query 1_background"),
    "twice": ({"1": [["3", 0.1], ["3", 0.2]]}, "query 1_background ranks 3 twice"),
    "no pairs": ({"1": ["3", "4"]}, r"the ranking of 1 is not a list of \[candidate, distance\] pairs"),
    "no list": ({"1": 5}, r"the ranking of 1 is not a list of \[candidate, distance\] pairs"),
    "no query": ({"7": [["3", 0.1]]}, "7_background is no query of the benchmark"),
}


@pytest.mark.parametrize("case", list(POOLS_REFUSED))
@pytest.mark.parametrize("unknown", ["reject", "create"])
def test_ranked_pools_that_do_not_fit_are_refused_and_nothing_is_stored(
    untouched: Database, tmp_path: Path, case: str, unknown: str
) -> None:
    changed, message = POOLS_REFUSED[case]
    path = write_pools(tmp_path, "background", changed)
    papers = count(untouched, "papers")
    with pytest.raises((InputError, RunError), match=message):
        take(untouched, [path], benchmark="csfcube", format="csfcube", unknown=unknown)
    assert (count(untouched, "runs"), count(untouched, "papers")) == (0, papers)


def test_a_facet_that_the_files_name_lacks_is_given(prepared: Database, tmp_path: Path) -> None:
    path = write_pools(tmp_path, "method").rename(tmp_path / "mine.json")
    with pytest.raises(
        InputError, match=r"1_mine\.json is no query of the benchmark; name the facet with --fac"
    ):
        take(prepared, [path], benchmark="csfcube", format="csfcube")
    run_id = take(prepared, [path], benchmark="csfcube", format="csfcube", facet="method")
    assert {query for query, *_ in read_hits(prepared, run_id)} == {"1_method", "2_method"}


def test_mdcr_scores_are_cut_where_a_query_ends(prepared: Database, tmp_path: Path) -> None:
    scores = {"1_background_3": 0.5, "1_background_4": 0.5, "2_method_5": 1, "1_background_6": 2}
    path = write(tmp_path / "scores.json", json.dumps(scores))
    run_id = take(prepared, [path], benchmark="csfcube", format="mdcr")
    assert read_hits(prepared, run_id) == [
        ("1_background", "6", 1, 2.0),
        ("1_background", "4", 2, 0.5),
        ("1_background", "3", 3, 0.5),
        ("2_method", "5", 1, 1.0),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"9_background_3": 1}', "'9_background_3': the key begins with no query of the benchmark"),
        ('{"1_background_3": "high"}', "'1_background_3': 'high' is no number"),
        ("[1]", "holds a JSON list; expected an object"),
        ("{", "scores.json is not JSON"),
    ],
)
def test_mdcr_scores_that_do_not_fit_are_refused(
    untouched: Database, tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        take(untouched, [write(tmp_path / "scores.json", content)], benchmark="csfcube", format="mdcr")
