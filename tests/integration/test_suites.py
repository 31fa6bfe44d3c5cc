"""A suite from its folder to its report: what runs, what is listed, what is ranked."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect
from pinakes.errors import BenchmarkError, EvaluationError, RunError, UnknownNameError
from pinakes.evaluate.compare import compare_subsets
from pinakes.evaluate.evaluate import evaluate
from pinakes.evaluate.resample import open_resampling
from pinakes.evaluate.suite import evaluate_suite, run_suite
from pinakes.evaluators.bootstrap import find_interval
from pinakes.queries.suites import read_suite
from pinakes.report.present.suite import render_suite, render_suite_html
from pinakes.report.suite.gather import gather_suite
from pinakes.run.run import RunRequest
from pinakes.run.stored_runs import delete_run
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import open_benchmark
from tests.benching import change, count
from tests.calling import Call
from tests.toy_encoder import build_toy_encoder
from tests.toy_suite import write_suite

MEMBERS = ["little_class", "little_beside", "little_rank", "little_year"]


@pytest.fixture(scope="session")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two tiny encoders, called first and second."""
    folder = tmp_path_factory.mktemp("models")
    return [str(build_toy_encoder(folder / name, seed)) for name, seed in (("first", 7), ("second", 8))]


@pytest.fixture
def suite_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_suite(tmp_path / "benchmarks")
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    return folder


def request(database: Database, **given: Any) -> RunRequest:
    from pinakes.workload.benchmark import find_index_folder

    return RunRequest("little", "", SystemOptions(find_index_folder(database), precision="fp32"), **given)


@pytest.fixture
def scored(prepared: Database, suite_folder: Path, encoders: list[str]) -> Database:
    """A database where two encoders were run on the suite and scored."""
    run_suite(prepared, request(prepared), encoders)
    evaluate_suite(prepared, "little")
    return prepared


def read(database: Database, query: str) -> list[dict[str, Any]]:
    with database.read() as session:
        return session.rows(query)
