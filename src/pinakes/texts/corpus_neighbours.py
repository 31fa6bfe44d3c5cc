"""The textual neighbours of a corpus brought up to date: analyses, then variants or why there are none.

What each code makes of an analysed text is `pinakes.texts.neighbours`'; what is missing or of an older text,
`pinakes.texts.derive`'s.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.load.corpus import find_corpus
from pinakes.progress import Progress
from pinakes.schema import check_schema, paper_variants, text_analyses
from pinakes.texts.derive import derive
from pinakes.texts.generator import Generator
from pinakes.texts.neighbours.analysers import DEFAULT, find_analyser
from pinakes.texts.neighbours.analysers.base import Analyser
from pinakes.texts.neighbours.analysis import AnalysedPaper, read_json, write_json
from pinakes.texts.neighbours.antonyms import Antonyms, find_antonyms
from pinakes.texts.neighbours.codes import CODES
from pinakes.texts.neighbours.generate import Settings, Variant, make_variants
from pinakes.texts.neighbours_made import NeighboursMade, count_neighbours
from pinakes.texts.outdated import list_outdated
from pinakes.texts.top_phrases import TOP_CODE, renew_top_phrases

_VERSION: Final = 1
"""of what the codes make of an analysed text: a change of it makes other rows"""
_ANALYSIS_VERSION: Final = 1
_WITH_ANTONYMS: Final = frozenset(name for name, code in CODES.items() if code.needs == "antonyms")
LONGEST: Final = 4_000_000
"""characters of a variant, at most: T_A_WS as published repeats a text as often as it has white space"""
TOO_LONG: Final = f"more than {LONGEST:,} characters"
_MADE: Final = pa.schema(
    [("paper_id", pa.int64()), *((name, pa.string()) for name in ("code", "title", "abstract", "reason"))]
)


@dataclass(frozen=True, slots=True)
class NeighbourRequest:
    """Which neighbours of which corpus, and how they are made.

    Attributes:
        codes: of `CODES`; none: all of them.
        seed: of what is drawn at random.
        analyser: what finds sentences, words and their tags: textblob, nltk or spacy.
        as_published: as the published code makes them, with its faults.
        jobs: processes that analyse and make.
    """

    corpus: str
    codes: tuple[str, ...] = ()
    seed: int = 1
    analyser: str = DEFAULT
    as_published: bool = False
    jobs: int = 1


def derive_neighbours(
    database: Database, request: NeighbourRequest, *, progress: Progress | None = None
) -> NeighboursMade:
    """Make the neighbours that papers of the corpus lack, or that are of an older text; what there is now.

    Raises:
        UnknownNameError: no such corpus, code or analyser.
        InputError: a code is none, or what analyses or finds antonyms is not installed.
        PinakesError: another process has made neighbours with other phrases of the corpus since.
    """
    started = time.monotonic()
    codes = choose_codes(request.codes)
    analyser, antonyms = find_analyser(request.analyser), _find_antonyms(codes)
    producer = name_producer(request, analyser, antonyms)
    analyses = _make_analyses(analyser)
    settings = Settings(request.seed, request.corpus, request.as_published, antonyms)
    variants = Generator(producer, paper_variants, partial(make_rows, settings), codes, analyses.producer)
    check_schema(database)
    with database.read() as session:
        corpus_id = find_corpus(session, request.corpus)
        lacking = list_outdated(session, corpus_id, variants)["paper_id"].to_numpy()
    among: npt.NDArray[np.int64] | None = None if TOP_CODE in codes else lacking
    analysed = derive(database, request.corpus, analyses, jobs=request.jobs, among=among, progress=progress)
    if TOP_CODE in codes:
        variants = renew_top_phrases(database, corpus_id, variants, settings, make_rows)
    derived = derive(database, request.corpus, variants, jobs=request.jobs, progress=progress)
    with database.read() as session:
        made = count_neighbours(session, corpus_id, producer, codes)
    return NeighboursMade(
        request.corpus,
        producer,
        analysed.papers,
        derived.papers,
        derived.rows,
        *made,
        elapsed_s=time.monotonic() - started,
    )


def split_codes(given: str | None) -> tuple[str, ...]:
    """The codes of an option, with commas between; none where it is not given.

    Raises `InputError` where it is given and names none.

    >>> split_codes("T_ARot, T_AShuff")
    ('T_ARot', 'T_AShuff')
    """
    names = tuple(name for word in (given or "").split(",") if (name := word.strip()))
    if given is not None and not names:
        raise InputError("--codes names no code; leave it out for all of them.")
    return names


def choose_codes(named: Iterable[str]) -> tuple[str, ...]:
    """The codes that are named, each once, in the order of Table 1; all where none is.

    >>> choose_codes(["T_AShuff", "T_ARot", "T_AShuff"])
    ('T_ARot', 'T_AShuff')
    """
    wanted = list(named)
    for name in wanted:
        if ":" in name:
            raise InputError(
                f"--codes {name}: expected codes, no function. Neighbours of your own are texts: load them "
                "with `pinakes load csv FILE --corpus NAME --option table=variants` (columns source_id, "
                "code, title, abstract), or insert them into paper_variants."
            )
        if name not in CODES:
            raise UnknownNameError("code", name, list(CODES))
    return tuple(name for name in CODES if name in wanted or not wanted)


def _find_antonyms(codes: Iterable[str]) -> Antonyms | None:
    """The antonyms of this machine, needed now or not, so that other codes can be added to the producer's.

    None where it has none and no code needs them.
    """
    try:
        return find_antonyms()
    except InputError:
        if _WITH_ANTONYMS & set(codes):
            raise
        return None


def name_producer(request: NeighbourRequest, analyser: Analyser, antonyms: Antonyms | None) -> str:
    """The producer of the neighbours: all that they depend on."""
    published = " as-published" if request.as_published else ""
    words = analyser.producer + ("" if antonyms is None else f"+{antonyms.producer}")
    return f"neighbours {_VERSION}{published} {words} seed={request.seed}"


def _make_analyses(analyser: Analyser) -> Generator:
    producer = f"analysis {_ANALYSIS_VERSION} {analyser.producer}"
    return Generator(producer, text_analyses, partial(analyse_papers, analyser))


def analyse_papers(analyser: Analyser, papers: pa.Table) -> pa.Table:
    """Rows of `text_analyses`."""
    texts = zip(papers["title"].to_pylist(), papers["abstract"].to_pylist(), strict=True)
    analyses = [write_json(analyser.analyse(title, abstract)) for title, abstract in texts]
    return pa.table({"paper_id": papers["paper_id"], "analysis": pa.array(analyses, pa.string())})


def make_rows(settings: Settings, papers: pa.Table) -> pa.Table:
    """The neighbours that each paper lacks, or why it has none."""
    rows = []
    for row in papers.to_pylist():
        analysis = row["analysis"]
        paper = AnalysedPaper(None, None)  # of a paper without a text
        if analysis is not None:
            paper = read_json(analysis, row["title"], row["abstract"])
        for made in make_variants(paper, row["source_id"], row["codes"].split(","), settings):
            said = {"paper_id": row["paper_id"], "code": made.code}
            if not isinstance(made, Variant):
                rows.append({**said, "reason": made.reason})
            elif len(made.title or "") + len(made.abstract or "") > LONGEST:
                rows.append({**said, "reason": TOO_LONG})
            else:
                rows.append({**said, "title": made.title, "abstract": made.abstract})
    return pa.Table.from_pylist(rows, _MADE)
