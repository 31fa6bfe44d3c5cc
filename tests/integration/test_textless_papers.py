"""A record that yields neither title nor abstract nor text is no paper, unless its format says it may be."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.load.load import LoadRequest, load
from pinakes.loaders.registry import LOADERS, find_loader
from tests.loading import write_beir
from tests.writing import write_files

pytestmark = pytest.mark.in_turn

REASON = "a field that the format requires is missing or empty: neither title nor abstract nor text"
MAY_LACK_TEXT = frozenset({
    "aan", "mdcr", "openalex", "pubmed", "relish", "s2and", "s2orc", "scirepeval", "tweetpap",
    "beir", "ir-datasets", "petal", "smart", "trec", "trec-covid",
})  # fmt: skip
"""registers and graphs, whose texts stand elsewhere; test collections, whose documents may be empty"""


def test_each_format_says_whether_a_paper_without_text_is_normal() -> None:
    assert {name for name in LOADERS if find_loader(name).may_lack_text} == MAY_LACK_TEXT


def test_json_of_other_kinds_is_rejected_and_the_papers_beside_it_are_loaded(
    database: Database, tmp_path: Path
) -> None:
    documents = {
        "manifest.json": {"files": ["1.json"], "version": 2},
        "docling.json": {"schema_name": "DoclingDocument", "texts": [{"text": "words"}]},
        "only_authors.json": {"metadata": {"authors": ["A"], "references": [{"title": "B"}]}},
        "abstract.json": {"metadata": {"abstractText": "A"}},
        "sections.json": {"metadata": {"sections": [{"text": "A"}]}},
    }
    summary = load(database, LoadRequest("science-parse", write_files(tmp_path / "docs", documents)))
    assert summary.reasons == {"missing_field": 3}
    assert all(message.startswith(REASON) for _, _, message in summary.rejected_first["missing_field"])
    with database.read() as session:
        held = [row["source_id"] for row in session.rows("SELECT source_id FROM papers ORDER BY source_id")]
        kept = session.scalar("SELECT COUNT(*) FROM left_out_items")
    assert held == ["abstract", "sections"]
    assert kept == 0


def test_texts_that_fill_gaps_are_texts(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "acl_2017" / "dev" / "parsed_pdfs"
    documents = {"1.pdf.json": {"metadata": {"title": "T"}}, "2.pdf.json": {"metadata": {"year": 2001}}}
    write_files(folder, documents)
    summary = load(database, LoadRequest("science-parse", tmp_path, corpus="peerread"))
    assert (summary.rows_loaded, summary.reasons) == (1, {"missing_field": 1})


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_document_of_a_test_collection_stays_judged(
    database: Database, tmp_path: Path, text: str
) -> None:
    papers = [{"_id": "a", "title": "", "text": text}, {"_id": "b", "title": "T", "text": "x"}]
    summary = load(database, LoadRequest("beir", write_beir(tmp_path, papers, "q1\ta\t1\nq1\tb\t0\n")))
    assert (summary.papers, summary.reasons) == (2, {})


def test_a_score_that_is_no_number_costs_no_paper(database: Database, tmp_path: Path) -> None:
    review = {"RECOMMENDATION": "accept", "CLARITY": "4", "comments": "good"}
    record = {"title": "T", "abstract": "A", "accepted": "maybe", "reviews": [review, {"CLARITY": []}]}
    folder = write_files(tmp_path / "acl_2017" / "dev" / "reviews", {"3.json": record})
    summary = load(database, LoadRequest("science-parse", folder.parents[2], corpus="peerread"))
    assert (summary.papers, summary.rows_rejected) == (1, 0)
    assert list(summary.left_out) == [
        {"kind": "field reviews.comments", "reason": "no_column", "items": 1},
        {"kind": "labels", "reason": "invalid", "items": 1},
        {"kind": "review_scores", "reason": "invalid", "items": 2},
    ]
