"""A made-up collection in BEIR's format under the name of SciFact, with judged queries and scored runs."""

import random
from pathlib import Path

import orjson

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.load.load import LoadRequest, load
from pinakes.queries.install import initialise
from pinakes.run.import_run import ImportRequest, import_run

DEPTH = 50
WORDS = ["graph", "retrieval", "citation", "model", "cell", "protein", "network", "evidence", "language"]


def prepare(database: Database, folder: Path, queries: int, papers: int, systems: int) -> None:
    """Load the collection, import a ranking of each system and score them."""
    draw = random.Random(7)
    initialise(database)
    source = folder / "beir"
    (source / "qrels").mkdir(parents=True)
    with (source / "corpus.jsonl").open("wb") as stream:
        for number in range(papers):
            title, text = (" ".join(draw.choices(WORDS, k=count)) for count in (10, 120))
            stream.write(orjson.dumps({"_id": f"p{number}", "title": title, "text": text}) + b"\n")
    judged = {}
    with (source / "queries.jsonl").open("wb") as stream:
        for number in range(queries):
            text = " ".join(draw.choices(WORDS, k=14))
            stream.write(orjson.dumps({"_id": f"q{number}", "text": text}) + b"\n")
            judged[f"q{number}"] = draw.sample(range(papers), draw.randint(1, 30))
    with (source / "qrels" / "test.tsv").open("w", encoding="utf-8") as stream:
        stream.write("query-id\tcorpus-id\tscore\n")
        stream.writelines(f"{query}\tp{one}\t{1 + one % 2}\n" for query, of in judged.items() for one in of)
    load(database, LoadRequest("beir", source, corpus="scifact"))
    for system in range(systems):
        file = folder / f"{system}.trec"
        with file.open("w", encoding="utf-8") as stream:
            for query, of in judged.items():
                found = {
                    *draw.sample(of, min(len(of), draw.randint(0, 8))),
                    *draw.sample(range(papers), DEPTH),
                }
                ranked = sorted(found, key=lambda _one: draw.random())[:DEPTH]
                stream.writelines(
                    f"{query} Q0 p{one} {rank} {-rank} made\n" for rank, one in enumerate(ranked, 1)
                )
        import_run(database, ImportRequest("scifact", f"system{system}", [file]))
    evaluate(database, "scifact")
