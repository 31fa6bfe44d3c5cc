"""What is disturbed: commands that write, what must be there before, and what is run after."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.loading import DATA, paper, write_beir

PAPERS: Final = 120
Words = tuple[str, ...]
SYNTHETIC: Final[Words] = ("load", "synthetic", "--papers", str(PAPERS), "--seed", "1", "--quiet")
POOLS: Final[Words] = (
    "--pool-size",
    "30",
    "--validation-pool-size",
    "20",
    "--queries",
    "1",
    "--validation-queries",
    "1",
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A command that is disturbed.

    Attributes:
        words: its command line; `{inputs}` in it is the folder of `write_inputs`.
        prepared: the commands that are run before.
        after: commands whose effect shows whether what it left can be used.
        may_refuse: whether it refuses, and leaves all as it is, where it has already been done.
    """

    words: Words
    prepared: Sequence[Words] = ()
    after: Sequence[Words] = ()
    may_refuse: bool = False


def _index(*words: str) -> Words:
    return ("index", *words, "--quiet")


def _run(*words: str) -> Words:
    return ("run", "synthetic", "--system", *words, "--quiet")


_TOY: Final[Words] = ("{inputs}/toy", "--precision", "fp32", "--device", "cpu")
_LEXICAL: Final = (_index("synthetic", "--system", "bm25"), _run("bm25"))
_RANKED: Final = (SYNTHETIC, *_LEXICAL, _index("synthetic", "--system", "tfidf"), _run("tfidf"))
_SCORED: Final = (*_RANKED, ("evaluate", "synthetic", "--quiet"))
_VECTORS: Final = (SYNTHETIC, _index("synthetic", "--system", *_TOY))

SCENARIOS: Final[Mapping[str, Scenario]] = {
    "load folder": Scenario(
        ("load", "beir", "{inputs}/beir", "--corpus", "own", "--quiet"), (("init", "-q"),)
    ),
    "load file": Scenario(
        ("load", "csv", f"{DATA}/csv/papers.csv", "--corpus", "own", "--max-rejects", "1", "-q"),
        (("init", "-q"),),
    ),
    "load archive": Scenario(
        ("load", "s2orc", "{inputs}/s2orc.tar.gz", "--corpus", "own", "--max-rejects", "1", "-q"),
        (("init", "-q"),),
    ),
    "load into nothing": Scenario(("load", "beir", "{inputs}/beir", "--corpus", "own", "--quiet")),
    "load newer": Scenario(
        ("load", "beir", "{inputs}/newer", "--corpus", "own", "--quiet", "--replace"),
        (("load", "beir", "{inputs}/beir", "--corpus", "own", "--quiet"),),
    ),
    "load generated": Scenario(SYNTHETIC, (("init", "-q"),)),
    "index bm25": Scenario(_index("synthetic", "--system", "bm25"), (SYNTHETIC,), (_run("bm25"),)),
    "index tfidf": Scenario(_index("synthetic", "--system", "tfidf"), (SYNTHETIC,), (_run("tfidf"),)),
    "index sparse": Scenario(
        _index("synthetic", "--system", "sparse_bm25"), (SYNTHETIC,), (_run("sparse_bm25"),)
    ),
    "index vectors": Scenario(_index("synthetic", "--system", *_TOY), (SYNTHETIC,), (_run(*_TOY),)),
    "index faiss": Scenario(
        (
            "index",
            "faiss",
            "--corpus",
            "synthetic",
            "--system",
            "{inputs}/toy",
            "--precision",
            "fp32",
            "--quiet",
        ),
        _VECTORS,
    ),
    "index again": Scenario(
        _index("--corpus", "own", "--system", "bm25"),
        (
            ("load", "beir", "{inputs}/beir", "--corpus", "own", "--quiet"),
            _index("--corpus", "own", "--system", "bm25"),
            ("load", "beir", "{inputs}/newer", "--corpus", "own", "--quiet", "--replace"),
        ),
        (("search", "own", "newer title", "--system", "bm25"),),
    ),
    "encode": Scenario(
        ("encode", "{inputs}/texts.parquet", "vectors", "--model", *_TOY, "--quiet"), (("init", "-q"),)
    ),
    "run": Scenario(_run("bm25"), (SYNTHETIC, _LEXICAL[0])),
    "run vectors": Scenario(_run(*_TOY), _VECTORS),
    "import-run": Scenario(
        ("import-run", "synthetic", "ranked.trec", "--system", "theirs"),
        (SYNTHETIC, *_LEXICAL, ("export", "run", "1", "ranked.trec", "--quiet")),
    ),
    "sample": Scenario(
        ("sample", "large_scale", "--corpus", "synthetic", *POOLS, "--quiet"),
        (SYNTHETIC,),
    ),
    "construct": Scenario(
        ("construct", "mdcr_constructed", "--quiet"),
        (
            ("load", "synthetic", "--papers", "400", "--quiet"),
            ("sample", "field_level", "--corpus", "synthetic", "--assigned-by", "synthetic", *POOLS, "-q"),
            *(
                (what, "field_level", "--system", name, "--quiet")
                for name in ("bm25", "tfidf", "sparse_bm25")
                for what in ("index", "run")
            ),
        ),
    ),
    "evaluate": Scenario(("evaluate", "synthetic", "--quiet"), _RANKED),
    "report": Scenario(("report", "synthetic", "--quiet"), _SCORED),
    "errors": Scenario(("errors", "synthetic", "--quiet"), _SCORED),
    "derive neighbours": Scenario(
        ("derive", "neighbours", "--corpus", "synthetic", "--codes", "T_ARot,TDelNN", "--quiet"), (SYNTHETIC,)
    ),
    "derive summaries": Scenario(("derive", "summaries", "--corpus", "synthetic", "--quiet"), (SYNTHETIC,)),
    "export table": Scenario(("export", "papers", "papers.parquet"), (SYNTHETIC,)),
    "export beir": Scenario(
        ("export", "beir", "written", "--corpus", "synthetic"), (SYNTHETIC,), may_refuse=True
    ),
    "export run": Scenario(("export", "run", "1", "ranked.trec.gz", "--quiet"), (SYNTHETIC, *_LEXICAL)),
    "remove run": Scenario(("remove", "run", "1", "--yes", "--quiet"), _SCORED, may_refuse=True),
    "remove corpus": Scenario(
        ("remove", "corpus", "synthetic", "--yes", "--quiet"), _SCORED, may_refuse=True
    ),
    "gc": Scenario(
        ("gc", "--yes", "--quiet"),
        (*_VECTORS, *_LEXICAL, ("remove", "corpus", "synthetic", "--yes", "--quiet")),
    ),
}


def write_inputs(folder: Path, *, with_models: bool) -> None:
    """What the scenarios read: sources, an encoder, texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    papers = [paper(number) for number in range(60)]
    qrels = "q1\tp1\t1\nq2\tp3\t1\n"
    write_beir(folder / "beir", papers, qrels, queries=2)
    newer = [paper(number, **({"title": f"Newer {number}"} if number % 3 else {})) for number in range(5, 65)]
    write_beir(folder / "newer", newer, "q1\tp7\t1\nq2\tp8\t1\n", queries=2)
    shutil.make_archive(str(folder / "s2orc"), "gztar", DATA / "s2orc_2020")
    if with_models:
        from tests.toy_encoder import build_toy_encoder

        build_toy_encoder(folder / "toy")
    rows: dict[str, list[Any]] = {
        "id": [str(number) for number in range(200)],
        "text": [f"paper {number} of a citation graph" for number in range(200)],
    }
    pq.write_table(pa.table(rows), folder / "texts.parquet")


PLAIN_MODULES: Final = (
    "duckdb_engine",
    "psycopg",
    "sklearn.feature_extraction.text",
    "tantivy",
    "pinakes.database.postgres_backend",
    "pinakes.evaluate.evaluate",
    "pinakes.export.beir",
    "pinakes.export.tables",
    "pinakes.index.index",
    "pinakes.load.load",
    "pinakes.queries.install",
    "pinakes.removal.gc",
    "pinakes.removal.remove",
    "pinakes.report.gather",
    "pinakes.report.status",
    "pinakes.run.import_run",
    "pinakes.run.run",
    "pinakes.sample.sample",
    "pinakes.systems.bm25",
    "pinakes.systems.sparse",
    "pinakes.systems.tfidf",
    "pinakes.texts.summaries.derive",
)
MODEL_MODULES: Final = ("faiss", "transformers", "pinakes.index.approximate", "pinakes.systems.dense")


def list_modules(names: Iterable[str]) -> list[str]:
    """What is imported before scenarios of these names are run."""
    return [*PLAIN_MODULES, *(MODEL_MODULES if need_models(names) else ())]


def need_models(names: Iterable[str]) -> bool:
    """Whether one of the scenarios uses the toy encoder."""
    return any("{inputs}/toy" in repr(SCENARIOS[name]) for name in names)


def fill_in(words: Words, inputs: Path) -> list[str]:
    """A command line with the folder of the inputs."""
    return [word.replace("{inputs}", str(inputs)) for word in words]


def make_small_chunks() -> None:
    """Have loads commit every few rows, so that there is something to disturb between."""
    from pinakes.loaders import staging
    from pinakes.loaders.reading import blocks

    vars(staging).update(CHUNK_ROWS=20, TRANSACTION_ROWS=40)
    vars(blocks).update(BLOCK_BYTES=4_096)
