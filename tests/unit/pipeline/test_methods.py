"""Methods of training compared: which encoders are of one method, means over seeds, and pairs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pinakes.errors import InputError
from pinakes.evaluate.cross_format import CodeScore, average_figures, average_formats
from pinakes.evaluate.method_groups import IN_TRAIN, OUT_OF_TRAIN, Method, group_systems
from pinakes.evaluate.methods import (
    AVERAGE,
    FigureValue,
    MethodComparison,
    ask_by_group,
    average_methods,
    compare_pairs,
    list_columns,
)
from pinakes.indexers.encoder.trained import RECORD_FILE, TrainingRecord, read_record
from pinakes.report.layout import Cell, absent_cell
from pinakes.report.present.methods import list_tables
from pinakes.run.run import RunRequest
from pinakes.systems.base import SystemOptions
from pinakes.workload.readers import CODES


def make_record(method: str = "ctrl", seed: int = 1, base: str = "a", **settings: Any) -> TrainingRecord:
    return TrainingRecord(
        folder=f"encoders/{method}_{seed}",
        base=base,
        base_folder=f"model_{base}",
        tasks=("year:x", "scifact"),
        formats=("RGN", "SRCH"),
        groups={},
        settings={"method": method, "seed": seed, "epochs": 2, **settings},
        kept_epoch={"RGN": 1, "QRY": 1, "PRX": 1},
        losses=[[1.0, 2.0], [0.5, None]],
        validation=[[0.7, 1.5]],
        parameters=10,
        trained=10,
        elapsed_s=1.0,
    )


def make_figure(method: str, seed: str, benchmark: str, value: float, **other: Any) -> FigureValue:
    found = FigureValue(
        method=method,
        seed=seed,
        system=f"{method}_{seed}",
        benchmark=benchmark,
        format="CLF",
        part=OUT_OF_TRAIN,
        figure=1,
        measures="F1_macro",
        value=value,
        run_id=1,
        queries_expected=3,
        queries_answered=3,
    )
    return replace(found, **other)


def name_groups(trained: dict[str, list[TrainingRecord]]) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.name, one.seeds) for one in group_systems(trained)]


def test_seeds_of_one_training_are_one_method_in_their_order() -> None:
    trained = {
        "minilm": [],
        "b": [make_record(seed=10)],
        "c": [make_record(seed=2)],
        "a": [make_record("cls", seed=2)],
    }
    assert name_groups(trained) == [("minilm", ("",)), ("ctrl", ("2", "10")), ("cls", ("2",))]
    assert group_systems(trained)[1].systems == ("c", "b")


def test_what_differs_beside_the_seed_is_another_method_and_is_named() -> None:
    other = replace(make_record(), tasks=("scifact",))
    trained = {
        "a": [make_record()],
        "b": [make_record(seed=2, epochs=3)],
        "c": [other],
        "d": [make_record(base="b")],
    }
    assert [name for name, _seeds in name_groups(trained)] == [
        "ctrl (epochs 2, 2 tasks, from model_a)",
        "ctrl (epochs 3, 2 tasks, from model_a)",
        "ctrl (epochs 2, 1 tasks, from model_a)",
        "ctrl (epochs 2, 2 tasks, from model_b)",
    ]
    different = replace(make_record(), tasks=("scifact", "year:y"))
    assert [name for name, _seeds in name_groups({"a": [make_record()], "c": [different]})] == [
        "ctrl (2 tasks) #1",
        "ctrl (2 tasks) #2",
    ]


def test_averages_of_encoders_of_one_seed_have_that_seed() -> None:
    trained = {
        f"mean:{seed}": [make_record("adapters", seed=seed), make_record(seed=seed)] for seed in (3, 1)
    }
    mixed = {"mean:m": [make_record("adapters", seed=1), make_record(seed=3)]}
    assert name_groups(trained | mixed) == [("adapters + ctrl", ("1", "1+3", "3"))]


def test_one_training_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"b and a are of the same training with the same seed 1"):
        group_systems({"a": [make_record()], "b": [make_record()]})


METHODS = (Method("base", ("base",), ("",)), Method("ctrl", ("c1", "c2", "c3"), ("1", "2", "3")))
VALUES = (0.5, 0.7, 0.9)


def list_figures() -> list[FigureValue]:
    found = [
        make_figure("base", "", "drsm", 0.6),
        make_figure("base", "", "scifact", 0.2, part=IN_TRAIN, format="SRCH"),
        make_figure("base", "", "scifact", 0.4, part=IN_TRAIN, format="SRCH", figure=2),
    ]
    for seed, value in zip("123", VALUES, strict=True):
        found += [
            make_figure("ctrl", seed, "drsm", value),
            make_figure("ctrl", seed, "scifact", 0.1, part=IN_TRAIN, format="SRCH"),
            make_figure("ctrl", seed, "scifact", 0.5, part=IN_TRAIN, format="SRCH", figure=2),
        ]
    return found


def test_each_figure_counts_once_and_each_seed_once() -> None:
    figures = list_figures()
    assert list_columns(figures) == [
        IN_TRAIN,
        OUT_OF_TRAIN,
        AVERAGE,
        f"{IN_TRAIN} SRCH",
        f"{OUT_OF_TRAIN} CLF",
    ]
    means = {(one.method, one.column): one for one in average_methods(METHODS, figures)}
    base, ctrl = means["base", AVERAGE], means["ctrl", AVERAGE]
    assert base.value == pytest.approx(0.4)
    assert (base.figures, base.seeds) == (3, 1)
    assert (base.low, base.high) == (None, None)
    assert ctrl.value == pytest.approx((0.1 + 0.5 + 0.7) / 3)
    assert ctrl.seeds == 3
    low, high = stats.t.interval(0.95, 2, loc=0.7, scale=stats.sem(VALUES))
    of_test = means["ctrl", OUT_OF_TRAIN]
    assert [of_test.low, of_test.high] == pytest.approx([low, high])


def test_pairs_are_tested_over_seeds_and_corrected_within_a_column() -> None:
    shifted = [
        replace(one, method="cls", system=f"cls_{one.seed}", value=one.value - 0.1 * int(one.seed))
        for one in list_figures()
        if one.method == "ctrl"
    ]
    methods = (*METHODS, Method("cls", ("a", "b", "d"), ("1", "2", "3")))
    found = [one for one in compare_pairs(methods, list_figures() + shifted) if one.column == OUT_OF_TRAIN]
    assert [(one.a, one.b) for one in found] == [("base", "ctrl"), ("base", "cls"), ("ctrl", "cls")]
    against_base, _, against_each_other = found
    assert against_base.difference == pytest.approx(0.1)
    assert against_base.p == pytest.approx(stats.ttest_1samp(VALUES, 0.6).pvalue)
    expected = stats.ttest_1samp([-0.1, -0.2, -0.3], 0.0)
    assert against_each_other.p == pytest.approx(expected.pvalue)
    assert against_each_other.low == pytest.approx(expected.confidence_interval().low)
    assert against_each_other.holm_p == pytest.approx(min(1.0, 3 * expected.pvalue))


def test_methods_that_share_no_seeds_are_not_tested() -> None:
    methods = (METHODS[1], Method("cls", ("a", "b"), ("1", "4")))
    of_ctrl = [one for one in list_figures() if one.method == "ctrl" and one.part == OUT_OF_TRAIN]
    others = [make_figure("cls", seed, "drsm", 0.5) for seed in ("1", "4")]
    [found] = [one for one in compare_pairs(methods, [*of_ctrl, *others]) if one.column == OUT_OF_TRAIN]
    assert found.difference == pytest.approx(-0.2)
    assert (found.p, found.holm_p, found.low) == (None, None, None)


def test_one_seed_alone_is_not_tested() -> None:
    methods = (METHODS[0], Method("ctrl", ("c1",), ("1",)))
    figures = [one for one in list_figures() if one.seed in ("", "1")]
    assert {one.p for one in compare_pairs(methods, figures)} == {None}


def test_a_task_that_was_trained_on_is_answered_by_the_code_of_its_random_group(tmp_path: Path) -> None:
    options = SystemOptions(tmp_path, precision="fp32")
    record = replace(make_record(), groups={"scifact": "RGN", "year:x": "QRY"})
    asked = RunRequest("scifact", "a", options)
    assert ask_by_group(asked, [record], options).options == replace(options, format="RGN")
    other = RunRequest("cranfield", "a", options)
    assert ask_by_group(other, [record], options) == other
    assert ask_by_group(asked, [make_record()], options) == asked
    assert ask_by_group(asked, [record, record], options) == asked
    chance = {"a": [make_record()], "b": [replace(record, settings={**record.settings, "seed": 2})]}
    assert [name for name, _seeds in name_groups(chance)] == [
        "ctrl (groups by format)",
        "ctrl (random groups)",
    ]


def test_the_epoch_that_is_kept_is_said_by_code_where_codes_differ_and_may_be_unknown(tmp_path: Path) -> None:
    record = make_record()
    written = {
        "base_folder": "model_a",
        "decided": {"base": "a", "settings": record.settings},
        **{
            name: getattr(record, name)
            for name in ("tasks", "formats", "losses", "validation", "parameters", "trained", "elapsed_s")
        },
        "epoch": 1,
    }
    (tmp_path / RECORD_FILE).write_text(json.dumps(written), encoding="utf-8")
    earlier = read_record(tmp_path)
    assert earlier.kept_epoch == {}
    apart = replace(record, kept_epoch={"RGN": 2, "PRX": 1, "QRY": 1})
    figures = list_figures()
    means = list(average_methods(METHODS, figures))
    found = MethodComparison(METHODS, figures, means, (), (record, apart, earlier))
    table = list_tables(found)[-1]
    (kept,) = (place for place, column in enumerate(table.columns) if column.title == "kept epoch")
    expected = [Cell("1"), Cell("RGN 2, PRX 1, QRY 1"), absent_cell()]
    assert [row.cells[kept] for row in table.rows] == expected


def test_a_code_is_averaged_over_seeds_of_their_means_over_benchmarks() -> None:
    values = {
        ("1", "a"): [0.1, 0.2, 0.3, 0.4],
        ("1", "b"): [0.5, 0.2, 0.3, 0.0],
        ("2", "a"): [0.3, 0.2, 0.5, 0.4],
        ("2", "b"): [0.9, 0.4, 0.1, 0.0],
    }
    scores = [
        CodeScore(
            system=f"ctrl_{seed}",
            seed=seed,
            benchmark=benchmark,
            format="RGN",
            group=OUT_OF_TRAIN,
            code=code,
            figure=1,
            measure="Kendall",
            value=value,
            run_id=1,
            queries_expected=3,
            queries_answered=3,
            own=code == "RGN",
            best=False,
        )
        for (seed, benchmark), of_codes in values.items()
        for code, value in zip(CODES, of_codes, strict=True)
    ]
    means = average_formats(scores)
    assert [one.value for one in means] == pytest.approx([0.45, 0.25, 0.3, 0.2])
    assert [(one.code, one.own, one.best) for one in means] == [
        ("CLF", False, True),
        ("RGN", True, False),
        ("PRX", False, False),
        ("QRY", False, False),
    ]
    assert {(one.seeds, one.figures, one.benchmark) for one in means} == {(2, 2, "")}
    half = stats.t.ppf(0.975, 1) * np.std([0.3, 0.6], ddof=1) / np.sqrt(2)
    assert [means[0].low, means[0].high] == pytest.approx([0.45 - half, 0.45 + half])
    of_a = average_figures(scores)[: len(CODES)]
    assert [one.value for one in of_a] == pytest.approx([0.2, 0.2, 0.4, 0.4])
    assert [one.best for one in of_a] == [False, False, True, True]
    alone = average_formats([one for one in scores if one.seed == "1"])
    assert {(one.low, one.high, one.seeds) for one in alone} == {(None, None, 1)}
