"""`summarize`: the sentences of a paper, or of a text file, that answer a query best."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.report.output import Output
from pinakes.report.present.summary import find_terms, print_summary
from pinakes.schema import cited_references, papers, sections
from pinakes.search.documents import Document, ScoredSentence, Sentence, Summary
from pinakes.search.sentence_scorers import ScorerOptions
from pinakes.search.summarize import SummaryRequest, summarize
from pinakes.search.text_files import decode_text
from tests.calling import make_call
from tests.summary_worlds import add_world
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn

TEXT = """Ranking papers is hard.

# Methods
We rank papers by citations, see Fig. 3 of Li et al. for details. The weather is
fine.

## Results of *ranking*
Ranks of papers are merged.
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def list_found(summary: Summary) -> list[tuple[int, str | None, str]]:
    return [(one.sentence.number, one.sentence.section, one.sentence.text) for one in summary.sentences]


def ask(database: Database | None = None, **asked: Any) -> Summary:
    return summarize(database, SummaryRequest(**asked))


def test_a_files_best_sentences_come_in_its_order_with_their_headings(file: Path) -> None:
    found = ask(file=file, query="rank papers by citations", k=2)
    assert list_found(found) == [
        (1, None, "Ranking papers is hard."),
        (2, "Methods", "We rank papers by citations, see Fig. 3 of Li et al. for details."),
    ]
    assert found.document.sentences[3] == Sentence(
        4, 2, 1, "Results of *ranking*", "Ranks of papers are merged."
    )
    assert (found.scorer, found.notes) == ("tfidf of words", ())
    assert found.sentences[1].score > found.sentences[0].score > 0


def test_of_equal_scores_the_first_sentence_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("One graph.\n\nOther words.\n\nOne graph.\n\nOne graph.")
    assert [number for number, *_rest in list_found(ask(file=path, query="graph", k=2))] == [1, 3]


def test_fewer_than_k_are_said(file: Path) -> None:
    found = ask(file=file, query="weather", k=3)
    assert len(found.sentences) == 1
    assert found.notes == ("1 of 4 sentences share a term with the query; 3 were asked for.",)
    assert ask(file=file, query="zebra").notes == ("None of 4 sentences shares a term with the query.",)
    every = ask(file=file, query="the weather of ranks of papers", system="bm25", k=50)
    assert len(every.sentences) == 4
    assert every.notes == ("The document has 4 sentences; 50 were asked for.",)


def test_lines_are_the_sentences_of_the_source(file: Path) -> None:
    found = ask(file=file, query="weather", splitter="source")
    assert list_found(found) == [
        (2, "Methods", "We rank papers by citations, see Fig. 3 of Li et al. for details. The weather is")
    ]


def test_trigrams_of_characters_meet_what_words_do_not(file: Path) -> None:
    options = ScorerOptions(parameters={"analysis": "chars"})
    assert not ask(file=file, query="weathers").sentences
    (found,) = ask(file=file, query="weathers", k=1, options=options).sentences
    assert found.sentence.text == "The weather is fine."


def test_an_encoder_scores_every_sentence_by_the_cosine(file: Path, tmp_path: Path) -> None:
    model = build_toy_encoder(tmp_path / "toy")
    found = ask(file=file, query="Ranks of papers are merged.", system=f"sentence_similarity:{model}", k=9)
    assert len(found.sentences) == 4
    assert found.scorer == "cosine of toy"
    scores = [one.score for one in found.sentences]
    assert np.argmax(scores) == 3
    assert scores[3] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"query": "x1"}, "either a text file or --paper"),
        ({"file": Path("a"), "corpus": "c", "paper": "p", "query": "x1"}, "and not both"),
        ({"paper": "p", "query": "x1"}, "name it with --corpus"),
        ({"file": Path("a")}, "either --query or --about"),
        ({"file": Path("a"), "corpus": "c", "about": "p", "query": "x1"}, "either --query or --about"),
        ({"file": Path("a"), "query": "?! \0"}, "has no word"),
        ({"file": Path("a"), "query": "x1", "splitter": "none"}, "expected punkt or source"),
        ({"file": Path("/nowhere/a"), "query": "x1"}, "cannot be read: No such file"),
        ({"file": Path("a"), "query": "x1", "system": "sentence_mlp:minilm"}, "trained on a benchmark"),
    ],
)
def test_what_cannot_be_answered_is_said(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ask(**asked)


def test_an_unknown_encoder_or_option_is_an_error(file: Path) -> None:
    with pytest.raises(UnknownNameError, match="nosuch"):
        ask(file=file, query="x1", system="nosuch")
    with pytest.raises(UnknownNameError, match="k9"):
        ask(file=file, query="x1", system="bm25", options=ScorerOptions(parameters={"k9": "1"}))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"text \0 of a binary", "holds a NUL"),
        (b"%PDF-1.5 \xff", "is a PDF"),
        (b"caf\xe9", r"not utf-8 \(byte 4 is 0xe9\)"),
        ("é".encode("utf-16"), "give --encoding utf-16"),
    ],
)
def test_a_file_that_is_no_text_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        decode_text(content, "a.txt")


def test_other_encodings_are_named(file: Path) -> None:
    assert decode_text(b"\xef\xbb\xbfcaf\xc3\xa9", "a.txt") == "café"
    assert decode_text(b"caf\xe9", "a.txt", "latin-1") == "café"
    assert decode_text("é".encode("utf-16"), "a.txt", "utf-16") == "é"
    with pytest.raises(InputError, match="no text encoding 'hex'"):
        decode_text(b"00", "a.txt", "hex")


@settings(max_examples=30)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1), st.text(min_size=1))
def test_any_text_is_read_or_refused(text: str, query: str) -> None:
    document = Document("a", None, (Sentence(1, 0, 1, None, text),))
    summary = Summary(document, query, "bm25", "punkt", (ScoredSentence(document.sentences[0], 1.0),), ())
    (spans,) = find_terms(query, [text])
    assert all(text[start:end].isalnum() for start, end in spans)
    for as_markdown in (False, True):
        stream = io.StringIO()
        print_summary(summary, Output(stream=stream), as_markdown=as_markdown)
        assert "\x1b" not in stream.getvalue()
        assert stream.getvalue().count("\n") == 7


def test_terms_are_met_by_their_stems() -> None:
    assert find_terms("rank", ["Ranking ranked rankings, frank."]) == [[(0, 7), (8, 14), (15, 23)]]
    assert find_terms("of the", ["Of the graph."]) == [[(0, 2), (3, 6)]]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_terms_stand_out_on_a_terminal_and_hostile_text_does_not_steer_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    file.write_text("[red]Ranking[/red] of \x1b[2J papers is long enough to be folded on a narrow screen.")
    stream = Screen()
    print_summary(ask(file=file, query="rank folds on"), Output(stream=stream))
    said = stream.getvalue()
    assert "[red]\x1b[1;32mRanking\x1b[0m[/red] of \\x1b[2J papers" in said
    assert max(len(line) for line in said.splitlines()) < 100


def test_the_command_prints_text_markdown_and_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = make_call(capsys)
    plain = call("summarize", file, "--query", "ranking", "-k", "1")
    # its words are in 1, 3, 2, 1 of 4 sentences: 1.9163 / sqrt(2 * 1.9163^2 + 1.2231^2 + 1.5108^2)
    assert plain.out == (
        "# text.txt\n\nQuery: ranking\n\n1 of 4 sentences, by tfidf of words, split by punkt\n\n"
        "- 1 (0.5746): Ranking papers is hard.\n"
    )
    assert (plain.code, plain.err) == (0, "")
    marked = call("summarize", file, "--query", "ranking merged", "--markdown", "-s", "bm25")
    assert "## Results of \\*ranking\\*" in marked.out
    assert "**Ranks** of papers are **merged**." in marked.out
    data = call("summarize", file, "--query", "weather", "--json").data
    assert data["notes"] == ["1 of 4 sentences share a term with the query; 5 were asked for."]
    (found,) = data["sentences"]
    assert (found["number"], found["section"], found["text"]) == (3, "Methods", "The weather is fine.")
    assert call("summarize", file).code == 1
    assert call("summarize", file, "--query", "x1", "-k", "0").code == 2


@pytest.fixture
def held(database: Database) -> Database:
    add_world(database)
    with database.begin() as session:
        chosen = (papers.c.source_id, ("p1", "p2", "p3", "p4"))
        for source_id, title in zip(chosen[1], ("On nets", None, "On cells", None), strict=True):
            said = sa.update(papers).where(papers.c.source_id == source_id)
            session.execute(said.values(title=title, abstract=f"Nets. An abstract of {source_id}."))
        session.execute(sa.update(papers).where(papers.c.source_id == "p4").values(abstract=" "))
        session.execute(sa.delete(sections).where(sections.c.paper_id.in_([3, 4])))
        session.execute(sa.update(sections).where(sections.c.paper_id == 1).values(title="Methods"))
        work = sa.update(cited_references).where(cited_references.c.reference_key == "r1")
        session.execute(work.values(abstract="How papers cite works"))
    return database


def test_a_papers_sentences_are_found_by_both_splitters(held: Database) -> None:
    paper = {"corpus": "toy", "paper": "p1", "query": "networks that rank", "k": 1}
    for splitter in ("punkt", "source"):
        found = ask(held, **paper, splitter=splitter)
        assert found.document.title == "On nets"
        assert list_found(found) == [(1, "Methods", "Neural networks rank papers.")]
        assert [(one.number, one.section_number, one.position) for one in found.document.sentences] == [
            (1, 1, 1),
            (2, 1, 2),
            (3, 2, 1),
            (4, 2, 2),
        ]


def test_the_query_may_be_the_abstract_of_a_paper_or_of_a_cited_work(held: Database) -> None:
    by_work = ask(held, corpus="toy", paper="p1", about="r1", k=1)
    assert (by_work.query, list_found(by_work)) == (
        "How papers cite works",
        [(4, "Methods", "Papers cite works.")],
    )
    assert ask(held, corpus="toy", paper="p1", about="p2", k=1).query == "Nets. An abstract of p2."
    with pytest.raises(InputError, match="no paper and no cited work 'zz'"):
        ask(held, corpus="toy", paper="p1", about="zz")
    with pytest.raises(InputError, match="r2 has no abstract in toy"):
        ask(held, corpus="toy", paper="p1", about="r2")


def test_a_paper_without_full_text_gives_its_abstract_and_says_so(held: Database) -> None:
    found = ask(held, corpus="toy", paper="p3", query="abstract", k=1)
    assert list_found(found) == [(2, None, "An abstract of p3.")]
    assert found.notes == ("p3 has no full text: these are sentences of its abstract.",)
    with pytest.raises(InputError, match="p4 has neither a full text nor an abstract"):
        ask(held, corpus="toy", paper="p4", query="abstract")


def test_an_unknown_paper_or_corpus_is_an_error(held: Database) -> None:
    for unknown in ("p9", "p\0"):
        with pytest.raises(InputError, match="toy holds no paper"):
            ask(held, corpus="toy", paper=unknown, query="x1")
    with pytest.raises(UnknownNameError, match="unknown corpus"):
        ask(held, corpus="none", paper="p1", query="x1")
