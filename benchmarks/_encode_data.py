"""The texts, the random encoder and the judged queries of the encoding benchmark.

Leaves out: what is measured with them.
"""

import csv
import gzip
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _common import SHARED_DATA

SCIFACT = SHARED_DATA / "scifact"
SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
BERT_VOCABULARY = 30522


def read_texts(count: int) -> tuple[str, list[str]]:
    """Where the texts are from, and `count` of them spread over the whole corpus, again where it ends."""
    path = SCIFACT / "corpus.jsonl.gz"
    if not path.is_file():
        return "made here", make_texts(count)
    papers = _read_lines(path)
    step = max(1, len(papers) // count)
    texts = [f"{paper['title']} {paper['text']}" for paper in papers[::step]]
    return "SciFact", (texts * math.ceil(count / len(texts)))[:count]


def make_texts(count: int, seed: int = 1) -> list[str]:
    """Texts of made-up words with the lengths of abstracts: 60 to 400 words, most about 190."""
    generator = random.Random(seed)
    words = ["".join(generator.choices("aeioubcdlmnprst", k=generator.randint(3, 9))) for _ in range(3000)]
    lengths = [min(400, max(60, round(generator.gauss(190, 60)))) for _ in range(count)]
    return [" ".join(generator.choices(words, k=length // 2)) for length in lengths]


def build_random_bert(folder: Path, texts: list[str], seed: int = 1, **shape: int) -> Path:
    """An encoder of BERT-base's shape, but for `shape`: random weights, mean pooling, the texts' words.

    Words that are not in it fall into characters, so that lengths are about those of a trained tokenizer.
    """
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder.mkdir(parents=True)
    counts = Counter(word for text in texts[:8192] for word in text.lower().split())
    characters = sorted({character for word in counts for character in word})
    known = [*SPECIAL_TOKENS, *characters, *(f"##{character}" for character in characters)]
    known += [word for word, _ in counts.most_common() if len(word) > 1]
    vocabulary = list(dict.fromkeys(known))[:BERT_VOCABULARY]
    tokenizer = BertTokenizer(
        vocab={token: number for number, token in enumerate(vocabulary)}, model_max_length=512
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = BertConfig(vocab_size=BERT_VOCABULARY, **shape)
    BertModel(config).save_pretrained(folder)
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate([("Transformer", ""), ("Pooling", "1_Pooling")])
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 512, "do_lower_case": false}')
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": config.hidden_size, "pooling_mode_mean_tokens": True})
    )
    return folder


def ndcg_at_10(encode: Callable[[list[str]], np.ndarray]) -> float:
    """The mean nDCG@10 on SciFact's test queries, all papers ranked by cosine."""
    papers, queries = _read_lines(SCIFACT / "corpus.jsonl.gz"), _read_lines(SCIFACT / "queries.jsonl")
    grades = _read_grades()
    requested = [query for query in queries if query["_id"] in grades]
    documents = _unit(encode([f"{paper['title']} {paper['text']}" for paper in papers]))
    scores = _unit(encode([query["text"] for query in requested])) @ documents.T
    ids = np.array([paper["_id"] for paper in papers])
    values = [
        _ndcg(ids[np.argsort(-row, kind="stable")[:10]], grades[query["_id"]])
        for query, row in zip(requested, scores, strict=True)
    ]
    return float(np.mean(values))


def _ndcg(found: np.ndarray, grades: dict[str, int]) -> float:
    gained = sum(grades.get(paper, 0) / math.log2(rank + 2) for rank, paper in enumerate(found))
    ideal = sum(
        grade / math.log2(rank + 2) for rank, grade in enumerate(sorted(grades.values(), reverse=True)[:10])
    )
    return gained / ideal


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _read_lines(path: Path) -> list[dict[str, str]]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _read_grades() -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    with (SCIFACT / "qrels" / "test.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if int(row["score"]):
                grades.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return grades
