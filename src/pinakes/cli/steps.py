"""Every step under one name, imported when it is first used: `steps.load`, `steps.run`, …

So `pinakes --help` does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pinakes.cli.demo import run_demo
    from pinakes.database import connect, connect_read_only
    from pinakes.evaluate.agreement import measure_agreement, measure_query_agreement
    from pinakes.evaluate.compare import compare_subsets
    from pinakes.evaluate.evaluate import evaluate
    from pinakes.evaluate.reproduce import ReproduceRequest, reproduce
    from pinakes.index.approximate import FaissRequest, index_faiss, index_pgvector
    from pinakes.index.encode import EncodeOptions, QuerySource, encode_source
    from pinakes.index.index import index, index_corpus
    from pinakes.load.deduplicate import deduplicate
    from pinakes.load.fetch import fetch, find_source
    from pinakes.load.initialise import initialise
    from pinakes.load.load import LoadRequest, choose_loader, load
    from pinakes.load.resolve import resolve
    from pinakes.report.errors import ErrorRequest, gather_errors, print_errors, write_errors
    from pinakes.report.gather import gather_report, write_report
    from pinakes.report.present import (
        comparison_rows,
        describe_coverage,
        fetched_rows,
        print_load,
        print_records,
        print_report,
        print_rows,
        print_sample,
        print_scores,
        print_status,
        print_tuning,
        score_rows,
        show_progress,
        source_rows,
    )
    from pinakes.report.present_agreement import (
        choose_agreement_column,
        describe_not_compared,
        find_published_agreement,
        print_agreement,
    )
    from pinakes.report.present_pools import print_construction
    from pinakes.report.status import ask, find_orphans, read_status
    from pinakes.run.export_run import export_qrels, export_run
    from pinakes.run.import_run import ImportRequest, import_run
    from pinakes.run.run import RunRequest, run
    from pinakes.run.tune import B_GRID, K1_GRID, tune_bm25
    from pinakes.sample.construct import construct
    from pinakes.sample.construct_records import ConstructionRequest
    from pinakes.sample.export_pools import export_pools
    from pinakes.sample.plan import SampleRequest
    from pinakes.sample.sample import sample
    from pinakes.search.filter import PaperFilter
    from pinakes.search.search import SearchRequest, search
    from pinakes.systems.base import SystemOptions
    from pinakes.workload.benchmark import find_index_folder, open_benchmark

__all__ = [
    "B_GRID",
    "K1_GRID",
    "ConstructionRequest",
    "EncodeOptions",
    "ErrorRequest",
    "FaissRequest",
    "ImportRequest",
    "LoadRequest",
    "PaperFilter",
    "QuerySource",
    "ReproduceRequest",
    "RunRequest",
    "SampleRequest",
    "SearchRequest",
    "SystemOptions",
    "ask",
    "choose_agreement_column",
    "choose_loader",
    "compare_subsets",
    "comparison_rows",
    "connect",
    "connect_read_only",
    "construct",
    "deduplicate",
    "describe_coverage",
    "describe_not_compared",
    "encode_source",
    "evaluate",
    "export_pools",
    "export_qrels",
    "export_run",
    "fetch",
    "fetched_rows",
    "find_index_folder",
    "find_orphans",
    "find_published_agreement",
    "find_source",
    "gather_errors",
    "gather_report",
    "import_run",
    "index",
    "index_corpus",
    "index_faiss",
    "index_pgvector",
    "initialise",
    "load",
    "measure_agreement",
    "measure_query_agreement",
    "open_benchmark",
    "print_agreement",
    "print_construction",
    "print_errors",
    "print_load",
    "print_records",
    "print_report",
    "print_rows",
    "print_sample",
    "print_scores",
    "print_status",
    "print_tuning",
    "read_status",
    "reproduce",
    "resolve",
    "run",
    "run_demo",
    "sample",
    "score_rows",
    "search",
    "show_progress",
    "source_rows",
    "tune_bm25",
    "write_errors",
    "write_report",
]

_HOMES: Final = {
    "pinakes.database": ("connect", "connect_read_only"),
    "pinakes.workload.benchmark": ("find_index_folder", "open_benchmark"),
    "pinakes.cli.demo": ("run_demo",),
    "pinakes.evaluate.agreement": ("measure_agreement", "measure_query_agreement"),
    "pinakes.evaluate.compare": ("compare_subsets",),
    "pinakes.sample.construct": ("construct",),
    "pinakes.sample.construct_records": ("ConstructionRequest",),
    "pinakes.load.deduplicate": ("deduplicate",),
    "pinakes.report.errors": ("ErrorRequest", "gather_errors", "print_errors", "write_errors"),
    "pinakes.evaluate.evaluate": ("evaluate",),
    "pinakes.sample.export_pools": ("export_pools",),
    "pinakes.run.export_run": ("export_qrels", "export_run"),
    "pinakes.load.fetch": ("fetch", "find_source"),
    "pinakes.run.import_run": ("ImportRequest", "import_run"),
    "pinakes.index.index": ("index", "index_corpus"),
    "pinakes.search.filter": ("PaperFilter",),
    "pinakes.sample.sample": ("sample",),
    "pinakes.sample.plan": ("SampleRequest",),
    "pinakes.search.search": ("SearchRequest", "search"),
    "pinakes.load.initialise": ("initialise",),
    "pinakes.load.load": ("LoadRequest", "choose_loader", "load"),
    "pinakes.index.approximate": (
        "FaissRequest",
        "index_faiss",
        "index_pgvector",
    ),
    "pinakes.run.tune": ("B_GRID", "K1_GRID", "tune_bm25"),
    "pinakes.index.encode": (
        "EncodeOptions",
        "QuerySource",
        "encode_source",
    ),
    "pinakes.report.gather": ("gather_report", "write_report"),
    "pinakes.evaluate.reproduce": ("ReproduceRequest", "reproduce"),
    "pinakes.load.resolve": ("resolve",),
    "pinakes.run.run": ("RunRequest", "run"),
    "pinakes.report.status": ("ask", "find_orphans", "read_status"),
    "pinakes.systems.base": ("SystemOptions",),
    "pinakes.report.present_agreement": (
        "choose_agreement_column",
        "describe_not_compared",
        "find_published_agreement",
        "print_agreement",
    ),
    "pinakes.report.present_pools": ("print_construction",),
    "pinakes.report.present": (
        "comparison_rows",
        "describe_coverage",
        "fetched_rows",
        "print_load",
        "print_records",
        "print_report",
        "print_rows",
        "print_sample",
        "print_scores",
        "print_status",
        "print_tuning",
        "score_rows",
        "show_progress",
        "source_rows",
    ),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
