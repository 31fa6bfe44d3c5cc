"""The files that start a Ray cluster: their schemas, and memory enough for what `pinakes plan` says."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from pinakes.plan.model import Machines, Step, Work, predict
from pinakes.plan.rates import RATES
from pinakes.version import VERSION

ROOT = Path(__file__).resolve().parents[3]
RAY_UP = ROOT / "compose" / "ray-up.yaml"
KUBERAY = ROOT / "compose" / "kuberay.yaml"
FILES = (RAY_UP, KUBERAY)
OBJECTS = 0.3
"""the share of a pod's memory that Ray keeps for objects"""
STEPS = predict(Work(200_000_000), Machines(nodes=4, cores=16, gpus=8, memory=64_000_000_000), RATES)
"""what the files say that they are for"""
CLUSTER_FIELDS = {
    "headGroupSpec",
    "workerGroupSpecs",
    "rayVersion",
    "enableInTreeAutoscaling",
    "autoscalerOptions",
    "headServiceAnnotations",
    "suspend",
}
HEAD_FIELDS = {"serviceType", "headService", "enableIngress", "rayStartParams", "template"}
WORKER_FIELDS = {
    "groupName",
    "replicas",
    "minReplicas",
    "maxReplicas",
    "numOfHosts",
    "rayStartParams",
    "template",
    "scaleStrategy",
}
POD_FIELDS = {"automountServiceAccountToken", "containers", "volumes"}
"""those of Kubernetes' pods that the file has; an indentation that is off would give another"""


def read(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def needs(step: Step) -> float:
    return step.workers * step.worker_bytes


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_says_for_which_plan_it_is(file: Path) -> None:
    assert "`pinakes plan --papers 200000000 --nodes 4 --cores 16 --gpus 8 --memory 64GB`" in file.read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_versions_are_those_of_the_project(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:==|pinakes-ray:)(\d+\.\d+\.\d+)", text)) == {VERSION}
    locked = re.search(r"^ray==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert locked is not None
    assert "2.60" in text
    assert locked[1].startswith("2.60.")
    if file == KUBERAY:
        assert read(file)["spec"]["rayVersion"] == locked[1]


def find_ray() -> Path:
    """The folder of the installed Ray."""
    found = find_spec("ray")
    if found is None or found.submodule_search_locations is None:
        pytest.skip("the extra cluster is not installed")
    return Path(found.submodule_search_locations[0])


def test_the_cluster_file_is_one_by_the_schema_of_ray() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((find_ray() / "autoscaler" / "ray-schema.json").read_text(encoding="utf-8"))
    content = read(RAY_UP)
    jsonschema.validate(content, schema)
    wrong: list[dict[str, Any]] = [
        {"workers": 3},
        {"auth": content["auth"] | {"ssh_key": "~/.ssh/pinakes"}},
        {"provider": {"head_ip": "10.0.0.1"}},
        {"max_workers": "3"},
        {"setup_commands": "python3.11 -m venv ~/pinakes-venv"},
    ]
    for fields in wrong:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(content | fields, schema)
    # The schema lets any field of a provider pass: these are those of machines of one's own.
    assert set(content["provider"]) == {"type", "head_ip", "worker_ips"}
    assert set(content["provider"]) <= set(schema["properties"]["provider"]["properties"])


def test_ray_makes_a_cluster_of_the_file() -> None:
    """By the functions of `ray up`, which add their defaults before they look at the schema."""
    pytest.importorskip("jsonschema")
    content = read(RAY_UP)
    code = (
        "import json, sys\n"
        "from ray.autoscaler._private.util import prepare_config, validate_config\n"
        "made = prepare_config(json.load(sys.stdin))\n"
        "validate_config(made)\n"
        "print(json.dumps(made))"
    )
    find_ray()
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(content),
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout.splitlines()[-1])
    assert made["provider"]["worker_ips"] == content["provider"]["worker_ips"]
    for kind in ("head", "worker"):
        assert made[f"{kind}_start_ray_commands"] == content[f"{kind}_start_ray_commands"]
        assert made[f"{kind}_setup_commands"] == content["setup_commands"]


def test_ray_start_knows_every_option_of_both_files() -> None:
    find_ray()
    code = (
        "from ray.scripts.scripts import start\n"
        "print(*(name for option in start.params for name in option.opts))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    known = set(done.stdout.split())
    given = set(re.findall(r"(?<!\S)--[a-z-]+", " ".join(list_starts())))
    assert {"--head", "--port", "--address", "--autoscaling-config", "--object-store-memory"} <= given
    given |= {f"--{name}" for group, _pod in list_pods() for name in group["rayStartParams"]}
    assert {"--num-cpus", "--include-dashboard"} <= given
    assert given <= known


def list_starts() -> Iterator[str]:
    content = read(RAY_UP)
    for kind in ("head", "worker"):
        yield from content[f"{kind}_start_ray_commands"]


def test_the_cluster_file_names_as_many_machines_as_it_starts() -> None:
    content = read(RAY_UP)
    assert {
        "cluster_name",
        "provider",
        "auth",
        "head_start_ray_commands",
        "worker_start_ray_commands",
    } <= set(content)
    assert content["provider"]["type"] == "local"
    assert len(content["provider"]["worker_ips"]) == content["max_workers"] == 3
    for kind in ("head", "worker"):
        start = content[f"{kind}_start_ray_commands"][-1]
        assert "ray start" in start
        assert "RAY_AUTH_MODE=token" in start
        assert "PINAKES_INDEX_FOLDER=" in start


def test_the_memory_that_the_cluster_file_tells_is_enough() -> None:
    text = RAY_UP.read_text(encoding="utf-8")
    told = re.search(r"the head needs (\d+) GB.*?a worker (\d+) GB", text.replace("\n# ", " "))
    objects = {int(size) for size in re.findall(r"--object-store-memory=(\d+)", text)}
    assert told is not None
    assert objects == {4_000_000_000}
    head, worker = (int(size) * 1e9 - 4e9 for size in told.groups())
    assert head >= max(step.driver_bytes for step in STEPS)
    assert worker >= max(needs(step) for step in STEPS)


def list_pods() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    spec = read(KUBERAY)["spec"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        yield group, group["template"]["spec"]


def test_the_manifest_has_what_the_definition_of_kuberay_asks_for_and_no_other_field() -> None:
    content = read(KUBERAY)
    assert (content["apiVersion"], content["kind"]) == ("ray.io/v1", "RayCluster")
    assert set(content) == {"apiVersion", "kind", "metadata", "spec"}
    spec = content["spec"]
    assert set(spec) <= CLUSTER_FIELDS
    assert {"headGroupSpec"} <= set(spec)
    head = spec["headGroupSpec"]
    assert {"rayStartParams", "template"} <= set(head) <= HEAD_FIELDS
    for group in spec["workerGroupSpecs"]:
        required = {"groupName", "maxReplicas", "minReplicas", "rayStartParams", "template"}
        assert required <= set(group) <= WORKER_FIELDS
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for group, pod in list_pods():
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        assert set(pod) == POD_FIELDS
        assert set(group["template"]) == {"spec"}


def test_pods_mount_the_storage_that_all_share_and_have_as_much_memory_as_is_planned() -> None:
    head, workers = list_pods()
    for _group, pod in (head, workers):
        (container,) = pod["containers"]
        assert container["resources"]["limits"] == container["resources"]["requests"]
        mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert set(mounted) == {volume["name"] for volume in pod["volumes"]}
        variables = {one["name"]: one.get("value") for one in container["env"]}
        assert variables["PINAKES_INDEX_FOLDER"].startswith(mounted["shared"] + "/")
        assert variables["RAY_AUTH_MODE"] == "token"
        assert pod["automountServiceAccountToken"] is False
    usable = [
        int(pod["containers"][0]["resources"]["limits"]["memory"].removesuffix("Gi")) * 2**30 * (1 - OBJECTS)
        for _group, pod in (head, workers)
    ]
    assert usable[0] >= max(step.driver_bytes for step in STEPS)
    assert usable[1] >= max(needs(step) for step in STEPS)
    resources = workers[1]["containers"][0]["resources"]["limits"]
    assert int(resources["nvidia.com/gpu"]) * workers[0]["replicas"] == 8
    assert head[0]["rayStartParams"]["num-cpus"] == "0"
    assert head[0]["serviceType"] == "ClusterIP"
