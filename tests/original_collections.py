"""The collections that tasks of SciRepEval were made of, tiny and made up, laid out as they are published."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.load.load import LoadRequest, load
from pinakes.schema import citations, cited_references, corpora, papers
from tests.writing import write_file, write_files, write_lines

CATEGORIES: Final = ["1.1. A", "2.1. B", "", "3.3. C"]
GOLD: Final = [
    (str(1000 + number), CATEGORIES[0 if number % 3 else (1 if number % 2 else 2 + number % 4 // 2)])
    for number in range(370)
]
"""papers of DRSM's gold file with their categories: 1.1 and 2.1 are of 60 papers or more, 3.3 is not"""

LISTED: Final[list[dict[str, Any]]] = [
    {"venue": "nips", "year": "2005", "id": "1", "title": "One", "author": "Ada; Bob", "gs_citation": 9},
    {"venue": "nips", "year": "2006", "id": "2", "title": "Two", "author": "Ada", "gs_citation": 3},
    {"venue": "nips", "year": "2010", "id": "3", "title": "Three", "author": "Ada; Cyd", "gs_citation": 2},
    {"venue": "iclr", "year": "2016", "id": "4", "title": "Four", "author": "Bob; Bob", "gs_citation": 1},
    {"venue": "iclr", "year": "2016", "id": "5", "title": "Five", "author": "Cyd", "gs_citation": 0},
    {"venue": "iclr", "year": "2011", "id": "6", "title": "Six", "author": "Dee", "gs_citation": -1},
]
"""h-indexes: Ada 2, Bob 1, Cyd 1, Dee none; the two rows of Bob on paper 4 are one paper of his"""
ARXIV: Final = {"1": "1501.00001", "4": "1601.00004"}
TWEETS: Final = {"1501.00001": (4, 0), "1601.00004": (1, 10), "1701.00009": (8, 5)}
"""arXiv id -> retweets and favourites; no corpus has a text of the last"""
REVIEWS: Final[dict[str, tuple[str, list[float]]]] = {
    "o1": ("ICLR 2021", [3, 6]),
    "o2": ("ICLR 2021", [8]),
    "o3": ("NeurIPS 2023", [5, 5, 6]),
    "o4": ("NeurIPS 2023", []),
}
HEADINGS: Final[dict[str, dict[str, list[str]]]] = {
    "1": {"Asthma": ["genetics"], "Humans": []},
    "2": {"Asthma": ["genetics", "therapy"], "Lung": ["surgery"]},
    "3": {"Lung": ["genetics"]},
    "4": {"Lung": ["surgery"], "Asthma": ["therapy"]},
    "5": {"Humans": []},
}
"""PMID -> descriptor -> qualifiers: paper 4 has two descriptors with one qualifier, 2 one, 5 none"""
FUNCTIONS: Final = [["move"], ["protect", "move"], [], ["protect"], ["protect"], ["attach"]]
"""PeTaL's level 1, paper by paper"""


def load_originals(database: Database, folder: Path) -> None:
    """Load them all, a corpus each."""
    for loader, write in _WRITERS.items():
        source = write(folder / loader)
        corpus = "nfcorpus" if loader == "beir" else None
        assert load(database, LoadRequest(loader, source, corpus=corpus)).rows_rejected == 0
    _plant_full_texts(database)


def _write_drsm(folder: Path) -> Path:
    head = "ID_PAPER\tTITLE\tABSTRACT\tDISEASE_NAME\tPRIMARY_CATEGORY\tSECONDARY_CATEGORY\tword_count\t"
    gold = "".join(f"{name}\tT{name}\tA\tCF\t{category}\t\t1\tT\n" for name, category in GOLD)
    raw = (
        "ID_PAPER\tIRRELEVANT\tCOMMENTS\tTIMESTAMP\tCURATOR\tDISEASE_NAME\tSECONDARY_CHECK\t"
        "PRIMARY_CATEGORY\tSECONDARY_CATEGORY\n"
    )
    # The raw data say the disease of a gold paper again, at another place, and name a paper without a text.
    raw += "1005\t\t\t\tcurator1\tCF\t\t2.1. B\t\n9\t\t\t\tcurator1\tCF\t\t2.1. B\t\n"
    return write_files(folder, {"gold.tsv": f"{head}TRIMMED_ABSTRACT\n{gold}", "raw.tsv": raw})


def _write_petal(folder: Path) -> Path:
    records = [
        {"petalID": number, "title": ["words"], "abstract": ["more"], "level1": functions}
        for number, functions in enumerate(FUNCTIONS)
    ]
    return write_files(folder, {"golden.json": records})


def _write_paperlists(folder: Path) -> Path:
    records = [
        {
            **record,
            **({"arxiv": f"https://arxiv.org/abs/{ARXIV[record['id']]}"} if record["id"] in ARXIV else {}),
        }
        for record in LISTED
    ]
    return write_lines(folder / "lists.jsonl", *records).parent


def _write_openreview(folder: Path) -> Path:
    records = [
        {
            "id": name,
            "title": name,
            "abstract": "a",
            "conference": venue,
            "review_scores": [{"RECOMMENDATION": score, "SOUNDNESS_CORRECTNESS": 1} for score in scores],
        }
        for name, (venue, scores) in REVIEWS.items()
    ]
    return write_lines(folder / "reviews.jsonl", *records).parent


def _write_tweetpap(folder: Path) -> Path:
    head = "Arxiv_id,cite,publish_year,retweets,id,username,abs_pdf,favorites,tweet_year\n"
    rows = "".join(
        f"{name},1,2015,{again},1.0,x,abs,{liked},2016\n" for name, (again, liked) in TWEETS.items()
    )
    return write_files(folder, {"papers.csv": head + rows})


def _write_pubmed(folder: Path) -> Path:
    articles = "".join(
        f"<PubmedArticle><MedlineCitation><PMID>{name}</PMID><Article><ArticleTitle>T{name}</ArticleTitle></Article>"
        + "<MeshHeadingList>"
        + "".join(
            f"<MeshHeading><DescriptorName>{descriptor}</DescriptorName>"
            + "".join(f"<QualifierName>{qualifier}</QualifierName>" for qualifier in qualifiers)
            + "</MeshHeading>"
            for descriptor, qualifiers in headings.items()
        )
        + "</MeshHeadingList></MedlineCitation></PubmedArticle>"
        for name, headings in HEADINGS.items()
    )
    return write_file(folder / "pubmed.xml", f"<PubmedArticleSet>{articles}</PubmedArticleSet>").parent


def _write_relish(folder: Path) -> Path:
    judged = [
        {"uid": "u1", "pmid": "1", "response": {"relevant": ["2"], "partial": ["3"], "irrelevant": ["4"]}},
        {"uid": "u2", "pmid": "1", "response": {"relevant": ["3"], "partial": ["4"], "irrelevant": ["2"]}},
    ]
    texts = "PMID\ttitle\tabstract\n1\tOne\tA\n2\tTwo\tB\n"
    return write_files(folder, {"RELISH_v1.json": judged, "texts.tsv": texts})


def _write_beir(folder: Path) -> Path:
    write_lines(
        folder / "corpus.jsonl", *({"_id": f"MED-{n}", "title": f"T{n}", "text": "x"} for n in (1, 2, 3))
    )
    write_lines(folder / "queries.jsonl", *({"_id": f"P-{n}", "text": f"question {n}"} for n in (1, 2)))
    head = "query-id\tcorpus-id\tscore\n"
    return write_files(
        folder, {"qrels/test.tsv": f"{head}P-1\tMED-2\t2\n", "qrels/train.tsv": f"{head}P-2\tMED-1\t1\n"}
    )


def _write_trec_covid(folder: Path) -> Path:
    topic = (
        '<topics task="COVIDSearch Round 5"><topic number="1"><query>origin</query>'
        "<question>what is the origin</question><narrative>seeking studies</narrative></topic></topics>"
    )
    return write_files(
        folder,
        {
            "metadata.csv": "cord_uid,title,abstract\na1,A,x\nb2,B,y\nc3,C,z\n",
            "topics.xml": topic,
            "qrels.txt": "1 0.5 a1 2\n1 1 b2 -1\n",
        },
    )


def _write_scidocs(folder: Path) -> Path:
    described = {"abstract": "a", "authors": ["1"], "cited_by": [], "references": [], "year": 2000}
    names = ("s1", "s2", "s3")
    metadata = {name: {**described, "paper_id": name, "title": name} for name in names}
    return write_files(
        folder,
        {
            "paper_metadata_mag_mesh.json": metadata,
            "mag/train.csv": "pid,class_label\ns1,4\n",
            "mag/val.csv": "pid,class_label\ns2,4\n",
            "mag/test.csv": "pid,class_label\ns3,5\n",
            "mesh/train.csv": "pid,class_label\ns2,1\n",
            "mesh/test.csv": "pid,class_label\ns1,0\n",
            # The iterations differ, since a load takes the same bytes once.
            **{
                f"{task}/test.qrel": f"s1 {number} s2 1\ns1 {number} s3 0\n"
                for number, task in enumerate(("cite", "cocite", "coread", "coview"))
            },
            "cite/val.qrel": "s2 0 s1 1\n",
        },
    )


def _write_specter(folder: Path) -> Path:
    names = ("p1", "p2", "p3")
    return write_files(
        folder,
        {
            "metadata.json": {name: {"paper_id": name, "title": name, "abstract": "a"} for name in names},
            "data.json": {"p1": {"p2": {"count": 5}, "p3": {"count": 1}}, "p2": {"p1": {"count": 5}}},
            "train.txt": "p2\n",
            "val.txt": "p1\n",
        },
    )


_WRITERS: Final[dict[str, Callable[[Path], Path]]] = {
    "paperlists": _write_paperlists,
    "drsm": _write_drsm,
    "petal": _write_petal,
    "openreview": _write_openreview,
    "tweetpap": _write_tweetpap,
    "pubmed": _write_pubmed,
    "relish": _write_relish,
    "beir": _write_beir,
    "trec-covid": _write_trec_covid,
    "scidocs": _write_scidocs,
    "specter": _write_specter,
}

MENTIONS: Final = {
    "w1": {"w2": 4, "w3": 5, "w4": 4, "w5": 4, "w6": 9, "w7": 3, "w1": 9, "gone": 9},
    "w2": {"w3": 4},
}
"""citing paper -> cited work -> mentions; one work is the citing paper itself, and one that we do not hold"""


def _plant_full_texts(database: Database) -> None:
    """The corpus unarxive, written into the tables: papers, works and mentions."""
    names = [f"w{number}" for number in range(1, 8)]
    with database.begin() as session:
        described = {"name": "unarxive", "title": "t", "version": "1", "licence": "l", "source": "s"}
        session.execute(sa.insert(corpora).values(corpus_id=500, **described))
        for number, name in enumerate(names, start=500_000):
            row = {"paper_id": number, "corpus_id": 500, "source_id": name, "title": name, "batch_id": 1}
            session.execute(sa.insert(papers).values(**row))
        ids = {name: 500_000 + number for number, name in enumerate(names)}
        for number, name in enumerate([*names, "gone"], start=500_000):
            work = {
                "reference_id": number,
                "corpus_id": 500,
                "reference_key": name,
                "paper_id": ids.get(name),
            }
            session.execute(sa.insert(cited_references).values(**work))
        places = {name: 500_000 + number for number, name in enumerate([*names, "gone"])}
        pairs = [
            (ids[citing], places[cited])
            for citing, works in MENTIONS.items()
            for cited, count in works.items()
            for _ in range(count)
        ]
        for number, (citing, place) in enumerate(pairs, start=500_000):
            mention = {"citation_id": number, "citing_paper_id": citing, "reference_id": place, "batch_id": 1}
            session.execute(sa.insert(citations).values(**mention))
