"""Abstracts analysed and indexed by sparse BM25, against bm25s, tantivy and bare passes over the same texts.

    python benchmarks/analysis.py [--quick] [--json FILE] [--threads N] [--papers N]

The texts are made up: 160 words each, of two to fourteen letters, a third of the frequent ones stop words,
with capitals and punctuation; one text of five has characters beyond ASCII. A word of rank r has a share of
(r + 10) ** -1.6, which gives as many distinct words as 26,656 real abstracts have (51,000). Every row is a
process of its own that reads the texts part by part in Arrow's form, as a database gives them; the peers'
interfaces take Python's strings, which are made of them. `analyse` are the terms
alone, `index` the files of an index too. The peers read `--peer-papers` texts at most. The bare
passes are what nothing that reads these texts can be faster than: their bytes copied; split at spaces by
Arrow's code. Leaves out: the database, and how a process starts and compiles (told
apart).
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from _common import describe_machine, list_missing, make_parser, report, run_worker

WORDS = 160
TEXTS_AT_ONCE = 10_000
TABLE_SIZE = 1 << 24
BEYOND_ASCII = ("naïve", "Schrödinger’s", "α-helix", "5 µm", "“quoted”", "±", "São", "β1–β2")


def main() -> None:
    options = read_options()
    if options.worker:
        print(json.dumps(WORKERS[options.worker](options, Path(options.folder))))
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        run_worker(__file__, "make", name)
        size = sum(file.stat().st_size for file in Path(name).iterdir())
        found = {worker: run_worker(__file__, worker, name) for worker in list_workers()}
    rows = [
        {
            "what": worker,
            "threads": one["threads"],
            "papers": one["papers"],
            "µs/paper": one["clock_s"] / one["papers"] * 1e6,
            "processor µs/paper": one["processor_s"] / one["papers"] * 1e6,
            "papers/s": one["papers"] / one["clock_s"],
            "peak MiB": one["peak_MiB"],
        }
        for worker, one in found.items()
    ]
    processor = {row["what"]: row["processor µs/paper"] for row in rows}
    ours = processor["pinakes analyse, one thread"]
    figures = {
        "papers": options.papers,
        "bytes_per_paper": size / options.papers,
        "ratio_bm25s": processor["bm25s tokenize"] / ours if "bm25s tokenize" in processor else None,
        "ratio_tantivy_analyze": processor["tantivy analyze"] / ours,
        "ratio_tantivy_index": processor["tantivy index"] / processor["pinakes index"],
        "of_bare_split": processor["bare split"] / ours,
        "compile_s": found["pinakes index"]["compile_s"],
        "vocabulary": found["pinakes analyse"]["vocabulary"],
        **describe_machine(),
    }
    report(f"Text analysis, {options.papers} papers", rows, figures, options.json)


def read_options() -> argparse.Namespace:
    parser = make_parser("Text analysis of sparse BM25 against bm25s and tantivy.")
    parser.add_argument("--papers", type=int, help="texts (default: 200,000; 20,000 with --quick)")
    parser.add_argument("--peer-papers", type=int, default=20_000, help="texts that the peers read")
    parser.add_argument("--vocabulary", type=int, default=500_000, help="distinct words")
    parser.add_argument("--scratch", help="where the files of the run lie")
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.papers = options.papers or (20_000 if options.quick else 200_000)
    options.peer_papers = min(options.peer_papers, options.papers)
    return options


def list_workers() -> list[str]:
    """What is timed; a peer that is not installed is named."""
    missing = list_missing(["bm25s"])
    return [worker for worker in WORKERS if worker != "make" and worker.split()[0] not in missing]


def make_texts(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """texts.arrow: `options.papers` texts of about `WORDS` words."""
    generator = np.random.default_rng(1)
    words = make_words(generator, options.vocabulary)
    shares = np.cumsum((np.arange(1, len(words) + 1) + 10) ** -1.6)
    table = np.searchsorted(shares / shares[-1], (np.arange(TABLE_SIZE) + 0.5) / TABLE_SIZE).astype(np.int32)
    schema = pa.schema([("text", pa.string())])
    with pa.OSFile(str(folder / "texts.arrow"), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for start in range(0, options.papers, TEXTS_AT_ONCE):
            count = min(TEXTS_AT_ONCE, options.papers - start)
            drawn = words[table[generator.integers(0, TABLE_SIZE, (count, WORDS), dtype=np.int32)]]
            strange = generator.random((count, WORDS)) < 0.02
            strange[generator.random(count) > 0.2] = False
            drawn[strange] = generator.choice(np.array(BEYOND_ASCII, object), strange.sum())
            ends = np.where(generator.random((count, WORDS)) < 0.1, ", ", " ")
            ends[:, 11::12] = ". "
            texts = (drawn + ends.astype(object)).sum(axis=1)
            writer.write(pa.record_batch([pa.array(text[:1].upper() + text[1:] for text in texts)], schema))
    return {}


def make_words(generator: np.random.Generator, count: int) -> np.ndarray:
    """Distinct words, one of three a stop word while there are any, one of fifteen with a capital."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    shares = 1 / np.arange(3, 29)
    words: dict[str, None] = {}
    stop_words = iter(sorted(ENGLISH_STOP_WORDS, key=len))
    while len(words) < count:
        lengths = generator.binomial(12, 0.48, count) + 2
        drawn = generator.choice(letters, int(lengths.sum()), p=shares / shares.sum())
        for part in np.split(drawn, np.cumsum(lengths)[:-1]):
            word = "".join(part)
            words[word.capitalize() if len(words) % 15 == 0 else word] = None
            if len(words) % 3 == 0:
                words.update(dict.fromkeys(islice(stop_words, 1)))
    return np.array(list(words)[:count], object)


def read_parts(folder: Path, count: int) -> Iterator[pa.Array]:
    with pa.OSFile(str(folder / "texts.arrow")) as source:
        reader = pa.ipc.open_file(source)
        for number in range(-(-count // TEXTS_AT_ONCE)):
            yield reader.get_batch(number)["text"][: count - number * TEXTS_AT_ONCE]


def read_texts(folder: Path, count: int) -> Iterator[str]:
    for part in read_parts(folder, count):
        yield from part.to_pylist()


def measure(papers: int, threads: int, work: Callable[[], Any]) -> dict[str, Any]:
    clock_s, processor_s = time.perf_counter(), time.process_time()
    work()
    return {
        "papers": papers,
        "threads": threads,
        "clock_s": time.perf_counter() - clock_s,
        "processor_s": time.process_time() - processor_s,
        "peak_MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def pass_bytes(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    def work() -> None:
        for part in read_parts(folder, options.papers):
            pa.concat_arrays([part, part[:0]])

    return measure(options.papers, 1, work)


def split_at_spaces(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    def work() -> None:
        for part in read_parts(folder, options.papers):
            pc.ascii_split_whitespace(part)

    return measure(options.papers, 1, work)


def number(texts: Iterable[pa.Array]) -> Iterator[Any]:
    """The texts as documents, numbered from 0."""
    from pinakes.indexers.sparse_bm25.analyse import TextBlock

    first = 0
    for part in texts:
        yield TextBlock(np.arange(first, first + len(part)), part)
        first += len(part)


def analyse(options: argparse.Namespace, folder: Path, threads: int) -> dict[str, Any]:
    from pinakes.indexers.analysis import named_analysis
    from pinakes.indexers.sparse_bm25.analyse import GrowingVocabulary, analyse_documents
    from pinakes.indexers.sparse_bm25.build import BLOCK_ROWS, DEFAULT_ANALYSIS

    def read(texts: Iterable[pa.Array]) -> int:
        vocabulary = GrowingVocabulary()
        analysis = named_analysis(DEFAULT_ANALYSIS)
        for _ in analyse_documents(number(texts), analysis, vocabulary, BLOCK_ROWS, None, threads):
            pass
        return len(vocabulary)

    read([pa.array(["compiled"])])
    sizes = []
    found = measure(options.papers, threads, lambda: sizes.append(read(read_parts(folder, options.papers))))
    return {**found, "vocabulary": sizes[0]}


def analyse_alone(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    return analyse(options, folder, 1)


def analyse_in_threads(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    return analyse(options, folder, options.threads)


def index(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    from pinakes.indexers.sparse_bm25.build import build_sparse_bm25

    def build(name: str, texts: Iterable[pa.Array]) -> None:
        build_sparse_bm25(folder / name, number(texts), threads=options.threads)

    started = time.perf_counter()
    build("warm", [pa.array(["compiled"])])
    compile_s = time.perf_counter() - started
    texts = read_parts(folder, options.papers)
    return {**measure(options.papers, options.threads, lambda: build("index", texts)), "compile_s": compile_s}


def analyse_by_tantivy(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The analyser itself, text by text."""
    from pinakes.indexers.analysis import named_analysis

    analyser = named_analysis("lucene").build()

    def work() -> None:
        for text in read_texts(folder, options.peer_papers):
            analyser.analyze(text)

    return measure(options.peer_papers, 1, work)


def index_by_tantivy(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    import tantivy

    from pinakes.indexers.analysis import named_analysis

    schema = tantivy.SchemaBuilder().add_text_field("text", tokenizer_name="own", index_option="freq").build()
    (folder / "tantivy").mkdir()
    peer = tantivy.Index(schema, path=str(folder / "tantivy"))
    peer.register_tokenizer("own", named_analysis("lucene").build())

    def work() -> None:
        writer = peer.writer(1_000_000_000, options.threads)
        for text in read_texts(folder, options.peer_papers):
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()

    return measure(options.peer_papers, options.threads, work)


def tokenize_by_bm25s(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    import bm25s
    import Stemmer

    def work() -> None:
        texts = list(read_texts(folder, options.peer_papers))
        bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)

    return measure(options.peer_papers, 1, work)


WORKERS: dict[str, Callable[[argparse.Namespace, Path], dict[str, Any]]] = {
    "make": make_texts,
    "bare pass": pass_bytes,
    "bare split": split_at_spaces,
    "pinakes analyse, one thread": analyse_alone,
    "pinakes analyse": analyse_in_threads,
    "pinakes index": index,
    "bm25s tokenize": tokenize_by_bm25s,
    "tantivy analyze": analyse_by_tantivy,
    "tantivy index": index_by_tantivy,
}


if __name__ == "__main__":
    main()
