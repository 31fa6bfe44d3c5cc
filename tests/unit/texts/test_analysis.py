"""An analysis is kept without its text, and read with it again."""

import orjson
import pytest

from pinakes.errors import InputError
from pinakes.texts.neighbours.analysers import find_analyser
from pinakes.texts.neighbours.analysis import AnalysedPaper, AnalysedText, read_json, write_json
from tests.tagging import tag_text

TEXT = tag_text(
    'We say "no".\tDeep models run.',
    'We/P say/V "/. no/D "/. ./.',
    "Deep/A models/N run/V ./.",
    phrases=("deep models",),
    list_tags="PV.N..ANV.",
    altered={2: "``", 4: "''"},
)


def test_the_json_is_compact_and_without_the_text() -> None:
    assert orjson.loads(write_json(AnalysedPaper(TEXT, None))) == {
        "title": {
            "tokens": [0, 2, 1, 3, 1, 1, 0, 2, 0, 1, 0, 1, 1, 4, 1, 6, 1, 3, 0, 1],
            "tags": "PV.D..ANV.",
            "sentences": [6, 4],
            "phrases": [6, 8],
            "list_tags": "PV.N..ANV.",
            "altered": {"2": "``", "4": "''"},
        },
        "abstract": None,
    }


def test_what_is_read_is_what_was_written() -> None:
    read = read_json(write_json(AnalysedPaper(None, TEXT)), None, TEXT.text).abstract
    assert read == TEXT
    assert read is not None
    assert read.words == ["We", "say", '"', "no", '"', ".", "Deep", "models", "run", "."]
    assert read.published_words == ["We", "say", "``", "no", "''", ".", "Deep", "models", "run", "."]
    assert read.sentence_spans == [(0, 12), (13, 29)]
    assert read.phrase_texts == ["deep models"]


@pytest.mark.parametrize(
    "text", ["", " \t\n", "Deep models. They ran.", "深い。", "\ud800 x", "1 2", "👩‍👩‍👧 a"]
)
def test_every_text_comes_back(text: str) -> None:
    paper = find_analyser().analyse(text, text)
    assert read_json(write_json(paper), text, text) == paper


@pytest.mark.parametrize(("title", "abstract"), [(None, None), ("We", None), (TEXT.text, "An abstract.")])
def test_the_analysis_of_another_text_is_refused(title: str | None, abstract: str | None) -> None:
    with pytest.raises(InputError, match="derive again"):
        read_json(write_json(AnalysedPaper(TEXT, None)), title, abstract)


def test_tags_of_one_list_are_those_of_the_sentences_where_nothing_else_is_said() -> None:
    assert AnalysedText("a b", [0, 2], [1, 3], "DN", [(0, 2)]).list_tags == "DN"
