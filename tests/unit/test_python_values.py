"""What a load accepts does not depend on whether pandas is installed."""

import subprocess
import sys
from datetime import datetime, time, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.python_values import find_python_type, use_python_types

NS = pa.timestamp("ns")

SCRIPT = """
import sys
class NoPandas:  # None in sys.modules, pyarrow would take for pandas
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)

if sys.argv[1] == "without":
    sys.meta_path.insert(0, NoPandas())
from pathlib import Path
from tests.loading import stage_all

for kind, file in (("parquet", "times.parquet"), ("csv", "times.csv")):
    staged, rejected = stage_all(kind, Path(sys.argv[2]) / file)
    print(staged)
    print([(row.row_number, row.location, row.reason, row.message, row.raw) for row in rejected])
print((sys.modules.get("pandas") is not None), file=sys.stderr)
"""


def test_a_load_accepts_and_rejects_the_same_rows_with_pandas_and_without(tmp_path: Path) -> None:
    assert find_spec("pandas") is not None, "the dev extra has pandas, which most users have"
    columns = {
        "source_id": pa.array(["a", "b", None, "d"]),
        "venue": pa.array([1, 1_000, 2_000, None], NS),
        "title": pa.array([3_000, 4_000, 5_000, 7], pa.time64("ns")),
    }
    pq.write_table(pa.table(columns), tmp_path / "times.parquet")
    lines = ["source_id,venue", "a,2020-01-01 00:00:00.000000001", ",2020-01-01", "c,2020-01-01"]
    (tmp_path / "times.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with_pandas, without = (_load(tmp_path, how) for how in ("with", "without"))
    assert (with_pandas.stderr.split()[-1], without.stderr.split()[-1]) == ("True", "False")
    assert with_pandas.stdout == without.stdout
    staged, rejected = without.stdout.splitlines()[:2]
    assert "'source_id': 'b'" in staged
    assert rejected.startswith("[(3, 'row 3', 'missing_field'")
    assert rejected.count("'row ") == 1


def _load(folder: Path, how: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, how, str(folder)],
        check=True,
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
    )


MICROSECOND = datetime(1970, 1, 1, 0, 0, 0, 1)


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (NS, 1_000, MICROSECOND),
        (pa.time64("ns"), 1_000, time(0, 0, 0, 1)),
        (pa.duration("ns"), 1_000, timedelta(microseconds=1)),
        (pa.list_(NS), [1_000, None], [MICROSECOND, None]),
        (pa.large_list(NS), [1_000], [MICROSECOND]),
        (pa.list_(NS, 1), [1_000], [MICROSECOND]),
        (
            pa.struct({"a": pa.list_(NS), "b": pa.int8()}),
            {"a": [1_000], "b": 2},
            {"a": [MICROSECOND], "b": 2},
        ),
        (pa.map_(pa.string(), NS), [("a", 1_000)], [("a", MICROSECOND)]),
        (pa.dictionary(pa.int8(), NS), 1_000, MICROSECOND),
    ],
)
def test_nanoseconds_are_pythons_own_values_at_any_depth(type_: Any, value: Any, expected: Any) -> None:
    column = _build(type_, value)
    (found,) = use_python_types(pa.table({"column": column}))["column"].to_pylist()
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize("type_", [NS, pa.time64("ns"), pa.duration("ns"), pa.dictionary(pa.int8(), NS)])
def test_a_fraction_of_a_microsecond_is_an_error(type_: Any) -> None:
    with pytest.raises(pa.ArrowInvalid, match="would lose data"):
        use_python_types(pa.table({"column": _build(type_, 1_001)}))


@pytest.mark.parametrize("type_", [pa.list_view(NS), pa.large_list_view(NS)])
def test_nanoseconds_in_a_list_view_are_refused_rather_than_lost(type_: Any) -> None:
    with pytest.raises(pa.ArrowInvalid, match="nanoseconds in "):
        use_python_types(pa.table({"column": _build(type_, [1_000])}))


def test_what_has_no_nanoseconds_is_left_as_it_is() -> None:
    rows = pa.table({"a": [1], "b": [["x"]], "c": pa.array([0], pa.timestamp("s")), "d": [{"e": 1.5}]})
    assert use_python_types(rows) is rows
    assert find_python_type(pa.dictionary(pa.int8(), pa.string())) == pa.dictionary(pa.int8(), pa.string())


def _build(type_: Any, value: Any) -> pa.Array:
    if pa.types.is_dictionary(type_):
        return pa.array([value], type_.value_type).dictionary_encode()
    return pa.array([value], type_)
