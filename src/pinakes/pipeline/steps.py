"""Every step under one name, imported when it is first used: `steps.load`, `steps.run`, …

So `pinakes --help` does not wait for torch. Leaves out: what the steps do (their own modules).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pinakes.database import connect, connect_read_only
    from pinakes.pipeline.agreement import measure_agreement, measure_query_agreement
    from pinakes.pipeline.benchmarking import find_index_folder, open_benchmark
    from pinakes.pipeline.compare import compare_subsets
    from pinakes.pipeline.construction import construct
    from pinakes.pipeline.construction_records import ConstructionRequest
    from pinakes.pipeline.deduplicate import deduplicate
    from pinakes.pipeline.demo import run_demo
    from pinakes.pipeline.encode import EncodeOptions, QuerySource, encode_source
    from pinakes.pipeline.error_analysis import ErrorRequest, gather_errors, print_errors, write_errors
    from pinakes.pipeline.evaluate import evaluate
    from pinakes.pipeline.export_pools import export_pools
    from pinakes.pipeline.export_run import export_qrels, export_run
    from pinakes.pipeline.fetch import fetch, find_source
    from pinakes.pipeline.import_run import ImportRequest, import_run
    from pinakes.pipeline.index import index, index_corpus
    from pinakes.pipeline.init import initialise
    from pinakes.pipeline.load import LoadRequest, choose_loader, load
    from pinakes.pipeline.nearest import FaissRequest, index_faiss, index_pgvector
    from pinakes.pipeline.paper_filter import PaperFilter
    from pinakes.pipeline.report import gather_report, write_report
    from pinakes.pipeline.reproduce import ReproduceRequest, reproduce
    from pinakes.pipeline.resolve import resolve
    from pinakes.pipeline.run import RunRequest, run
    from pinakes.pipeline.sampling import sample
    from pinakes.pipeline.sampling_plan import SampleRequest
    from pinakes.pipeline.search import SearchRequest, search
    from pinakes.pipeline.status import ask, find_orphans, read_status
    from pinakes.pipeline.systems.base import SystemOptions
    from pinakes.pipeline.telling import (
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
    from pinakes.pipeline.telling_agreement import (
        choose_agreement_column,
        describe_not_compared,
        find_published_agreement,
        print_agreement,
    )
    from pinakes.pipeline.telling_pools import print_construction
    from pinakes.pipeline.tune import B_GRID, K1_GRID, tune_bm25

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
    "pinakes.pipeline.benchmarking": ("find_index_folder", "open_benchmark"),
    "pinakes.pipeline.demo": ("run_demo",),
    "pinakes.pipeline.agreement": ("measure_agreement", "measure_query_agreement"),
    "pinakes.pipeline.compare": ("compare_subsets",),
    "pinakes.pipeline.construction": ("construct",),
    "pinakes.pipeline.construction_records": ("ConstructionRequest",),
    "pinakes.pipeline.deduplicate": ("deduplicate",),
    "pinakes.pipeline.error_analysis": ("ErrorRequest", "gather_errors", "print_errors", "write_errors"),
    "pinakes.pipeline.evaluate": ("evaluate",),
    "pinakes.pipeline.export_pools": ("export_pools",),
    "pinakes.pipeline.export_run": ("export_qrels", "export_run"),
    "pinakes.pipeline.fetch": ("fetch", "find_source"),
    "pinakes.pipeline.import_run": ("ImportRequest", "import_run"),
    "pinakes.pipeline.index": ("index", "index_corpus"),
    "pinakes.pipeline.paper_filter": ("PaperFilter",),
    "pinakes.pipeline.sampling": ("sample",),
    "pinakes.pipeline.sampling_plan": ("SampleRequest",),
    "pinakes.pipeline.search": ("SearchRequest", "search"),
    "pinakes.pipeline.init": ("initialise",),
    "pinakes.pipeline.load": ("LoadRequest", "choose_loader", "load"),
    "pinakes.pipeline.nearest": (
        "FaissRequest",
        "index_faiss",
        "index_pgvector",
    ),
    "pinakes.pipeline.tune": ("B_GRID", "K1_GRID", "tune_bm25"),
    "pinakes.pipeline.encode": (
        "EncodeOptions",
        "QuerySource",
        "encode_source",
    ),
    "pinakes.pipeline.report": ("gather_report", "write_report"),
    "pinakes.pipeline.reproduce": ("ReproduceRequest", "reproduce"),
    "pinakes.pipeline.resolve": ("resolve",),
    "pinakes.pipeline.run": ("RunRequest", "run"),
    "pinakes.pipeline.status": ("ask", "find_orphans", "read_status"),
    "pinakes.pipeline.systems.base": ("SystemOptions",),
    "pinakes.pipeline.telling_agreement": (
        "choose_agreement_column",
        "describe_not_compared",
        "find_published_agreement",
        "print_agreement",
    ),
    "pinakes.pipeline.telling_pools": ("print_construction",),
    "pinakes.pipeline.telling": (
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
