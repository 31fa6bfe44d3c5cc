"""A search that asks with a paper of the corpus, or with sentences of its abstract."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.search.found import Found
from pinakes.search.search import SearchRequest, read_requested_paper, search
from pinakes.systems.base import SystemOptions
from tests.integration.test_search import named, prepare

pytestmark = pytest.mark.in_turn


def ask(database: Database, tmp_path: Path, system: str, **given: object) -> list[Found]:
    options = SystemOptions(tmp_path / database.name, precision="fp32", device="cpu")
    request = SearchRequest("csfcube", system=system, options=options, **given)  # type: ignore[arg-type]
    return search(database, request)


def test_a_paper_asks_with_title_and_abstract_or_with_chosen_sentences_in_order(untouched: Database) -> None:
    texts = {
        positions: read_requested_paper(untouched, "csfcube", "1", positions).text
        for positions in ((), (2,), (2, 1), (1, 1))
    }
    assert texts == {
        (): "Title 1 Citation graph retrieval. A model of the graph.",
        (2,): "A model of the graph.",
        (2, 1): "Citation graph retrieval. A model of the graph.",
        (1, 1): "Citation graph retrieval.",
    }


@pytest.mark.parametrize("system", ["bm25", "tfidf", "toy"])
def test_a_paper_finds_what_its_text_finds_but_not_itself(
    prepared: Database, tmp_path: Path, toy_folder: str, system: str
) -> None:
    name = named(system, toy_folder)
    prepare(prepared, tmp_path, name, corpus="csfcube")
    by_text = ask(prepared, tmp_path, name, text="A model of the graph.", k=9)
    others = [hit for hit in by_text if hit.source_id != "1"]
    assert len(others) == len(by_text) - 1 > 1
    for k in (1, 2, 9):
        found = ask(prepared, tmp_path, name, paper="1", sentences=(2,), k=k)
        assert [(hit.source_id, hit.score) for hit in found] == [
            (hit.source_id, hit.score) for hit in others[:k]
        ]
        assert [hit.rank for hit in found] == list(range(1, len(found) + 1))


REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "a paper that is not held": ({"paper": "77"}, "csfcube holds no paper '77'"),
    "a sentence that is not there": (
        {"paper": "1", "sentences": (2, 5)},
        "the abstract of 1 has no sentence 5; it has 1, 2.",
    ),
    "a sentence of no abstract": (
        {"paper": "8", "sentences": (1,)},
        "the abstract of 8 has no sentence 1; it has none: it was not split",
    ),
    "sentences of no paper": ({"text": "graph", "sentences": (1,)}, "sentences are of a paper; name it with"),
    "both": ({"text": "graph", "paper": "1"}, "expected either a text or a paper to ask with, not both"),
    "neither": ({}, "the text to search for is empty"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_cannot_be_requested_is_refused(untouched: Database, tmp_path: Path, case: str) -> None:
    given, message = REFUSED[case]
    with pytest.raises(InputError, match=message):
        ask(untouched, tmp_path, "bm25", **given)
