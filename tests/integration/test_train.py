"""`pinakes train`: from the database to an encoder that benchmarks are run with, on both databases."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import pinakes
from tests.benching import BENCHMARK_TOML, write_benchmark
from tests.calling import Call

pytestmark = pytest.mark.in_turn

TASKS = ("--task", "year:synthetic", "--task", "citations:synthetic", "--most", 24)
SHORT = ("--epochs", 1, "--pal-width", 12, "--batch-size", 16, "--max-tokens", 32, "--device", "cpu", "-q")


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(call: Call, base: str, name: str, *options: Any) -> Any:
    return call("train", name, "--base", base, *TASKS, *SHORT, *options)


@pytest.mark.parametrize("method", ["cls", "ctrl", "adapters", "pals", "fusion"])
def test_what_is_trained_is_an_encoder_like_any_other(
    call: Call, toy_folder: str, at: Path, method: str
) -> None:
    trained = train(call, toy_folder, f"my_{method}", "--method", method, "--json")
    assert trained.code == 0, trained.err
    (row,) = trained.data
    # 48 instances in batches of 16.
    assert (row["encoder"], row["method"], row["steps"]) == (f"encoders/my_{method}", method, 3)
    assert {"validation_PRX", "validation_RGN"} <= row.keys()
    assert (row["kept_epoch_PRX"], row["kept_epoch_RGN"]) == (1, 1)
    given = ("--corpus", "synthetic", "-s", row["encoder"], "--precision", "fp32", "-q")
    assert call("index", *given, *(() if method == "cls" else ("--format", "PRX"))).code == 0
    refused = call("index", *given, "--format", "CLF")
    assert refused.code == 1
    expected = "has one embedding" if method == "cls" else "no embedding for CLF; it has PRX, RGN"
    assert expected in refused.err


def test_what_was_drawn_is_recorded_and_a_rehearsal_records_nothing(
    call: Call, toy_folder: str, at: Path
) -> None:
    count = ("sql", "SELECT COUNT(*) AS n FROM training_instances", "--format", "json")
    rehearsed = train(call, toy_folder, "mine", "--dry-run", "--json")
    assert [(row["name"], row["train"]) for row in rehearsed.data] == [
        ("year:synthetic", 24),
        ("citations:synthetic", 24),
    ]
    assert call(*count).data == [{"n": 0}]
    assert not (at / "encoders").exists()
    assert train(call, toy_folder, "mine").code == 0
    drawn = sum(row["train"] + row["validation"] for row in rehearsed.data)
    assert call(*count).data == [{"n": drawn}]


def test_python_trains_as_the_command_does(call: Call, toy_folder: str, at: Path) -> None:
    work = pinakes.connect(read_only=False)
    tasks = ["year:synthetic", "citations:synthetic"]
    rehearsed = train(call, toy_folder, "mine", "--dry-run", "--json").data
    counted = work.train("mine", base=toy_folder, task=tasks, most=24, dry_run=True)
    assert json.loads(json.dumps(counted)) == rehearsed
    short: dict[str, Any] = {
        "epochs": 1,
        "batch_size": 16,
        "max_tokens": 32,
        "pal_width": 12,
        "device": "cpu",
    }
    assert train(call, toy_folder, "theirs").code == 0
    (row,) = work.train("mine", base=toy_folder, task=tasks, most=24, **short)
    assert (row["steps"], Path(row["encoder"])) == (3, Path("encoders/mine"))
    found = [
        json.loads((at / "encoders" / name / "training.json").read_text()) for name in ("mine", "theirs")
    ]
    assert found[0]["decided"] == found[1]["decided"]
    assert found[0]["losses"] == found[1]["losses"]
    with pytest.raises(pinakes.PinakesError, match="this connection only reads"):
        pinakes.connect().train("other", base=toy_folder, task=tasks)
    with pytest.raises(pinakes.PinakesError, match="expected one of device, devices and processes"):
        work.train("other", base=toy_folder, task=tasks, device="cpu", devices="cpu,cpu")


def test_a_recorded_draw_is_removed_alone(call: Call, toy_folder: str, at: Path) -> None:
    assert [train(call, toy_folder, name).code for name in ("mine", "yours")] == [0, 0]
    counts = (
        "SELECT name, COUNT(*) AS n FROM trainings JOIN training_instances USING (training_id) GROUP BY name"
    )
    mine, yours = sorted(call("sql", counts, "--format", "json").data, key=lambda row: row["name"])
    removed = call("remove", "training", "mine", "--yes", "--json")
    assert removed.code == 0, removed.err
    assert removed.data["deleted"]["training_instances"] == mine["n"]
    assert call("sql", counts, "--format", "json").data == [yours]
    assert (at / "encoders" / "mine" / "training.json").exists()
    again = call("remove", "training", "mine", "--yes")
    assert (again.code, "unknown training 'mine'; known: yours" in again.err) == (1, True)


def test_a_finished_training_and_a_wrong_request_are_refused(call: Call, toy_folder: str, at: Path) -> None:
    assert train(call, toy_folder, "mine").code == 0
    before = json.loads((at / "encoders" / "mine" / "training.json").read_text(encoding="utf-8"))
    again = train(call, toy_folder, "mine")
    assert (again.code, "holds a trained encoder" in again.err) == (1, True)
    assert json.loads((at / "encoders" / "mine" / "training.json").read_text(encoding="utf-8")) == before
    for name, options, expected in (
        ("My Encoder", (), "cannot be the name of a trained encoder"),
        ("minilm", (), "cannot be the name of a trained encoder"),
        ("other", ("--task", "colours:synthetic"), "colours"),
        ("other", ("--task", "year:absent"), "absent"),
        ("other", ("--method", "magic"), "is 'magic'; expected one of cls, ctrl, adapters, pals, fusion"),
        ("other", ("--validation", 1.5), "validation is 1.5"),
        ("other", ("--device", "cpu", "--learning-rate", 0), "learning_rate is 0.0"),
        ("other", ("--precision", "fp16"), "the precision is fp16 on a CPU"),
        ("other", ("--devices", "cuda:0"), "expected one of device, devices and processes"),
    ):
        refused = train(call, toy_folder, name, *options)
        assert refused.code == 1, (name, options)
        assert expected in refused.err
    assert sorted(path.name for path in (at / "encoders").iterdir()) == ["mine"]


def test_both_databases_train_on_the_same_instances(call: Call, toy_folder: str, at: Path) -> None:
    assert train(call, toy_folder, "mine").code == 0
    record = json.loads((at / "encoders" / "mine" / "training.json").read_text(encoding="utf-8"))
    assert record["decided"]["tasks"] == DIGESTS
    assert record["code_version"] == pinakes.__version__
    weights = at / "encoders" / "mine" / "model.safetensors"
    assert weights.stat().st_mode == weights.with_name("config.json").stat().st_mode


@pytest.fixture
def benchmarks(at: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two benchmarks of one format over the corpus scifact."""
    toml = f'format = "PRX"\n{BENCHMARK_TOML}'
    for name in ("near", "nearer"):
        write_benchmark(at / "benchmarks", name, corpus="scifact", toml=toml)
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(at / "benchmarks"))


def test_methods_are_compared_over_seeds_beside_their_base(
    call: Call, toy_folder: str, at: Path, benchmarks: None
) -> None:
    systems = [toy_folder]
    for method, seed in (("cls", 1), ("cls", 2), ("ctrl", 1), ("ctrl", 2)):
        name = f"{method}_{seed}"
        assert train(call, toy_folder, name, "--method", method, "--seed", seed).code == 0
        systems.append(f"encoders/{name}")
    asked = ("near", "nearer", *(word for one in systems for word in ("-s", one)), "--in-train", "near")
    given = (*asked, "--precision", "fp32", "--device", "cpu")
    compared = call("compare-methods", *given, "--json")
    assert compared.code == 0, compared.err
    methods = {one["name"]: one["seeds"] for one in compared.data["methods"]}
    assert list(methods.values()) == [[""], ["1", "2"], ["1", "2"]]
    assert list(methods)[1:] == ["cls", "ctrl"]
    columns = {(one["column"], one["figures"]) for one in compared.data["means"]}
    assert columns >= {("in-train", 1), ("out-of-train", 1), ("average", 2)}
    scored = call("evaluate", "near", "--json").data
    stored = {
        one["run_id"]: one["value"]
        for one in scored
        if (one["subset"], one["measure"], one.get("query_id")) == ("all", "nDCG@10", None)
    }
    of_near = [one for one in compared.data["figures"] if one["benchmark"] == "near"]
    assert {one["run_id"]: one["value"] for one in of_near} == stored
    pairs = [(one["a"], one["b"]) for one in compared.data["differences"] if one["column"] == "average"]
    assert len(pairs) == 3

    counted = ("sql", "SELECT COUNT(*) AS n FROM evaluations", "--format", "json")
    before = call(*counted).data
    again = call("compare-methods", *given, "--folder", "report")
    assert again.code == 0
    assert again.err.count("is there already") == 10
    assert again.err.count("its stored scores are current") == 10
    assert call(*counted).data == before
    found, first = call("compare-methods", *given, "--json").data, compared.data
    assert {one.pop("is_stored") for one in found["figures"]} == {True}
    assert {one.pop("is_stored") for one in first["figures"]} == {False}
    assert found == first
    page = (at / "report" / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4
    assert "Losses by format. RGN:" in page


def test_python_compares_methods_as_the_command_does(
    call: Call, toy_folder: str, at: Path, benchmarks: None
) -> None:
    work = pinakes.connect(read_only=False)
    found = work.compare_methods(
        ["near", "nearer"], system=[toy_folder, "bm25"], in_train="near", precision="fp32", device="cpu"
    )
    assert [one.name for one in found.methods][1:] == ["bm25"]
    assert {(one.benchmark, one.part) for one in found.figures} == {
        ("near", "in-train"),
        ("nearer", "out-of-train"),
    }
    given = ("near", "nearer", "-s", toy_folder, "-s", "bm25", "--in-train", "near")
    compared = call("compare-methods", *given, "--precision", "fp32", "--device", "cpu", "--json")
    assert compared.code == 0, compared.err
    assert json.loads(json.dumps([asdict(one) for one in found.means])) == compared.data["means"]
    with pytest.raises(pinakes.PinakesError, match="two systems or more"):
        work.compare_methods("near", system="bm25")
    with pytest.raises(pinakes.PinakesError, match="this connection only reads"):
        pinakes.connect().compare_methods("near", system=["bm25", toy_folder])


def test_random_groups_are_a_method_of_their_own(
    call: Call, toy_folder: str, at: Path, benchmarks: None
) -> None:
    for name, options in (("by_format", ()), ("by_chance", ("--grouping", "random"))):
        assert train(call, toy_folder, name, *options).code == 0
    groups = {
        name: json.loads((at / "encoders" / name / "training.json").read_text(encoding="utf-8"))["groups"]
        for name in ("by_format", "by_chance")
    }
    assert groups["by_format"] == {}
    assert groups["by_chance"] in (
        {"year:synthetic": "RGN", "citations:synthetic": "PRX"},
        {"year:synthetic": "PRX", "citations:synthetic": "RGN"},
    )
    systems = [word for name in groups for word in ("-s", f"encoders/{name}")]
    compared = call("compare-methods", "near", *systems, "--precision", "fp32", "--device", "cpu", "--json")
    assert compared.code == 0, compared.err
    assert [one["name"] for one in compared.data["methods"]] == [
        "ctrl (groups by format)",
        "ctrl (random groups)",
    ]
    for wrong, expected in (
        (("--grouping", "random", "--method", "cls"), "grouping random is of several embeddings"),
        (("--grouping", "magic"), "expected one of format, random"),
    ):
        refused = train(call, toy_folder, "other", *wrong)
        assert (refused.code, expected in refused.err) == (1, True)


def test_what_cannot_be_compared_is_refused(call: Call, toy_folder: str, at: Path, benchmarks: None) -> None:
    write_benchmark(at / "benchmarks", "plain", corpus="scifact")
    for options, expected in (
        (("near", "-s", toy_folder), "two systems or more"),
        (("near", "-s", toy_folder, "-s", toy_folder), "is named twice"),
        (("near", "near", "-s", toy_folder, "-s", "bm25"), "the benchmark near is named twice"),
        (("plain", "-s", toy_folder, "-s", "bm25"), "plain has no format"),
        (("near", "-s", "a", "-s", "bm25", "--in-train", "other"), "other is in-train, but none of the"),
        (("near", "-s", "mean:a", "-s", "bm25"), "expected at least two encoders"),
    ):
        refused = call("compare-methods", *options)
        assert refused.code == 1, options
        assert expected in refused.err
    assert train(call, toy_folder, "cls_1", "--method", "cls").code == 0
    (at / "copy").mkdir()
    for path in (at / "encoders" / "cls_1").iterdir():
        (at / "copy" / path.name).write_bytes(path.read_bytes())
    refused = call("compare-methods", "near", "-s", "encoders/cls_1", "-s", "copy")
    assert "copy and encoders/cls_1 are of the same training with the same seed 1" in refused.err


# Of texts and instances: no database, machine or version of a library may change them.
DIGESTS = {
    "year:synthetic": "164fc8a78d6ca2238a2032f85dfb0ad7ec0f0e0bff03997957349c704ff28624",
    "citations:synthetic": "bdaac52832ad4539c6269d75ce511e117f0dd92c50174d13b090a0a4765bc2a8",
}
