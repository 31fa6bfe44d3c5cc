"""The house stands as the design draws it."""

import os
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from pinakes.evaluators.registry import FAMILIES
from pinakes.loaders.registry import LOADERS, find_loader
from pinakes.loaders.staging import REASONS
from pinakes.queries.definition import list_benchmarks, read_benchmark
from pinakes.queries.tasks import TASKS, resolve_task
from pinakes.schema.batches import REJECTION_REASONS
from pinakes.systems.base import ABILITIES
from pinakes.systems.names import COMBINED, DENSE, SYSTEMS
from pinakes.tasks.base import Task

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("schema", "loaders", "indexers", "queries", "evaluators")


@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_a_relative_link_to_its_top_level_folder(part: str) -> None:
    link = ROOT / "src" / "pinakes" / part
    assert link.is_symlink()
    assert os.readlink(link) == f"../../{part}"
    assert link.resolve() == ROOT / part


def test_the_root_is_no_package() -> None:
    assert not (ROOT / "pinakes").exists()
    assert not (ROOT / "__init__.py").exists()


def test_the_wheel_is_cut_from_the_real_folders() -> None:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())
    sources = described["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"]
    assert sources == {"src/pinakes": "pinakes"} | {part: f"pinakes/{part}" for part in PARTS}


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_every_registered_loader_is_there_under_its_name(name: str) -> None:
    assert find_loader(name).name == name


@pytest.mark.parametrize("name", TASKS)
def test_every_registered_task_is_whole_under_its_name(name: str) -> None:
    task = resolve_task(name)
    assert isinstance(task, Task)
    assert task.name == name
    assert {"run_id", "query_id"} <= set(task.answers.c.keys())
    assert task.scored_view in task.views
    assert "query_id" in task.list_columns(read_benchmark("scifact"), task.scored_view)
    assert task.needs
    assert set(task.needs) <= ABILITIES.keys()


@pytest.mark.parametrize("target", [*FAMILIES.values(), *SYSTEMS.values(), *COMBINED.values(), DENSE])
def test_every_registry_entry_resolves(target: str) -> None:
    module, member = target.split(":")
    assert getattr(import_module(module), member) is not None


def test_the_database_knows_every_reason_for_a_rejection() -> None:
    assert set(REJECTION_REASONS) == set(REASONS)


@pytest.mark.parametrize("name", list_benchmarks())
def test_every_bundled_benchmark_is_whole(name: str) -> None:
    benchmark = read_benchmark(name)
    assert benchmark.headline_measure in benchmark.measures
    task: Task = resolve_task(benchmark.task)
    assert "grades" not in task.settings or benchmark.grades
    assert [task.name_measure(measure) for measure in benchmark.measures]
    for statement in benchmark.sql.values():
        assert statement.startswith("-- ")
