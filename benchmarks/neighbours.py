"""How fast the 32 textual neighbours of papers are made: against tagging anew for every code, in one run.

    python benchmarks/neighbours.py [--quick] [--json FILE] [--threads N] [--papers FILE ...]

Four ways over the same papers: `pinakes derive neighbours` with one process and with N, a loop that analyses
a paper once and makes all 32 (one process, no database), and the loop that research code has: for each code
the paper is split, tagged and searched for noun phrases again. All have to make the same neighbours.
Papers are JSON Lines with title and abstract. "core-s" is the processor time of all processes of a way. The
process that reads and stores needs a part of it, so that N jobs on N cores stay below N times one's rate.
Leaves out: other taggers than TextBlob's own.
"""

import argparse
import gzip
import itertools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from _common import SHARED_DATA, describe_machine, make_parser, report

from pinakes.database import connect
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.texts.corpus_neighbours import NeighbourRequest, derive_neighbours
from pinakes.texts.neighbours.analysers import find_analyser
from pinakes.texts.neighbours.antonyms import find_antonyms
from pinakes.texts.neighbours.codes import CODES
from pinakes.texts.neighbours.generate import Settings, make_variants
from pinakes.texts.neighbours.phrases import choose_top_phrases, count_phrases

PAPERS = [SHARED_DATA / "paperlists" / f"{venue}.jsonl.gz" for venue in ("acl", "emnlp", "naacl", "coling")]
CORPUS = "papers"
Paper = tuple[str, str, str]
Row = dict[str, Any]


def main() -> None:
    parser = make_parser("32 textual neighbours: one analysis against one for every code.")
    parser.add_argument(
        "--papers", type=Path, nargs="+", default=PAPERS, help="files of JSON Lines with title and abstract"
    )
    options = parser.parse_args()
    options.threads = max(2, options.threads)
    papers = read_papers(options.papers, 300 if options.quick else 8_000)
    few = papers[: 40 if options.quick else 200]  # of what takes so long
    settings = prepare(papers)
    anew, made_anew = measure(
        "analysed for every code", few, lambda: [tag_anew(paper, settings) for paper in few]
    )
    once, made_once = measure(
        "analysed once", papers, lambda: [tag_once(paper, settings) for paper in papers]
    )
    if made_once[: len(few)] != made_anew:
        raise SystemExit("the two loops make different neighbours")
    rows = [anew, once, *measure_commands(papers, options)]
    rates = {row["way"]: row["papers/s"] for row in rows}
    figures = {
        "neighbours of the papers": sum(len(made) for made in made_once),
        "once against anew": rates["analysed once"] / rates["analysed for every code"],
        "command, 1 job, against anew": rates["derive, 1 job"] / rates["analysed for every code"],
        f"{options.threads} jobs against 1": rates[f"derive, {options.threads} jobs"]
        / rates["derive, 1 job"],
        **describe_machine(),
    }
    title = f"{len(CODES)} neighbours of {len(papers):,} papers ({count_words(papers):,} words)"
    report(title, rows, figures, options.json)


def read_papers(files: Sequence[Path], count: int) -> list[Paper]:
    """source id, title, abstract."""
    records = itertools.chain.from_iterable(map(read_records, files))
    whole = ((row["title"], row["abstract"]) for row in records if row.get("title") and row.get("abstract"))
    numbered = enumerate(itertools.islice(whole, count))
    return [(f"p{number}", title, abstract) for number, (title, abstract) in numbered]


def read_records(file: Path) -> Iterator[Row]:
    if not file.is_file():
        raise SystemExit(f"there is no {file}; name files of JSON Lines with title and abstract by --papers")
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def count_words(papers: Sequence[Paper]) -> int:
    return sum(len(title.split()) + len(abstract.split()) for _, title, abstract in papers)


def prepare(papers: Sequence[Paper]) -> Settings:
    """What all ways make the neighbours with; everything is imported and read."""
    analyser, antonyms = find_analyser(), find_antonyms()
    analysed = (analyser.analyse(title, abstract).abstract for _, title, abstract in papers)
    top = frozenset(choose_top_phrases(count_phrases(analysed)))
    return Settings(1, CORPUS, antonyms=antonyms, top_phrases=top)


def tag_once(paper: Paper, settings: Settings) -> list[Any]:
    source_id, title, abstract = paper
    return make_variants(find_analyser().analyse(title, abstract), source_id, CODES, settings)


def tag_anew(paper: Paper, settings: Settings) -> list[Any]:
    source_id, title, abstract = paper
    return [
        made
        for code in CODES
        for made in make_variants(find_analyser().analyse(title, abstract), source_id, [code], settings)
    ]


def measure(way: str, papers: Sequence[Paper], job: Callable[[], Any]) -> tuple[Row, Any]:
    started, used_s = time.perf_counter(), count_core_seconds()
    made = job()
    elapsed_s = time.perf_counter() - started
    row = {"way": way, "papers": len(papers), "s": elapsed_s, "core-s": count_core_seconds() - used_s}
    return row | {"papers/s": len(papers) / elapsed_s}, made


def count_core_seconds() -> float:
    """Processor time of this process and of those that it has started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def measure_commands(papers: Sequence[Paper], options: argparse.Namespace) -> list[Row]:
    """The whole command, with reading, storing and counting, in a database of its own each time."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "papers.jsonl"
        named = (dict(zip(("source_id", "title", "abstract"), paper, strict=True)) for paper in papers)
        file.write_text("".join(json.dumps(row) + "\n" for row in named), encoding="utf-8")
        stored = []
        for jobs in (1, options.threads):
            with connect(f"duckdb:///{folder}/{jobs}.duckdb") as database:
                initialise(database)
                load(database, LoadRequest("jsonl", file, corpus=CORPUS))
                way = f"derive, {jobs} job{'s' if jobs > 1 else ''}"
                request = NeighbourRequest(CORPUS, jobs=jobs)
                rows.append(measure(way, papers, partial(derive_neighbours, database, request))[0])
                with database.read() as session:
                    query = (
                        "SELECT paper_id, code, title, abstract FROM paper_variants ORDER BY paper_id, code"
                    )
                    stored.append(session.fetch_arrow(query))
        if not stored[0].equals(stored[1]):
            raise SystemExit("the number of processes makes a difference")
    return rows


if __name__ == "__main__":
    main()
