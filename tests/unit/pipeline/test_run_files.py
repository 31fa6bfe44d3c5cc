"""Ranking files read and written, without a database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.errors import InputError
from pinakes.run.files import FORMATS, FileHit, read_mdcr_scores, read_trec_run, write_lines
from tests.real_data import REAL_DATA, needs_real_data


def test_each_format_has_a_reader() -> None:
    assert sorted(FORMATS) == ["csfcube", "mdcr", "trec"]


def test_queries_of_a_trec_run_come_together_wherever_their_lines_stand(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("b Q0 x 1 1 t\na Q0 x 1 1 t\nb Q0 y 2 3 t\n")
    assert read_trec_run(path, [], None) == [
        FileHit("a", "x", 1, 1.0),
        FileHit("b", "y", 1, 3.0),
        FileHit("b", "x", 2, 1.0),
    ]


def test_an_empty_run_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("# nothing\n\n")
    assert read_trec_run(path, [], None) == []


def test_ids_with_underscores_are_cut_where_a_query_ends(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text('{"a_1_b_2": 0.5, "c_d": 1, "c_e_f": 2}')
    assert read_mdcr_scores(path, ["a_1", "c"], None) == [
        FileHit("a_1", "b_2", 1, 0.5),
        FileHit("c", "e_f", 1, 2.0),
        FileHit("c", "d", 2, 1.0),
    ]


@pytest.mark.parametrize(
    ("key", "query_ids", "message"),
    [
        ("a_b_c", ["a", "a_b"], "'a_b_c' begins with more than one query of the benchmark"),
        ("a_b_c", ["c"], "'a_b_c' begins with no query of the benchmark"),
        ("a", ["a"], "'a' begins with no query of the benchmark"),
    ],
)
def test_a_key_that_cannot_be_cut_in_one_way_is_refused(
    tmp_path: Path, key: str, query_ids: list[str], message: str
) -> None:
    path = tmp_path / "scores.json"
    path.write_text(f'{{"{key}": 1}}')
    with pytest.raises(InputError, match=message):
        read_mdcr_scores(path, query_ids, None)


def test_a_file_takes_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    assert write_lines(path, iter(["a", "b"])) == 2
    assert path.read_bytes() == b"a\nb\n"

    def break_off() -> Iterator[str]:
        yield "c"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines(path, break_off())
    assert path.read_bytes() == b"a\nb\n"
    assert list(tmp_path.iterdir()) == [path]


@needs_real_data
def test_trec_evals_own_run_is_read_whole() -> None:
    hits = read_trec_run(REAL_DATA / "trec" / "trec_eval" / "results.test", [], None)
    assert len(hits) == 1500
    assert [hit.rank for hit in hits[:3]] == [1, 2, 3]
    assert {hit.query_id for hit in hits} == {"301", "302", "303"}
