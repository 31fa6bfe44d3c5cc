"""Files of rates: written, read again, and refused in words."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.errors import InputError, UnknownNameError
from pinakes.plan.rates import RATES, read_rates, replace_rates, write_rates


def write(file: Path, content: object) -> Path:
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_what_was_measured_is_written_and_read_again(tmp_path: Path) -> None:
    measured = replace(RATES["rank_ns"], value=12.5, origin="measured", source="here", papers=16_000)
    write_rates(tmp_path / "rates.json", replace_rates({"rank_ns": measured}), {"cores": 2})
    content = json.loads((tmp_path / "rates.json").read_text(encoding="utf-8"))
    assert content["machine"] == {"cores": 2}
    assert list(content["rates"]) == ["rank_ns"]  # what was not measured is not passed off as if it were
    assert read_rates(tmp_path / "rates.json") == {**RATES, "rank_ns": replace(measured, origin="file")}


def test_a_file_may_say_a_value_alone(tmp_path: Path) -> None:
    rates = read_rates(write(tmp_path / "r.json", {"rates": {"encode_gpu_tflops": {"value": 500}}}))
    found = rates["encode_gpu_tflops"]
    assert (found.value, found.origin, found.unit) == (500.0, "file", "Tflop/s a GPU")
    assert "r.json" in found.source


@pytest.mark.parametrize("value", [0, -1, None, "3", True, [1], {}])
def test_a_value_that_is_no_rate_is_refused(tmp_path: Path, value: object) -> None:
    file = write(tmp_path / "r.json", {"rates": {"rank_ns": {"value": value}}})
    with pytest.raises(InputError, match=r"the value of rank_ns is .* expected a number above 0"):
        read_rates(file)


@pytest.mark.parametrize("papers", [-1, 1.5, "many", True])
def test_papers_that_are_no_number_are_refused(tmp_path: Path, papers: object) -> None:
    file = write(tmp_path / "r.json", {"rates": {"rank_ns": {"value": 1, "papers": papers}}})
    with pytest.raises(InputError, match="the papers of rank_ns are"):
        read_rates(file)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"rates": []}', "NaN", '{"rates": {"rank_ns": 3}}']
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError):
        read_rates(write(tmp_path / "r.json", content))


def test_a_rate_that_there_is_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="rank_ns"):
        read_rates(write(tmp_path / "r.json", {"rates": {"rank_us": {"value": 1}}}))
    with pytest.raises(InputError, match="cannot be read"):
        read_rates(tmp_path / "none.json")
