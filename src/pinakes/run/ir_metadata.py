"""What is known of a run as ir_metadata, the header that repro_eval and others read of TREC runs.

Keys are those of Breuer et al. 2022, ir_metadata: An Extensible Metadata Schema for IR Experiments
(https://www.ir-metadata.org): the six components of PRIMAD, and what resources the run took. What Pinakes
knows besides is in the same components under names of its own.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pinakes.queries.definition import Benchmark
from pinakes.run.files.header import END, START
from pinakes.run.files.yaml import Tree, write_yaml
from pinakes.run.made_with import HEADER
from pinakes.run.provenance import Provenance

_TOOLKITS = ("tantivy", "faiss-cpu", "scikit-learn", "gensim", "transformers")


def write_header(found: Provenance, benchmark: Benchmark, tag: str, actor: str | None) -> Iterator[str]:
    """The lines of the header, each a comment of a TREC run, with its first and its last one."""
    yield START
    for line in write_yaml(describe_metadata(found, benchmark, tag, actor)):
        yield f"# {line}"
    yield END


def describe_metadata(
    found: Provenance, benchmark: Benchmark, tag: str, actor: str | None
) -> dict[str, Tree]:
    """The components, of which none is left out: readers compare them one by one."""
    run, made = found.run, found.run["made_with"]
    return _drop_empty(
        {
            "tag": tag,
            "actor": {"name": actor, "role": "experimenter"},
            "platform": _describe_platform(run, made),
            "research goal": {
                "publication": {"citation": benchmark.citation},
                "evaluation": {"reported measures": list(benchmark.measures)},
            },
            "implementation": {
                "executable": {"cmd": _write_command(run, made)},
                "source": {"lang": ["python", "sql"], "pinakes": run["code_version"]},
            },
            "method": _describe_method(found),
            "data": _describe_data(found, benchmark),
            "resources": {"runtime": {"wallclock": f"{round(1000 * run['elapsed_s'])} ms"}},
            "imported": {
                "from": run["imported_from"],
                "sha256": run["import_digest"],
                "header": made.get(HEADER),
            },
        }
    )


def _describe_platform(run: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    libraries = [f"{name}=={number}" for name, number in made.get("libraries", {}).items()]
    memory = made.get("memory_gb")
    return {
        "hardware": {
            "cpu": {
                "model": made.get("processor"),
                "architecture": made.get("architecture"),
                "number of cores": made.get("cores"),
            },
            "ram": None if memory is None else f"{memory} GB",
            "device": run["device"],
        },
        "operating system": {"kernel": made.get("system"), "distribution": made.get("distribution")},
        "software": {
            "libraries": {"python": libraries},
            "retrieval toolkit": [
                f"pinakes=={run['code_version']}",
                *(one for one in libraries if one.partition("==")[0] in _TOOLKITS),
            ],
            "python": made.get("python"),
            "database": made.get("database"),
        },
    }


def _write_command(run: Mapping[str, Any], made: Mapping[str, Any]) -> str | None:
    """The command that makes the run; None of an imported one. A model's folder stands by its name alone."""
    if run["imported_from"] is not None:
        return None
    words = ["pinakes run", run["benchmark"], "--system", run["system"]]
    for name in ("precision", "depth", "query_template", "paper_template", "corpus"):
        if run[name] is not None:
            words += [f"--{name.replace('_', '-')}", str(run[name])]
    if run["mode"] != "corrected":
        words += ["--mode", run["mode"]]
    for name, value in made.get("asked", {}).get("options", {}).items():
        words += ["--option", f"{name}={value}"]
    return " ".join(words)


def _describe_method(found: Provenance) -> dict[str, Any]:
    run = found.run
    return {
        "automatic": True,
        "mode": run["mode"],
        "score ties": "by the paper's id, byte-wise descending, as trec_eval has it",
        "indexing": {"paper template": run["paper_template"], "query template": run["query_template"]},
        "retrieval": [
            {
                "name": run["system"],
                "params": run["parameters"],
                "precision": run["precision"],
                "depth": run["depth"],
                "run digest": run["run_digest"],
            }
        ],
        "encoders": [
            {
                "name": one["name"],
                "model": one["model"],
                "revision": one["revision"],
                "weights sha256": one["weights_digest"],
            }
            for one in found.encoders
        ],
    }


def _describe_data(found: Provenance, benchmark: Benchmark) -> dict[str, Any]:
    run = found.run
    return {
        "test collection": {
            "name": run["benchmark"],
            "title": benchmark.title,
            "source": "; ".join(one.source for one in found.corpora if one.source) or None,
            "qrels": f"{run['benchmark']}.judgments",
            "topics": f"{run['benchmark']}.queries",
            "definition sha256": run["view_digest"],
            "dataset sha256": run["dataset_digest"],
        },
        "other": [
            {
                "name": file.file,
                "source": file.corpus,
                "sha256": file.file_digest,
                "role": file.role,
                "loader": file.loader,
                "loaded": file.first_at.isoformat(),
            }
            for corpus in found.corpora
            for file in corpus.files
        ],
    }


def _drop_empty(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The tree without what is not known."""
    return {key: kept for key, value in tree.items() if (kept := _drop(value)) not in (None, {}, [])}


def _drop(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _drop_empty(value)
    if isinstance(value, list):
        return [_drop(one) for one in value]
    return value
