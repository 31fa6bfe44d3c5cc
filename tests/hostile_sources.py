"""For each loader a tiny source of which not all becomes rows, and how many items of each kind it holds.

The items are counted here by hand, not by the loaders.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from tests.writing import write_files


@dataclass(frozen=True, slots=True)
class Hostile:
    """A source.

    Attributes:
        files: name -> content, as `write_file` takes it.
        items: kind -> items; a field is one in each record that fills it.
        options: those of the load.
        childless: why it has no items but its records; empty where it has.
    """

    files: Mapping[str, object]
    items: Mapping[str, int]
    options: Mapping[str, str] = field(default_factory=dict)
    childless: str = ""

    def write(self, folder: Path) -> Path:
        """The folder with the files, or its one file."""
        path = write_files(folder, self.files)
        return path / next(iter(self.files)) if len(self.files) == 1 else path


def _lines(*records: Mapping[str, Any]) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def _table(*rows: str, delimiter: str = "\t") -> str:
    return "".join(row.replace("|", delimiter) + "\n" for row in rows)


def _parquet(**columns: list[Any]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue().to_pybytes())


_CATEGORIES: Final = "DISEASE_NAME|PRIMARY_CATEGORY|SECONDARY_CATEGORY"
_JUDGED: Final = "q1 0 d1 1\nq1 4.5 d2 0\n"
_TOPIC: Final = "<top><num>Number: 1\n<title>wings\n<dom>Domain: air\n</top>\n"
_TEI: Final = (
    "<TEI xmlns='http://www.tei-c.org/ns/1.0'><teiHeader><fileDesc><titleStmt><title>T</title></titleStmt>"
    "<sourceDesc><biblStruct><analytic>"
    "<author><persName><surname>A</surname></persName><idno type='ORCID'>0</idno></author>"
    "<author><affiliation>U</affiliation></author></analytic>"
    "<idno type='DOI'>10.1/A</idno><idno type='MD5'>77</idno></biblStruct></sourceDesc></fileDesc>"
    "<profileDesc><textClass><keywords><term>k</term><term>k</term><term/></keywords></textClass></profileDesc>"
    "</teiHeader><text><body><div>"
    "<p>As <ref type='bibr' target='#b0'>x</ref> <ref type='bibr'>y</ref>.</p></div>"
    "<div><head>Empty</head></div></body><back><listBibl>"
    "<biblStruct xml:id='b0'><analytic><title level='a'>One</title></analytic></biblStruct>"
    "<biblStruct xml:id='b1'><analytic><title level='a'>one!</title></analytic>"
    "<idno type='halId'>h</idno></biblStruct></listBibl></back></text></TEI>"
)
_PUBMED: Final = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle>"
    "<ELocationID EIdType='doi' ValidYN='N'>10.1/x</ELocationID>"
    "<ELocationID EIdType='pii'>p</ELocationID>"
    "<AuthorList><Author><LastName>A</LastName></Author><Author/>"
    "<Author ValidYN='N'><LastName>B</LastName></Author></AuthorList></Article>"
    "<MeshHeadingList><MeshHeading><DescriptorName>D</DescriptorName></MeshHeading></MeshHeadingList>"
    "<KeywordList><Keyword>k</Keyword><Keyword>k</Keyword><Keyword/></KeywordList>"
    "<ChemicalList/></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType='pii'>p</ArticleId>"
    "<ArticleId IdType='doi'>10.1/a</ArticleId></ArticleIdList><ReferenceList>"
    "<Reference><ArticleIdList><ArticleId IdType='pubmed'>7</ArticleId></ArticleIdList></Reference>"
    "<Reference><ArticleIdList><ArticleId IdType='pubmed'>7</ArticleId></ArticleIdList></Reference>"
    "</ReferenceList></PubmedData></PubmedArticle></PubmedArticleSet>"
)
_ANTHOLOGY: Final = (
    "<collection id='P18'><volume id='1'><meta><booktitle>B</booktitle><year>2018</year></meta><paper id='1'>"
    "<title>T</title><author><last>A</last></author><author/><editor><last>E</last></editor><pages>1</pages>"
    "<doi>10.1/a</doi></paper></volume></collection>"
)
_JATS: Final = (
    "<article><front><article-meta><article-id pub-id-type='pmc'>7</article-id>"
    "<article-id pub-id-type='publisher-id'>x</article-id>"
    "<title-group><article-title>T</article-title></title-group><contrib-group>"
    "<contrib><name><surname>A</surname></name></contrib><contrib contrib-type='editor'><collab>E</collab>"
    "</contrib></contrib-group></article-meta></front>"
    "<body><p>As <xref ref-type='bibr' rid='b9'>x</xref>.</p></body></article>"
)
_SCISUMM: Final = (
    "<PAPER><S sid='0'>T</S><ABSTRACT><S sid='1'>One.</S><S sid='2'> </S></ABSTRACT>"
    "<SECTION title='A'><S sid='3'>Two.</S></SECTION></PAPER>"
)
_ARXIV: Final = {
    "id": "2101.00001", "title": "T", "categories": "cs.DL cs.DL", "doi": "10.1/a 10.1/A", "comments": "7 p.",
    "license": None, "authors": "A B", "authors_parsed": [["B", "A", "", "U"], ["", "", ""]],
    "versions": [{"version": f"v{n}", "created": "Thu, 22 Dec 2022 17:01:56 GMT"} for n in (1, 2, 3)],
}  # fmt: skip
_SPAN: Final[dict[str, Any]] = {"start": 0, "end": 1, "text": "x", "ref_id": None}

HOSTILE: Final[dict[str, Hostile]] = {
    "aan": Hostile(
        {"acl-metadata.txt": "id = {P1}\nauthor = {A; ; B}\ntitle = {T}\nyear = {1999}\npages = {7}\n"},
        {"authorships": 3, "identifiers": 1, "field pages": 1},
    ),
    "acl-anthology": Hostile(
        {"P18.xml": _ANTHOLOGY},
        {"authorships": 2, "identifiers": 2, "field editor": 1, "field pages": 1},
    ),
    "arxiv": Hostile(
        {"arxiv.json": _lines(_ARXIV, {**_ARXIV, "id": "2101.00002"})},
        {"authorships": 4, "fields": 4, "identifiers": 6, "field comments": 2, "field authors": 2,
         "field versions": 4, "field versions.version": 2, "field authors_parsed.affiliation": 2},
    ),
    "beir": Hostile(
        {"corpus.jsonl": _lines({"_id": "d1", "text": "T", "url": "x", "metadata": {"year": "x", "pmid": 0}},
                                {"_id": "d2", "title": "T", "url": "", "metadata": "none"}),
         "queries.jsonl": _lines({"_id": "q1", "text": "x", "metadata": {"a": 1}}),
         "qrels/test.tsv": _table("query-id|corpus-id|score", "q1|d1|1")},
        {"field url": 1, "field metadata.year": 1, "field metadata.pmid": 1, "field metadata": 2,
         "judgments": 1},
    ),
    "csfcube": Hostile(
        {"abstracts-csfcube-preds.jsonl": _lines(
            {"paper_id": "1", "title": "T", "abstract": ["A.", "B."], "url": "x",
             "pred_labels": ["method_label"] * 2, "metadata": {"year": 2004, "venue": "V"}}),
         "queries-release.csv": "pid,facet,year,paper type\n1,method,2004,new\n",
         "evaluation_splits.json": {name: {"fold1_dev": ["1_method"], "fold1_test": []}
                                    for name in ("background", "method", "result")},
         "test-pid2pool-csfcube.json": {"1": {"cands": ["2"], "cand_source": [["cited", "tfidf", "cited"]],
                                              "note": ["x"]}},
         **{f"test-pid2anns-csfcube-{name}.json": {"1": {"cands": ["2"], **{
             f"relevance_{grade}": [1] for grade in ("adju", "min", "max", "ann1", "ann2")}}}
            for name in ("background", "method", "result")}},
        # The lowest and the highest grade say again what the annotators' do.
        {"sentences": 2, "judgments": 9, "pool_sources": 3, "field url": 1, "field metadata.venue": 1,
         "field year": 1, "field note": 1},
    ),
    "csv": Hostile(
        {"papers.csv": "source_id,title,pages,empty\n1,T,7,\n2,T,,\n"}, {"field pages": 1, "field empty": 0}
    ),
    "drsm": Hostile(
        {"gold.tsv": _table(f"ID_PAPER|TITLE|ABSTRACT|{_CATEGORIES}|word_count", "1|T|A|D|1. X||7"),
         "raw.tsv": _table(f"ID_PAPER|IRRELEVANT|COMMENTS|CURATOR|{_CATEGORIES}",
                           "1|True|no|c1|D|1. X|", "2|||c1|D||"),
         "qol.tsv": _table("PMID|Labeling_State|Correct_Label|Agreement", "7|Gold Standard|'0'|0.3")},
        # What a curator calls irrelevant is a label, and so is a paper's place in the gold standard.
        {"labels": 3 + 3 + 1 + 1, "identifiers": 4, "field word_count": 1, "field COMMENTS": 1,
         "field Agreement": 1},
    ),
    "grobid": Hostile(
        {"p.tei.xml": _TEI},
        {"authorships": 2, "identifiers": 2, "fields": 3, "citations": 3, "references": 2,
         "reference_identifiers": 1, "sections": 4, "field affiliation": 1},
    ),
    "ir-datasets": Hostile({}, {}, childless="a package gives its records: test_collections_lose_no_field"),
    "jats": Hostile(
        {"7.nxml": _JATS}, {"authorships": 2, "identifiers": 2, "citations": 1, "sections": 1}
    ),
    "jsonl": Hostile(
        {"papers.jsonl": _lines(
            {"source_id": "1", "title": "T", "fields": [{"field": "a"}, {"field": ""}, {}], "pages": 7},
            {"source_id": "2", "title": "T", "authorships": [{"author_name": "A"}, {"x": 1}], "pages": []})},
        {"fields": 3, "authorships": 2, "field pages": 1},
    ),
    "mdcr": Hostile(
        {"mdcr_val_data.jsonl": _lines({"paper_id": "1", "title": "T", "mag_id": 7}),
         "mdcr_val.json": {"Art": {"1": {"true": ["3"], "bm25": ["2", "2", "3"]}}}},
        {"pool_sources": 4, "judgments": 2, "field mag_id": 1},
    ),
    "multicite": Hostile(
        {"gold_context_dev.json": [{"id": "a_1", "x": "<cite>X</cite>, <cite>Y</cite>", "y": "a", "z": 1}]},
        {"citations": 2, "field z": 1},
    ),
    "openalex": Hostile(
        {"works.jsonl": _lines({
            "id": "https://openalex.org/W1",
            "title": "T",
            "ids": {"openalex": "https://openalex.org/W1", "doi": "https://doi.org/10.1/A", "wikidata": "Q1"},
            "authorships": [{"author": {"display_name": "Ada"}}, {"author": {}}, {}],
            "concepts": [{"display_name": "A", "score": 0.5}, {"display_name": "A"}, {"score": 0}],
            "mesh": [{"descriptor_name": "M"}, {"qualifier_name": "q"}],
            "referenced_works": ["https://openalex.org/W2", "https://openalex.org/W2"],
            "locations": [{}],
        })},
        {"authorships": 3, "fields": 5, "citations": 2, "identifiers": 1, "field ids.wikidata": 1,
         "field locations": 1},
    ),
    "openreview": Hostile(
        {"notes.jsonl": _lines({
            "id": "f",
            "content": {"title": "T", "authors": ["A", "Anonymous"], "keywords": ["a", "a", ""],
                        "TL;DR": "x"},
            "details": {"replies": [{"id": "r1", "invitations": ["V/-/Official_Review"],
                                     "content": {"rating": "8: good", "confidence": "x"}}]},
        })},
        {"authorships": 2, "fields": 3, "review_scores": 2, "field content.TL;DR": 1},
    ),
    "paperlists": Hostile(
        {"acl2022.jsonl": _lines({"id": "1", "title": "T", "author": "A;;B", "keywords": "k;k;", "slides": 1,
                                  "rating": "5;bad"})},
        {"authorships": 3, "fields": 3, "review_scores": 2, "field slides": 1},
    ),
    "parquet": Hostile(
        {"papers.parquet": _parquet(source_id=["1", "2"], title=["T", "U"], pages=[7, 8])},
        {"field pages": 2},
    ),
    "petal": Hostile(
        {"golden.json": [{"petalID": 1, "title": ["t"], "venue_mag": ["V"], "venue": ["V", "W"],
                          "mag": ["a", "", "a"],
                          "author": ["7", ""], "level1": ["x", "x", ""], "reference": ["5", "5", ""],
                          "paper": "9", "doi": "10.1/a", "url": "x"}]},
        {"authorships": 2, "fields": 3, "labels": 3, "references": 3, "identifiers": 2, "field venue": 1,
         "field url": 1},
    ),
    "pubmed": Hostile(
        {"p.xml": _PUBMED},
        # The PMID is an identifier, and each heading a field.
        {"authorships": 3, "identifiers": 5, "fields": 4, "references": 2, "field ChemicalList": 1},
    ),
    "relish": Hostile(
        {"RELISH_v1.json": [{"uid": "u", "pmid": "1", "experience": "phd", "is_anonymous": False,
                             "response": {"relevant": ["2"], "partial": ["3"], "irrelevant": []}}],
         "documents.tsv": _table("PMID|title|abstract|mesh", "1|T|A|x")},
        {"judgments": 2, "identifiers": 1, "field experience": 1, "field is_anonymous": 1, "field mesh": 1},
    ),
    "s2and": Hostile(
        {"papers.json": {"1": {"paper_id": 1, "title": "T", "venue": "V", "journal_name": "J", "sources": [1],
                               "authors": [{"position": 0, "author_name": "A L", "ids": [7]},
                                           {"position": 1, "author_name": "B"}],
                               "fields_of_study": ["CS", "CS"], "references": [2, 2]}},
         "signatures.json": {str(number): {
             "paper_id": 1, "signature_id": number, "sourced": 1,
             "author_info": {"first": "A", "last": "L", "position": 0, "given_name": "A", "block": "a l",
                             "estimated_gender": "x"}} for number in range(2)},
         "clusters.json": {"c": {"cluster_id": "c", "signature_ids": ["0"], "model_version": -1}}},
        # Two authors; the second signature stands where the first does.
        {"authorships": 3, "signatures": 2, "fields": 2, "citations": 2, "field journal_name": 1,
         "field sources": 1, "field authors.ids": 1, "field sourced": 2, "field author_info.given_name": 2,
         "field author_info.estimated_gender": 2, "field clusters.model_version": 1},
    ),
    "s2orc": Hostile(
        {"metadata_0.jsonl": _lines({
            "paper_id": "1", "title": "T",
            "authors": [{"first": "A", "last": "B", "email": "x"}, {}, {"first": " "}],
            "mag_field_of_study": ["CS", "", None], "outbound_citations": ["2", " ", "3"], "doi": "10.1/a",
            "inbound_citations": ["9"], "venue": "V", "journal": "J", "has_pdf_parse": False, "s2_url": "x",
        })},
        {"authorships": 3, "fields": 3, "citations": 3, "identifiers": 1, "field authors.email": 1,
         "field inbound_citations": 1, "field journal": 1, "field has_pdf_parse": 1, "field s2_url": 1},
    ),
    "s2orc-json": Hostile(
        {"p.json": {"paper_id": "p", "title": "T", "authors": [{"first": "A"}, {}], "year": "2001",
                    "pdf_parse": {"body_text": [{"text": "x", "section": "A", "cite_spans": [_SPAN], "z": 1}],
                                  "bib_entries": {"b0": {"title": "One", "venue": "V"}}}}},
        {"authorships": 2, "sections": 1, "citations": 2, "references": 1, "field bib_entries.venue": 1},
    ),
    "scidocs": Hostile(
        {"paper_metadata_mag_mesh.json": {"1": {
            "paper_id": "1", "title": "T", "authors": ["7", "7"], "references": ["2", "2", "3"],
            "cited_by": ["4", "4"], "pdf_hash": "x"}},
         "mag/train.csv": "pid,class_label\n1,5\n",
         "cite/test.qrel": "1 0 2 1\n1 0 3 0\n"},
        {"authorships": 2, "citations": 3, "labels": 1, "judgments": 2, "field cited_by": 1,
         "field pdf_hash": 1},
    ),
    "science-parse": Hostile(
        {"p.json": {"name": "p.pdf", "metadata": {
            "title": "T", "authors": ["A", ""], "emails": ["x"], "sections": [{"heading": "A", "text": ""}],
            "references": [{"title": "One", "venue": "V"}], "referenceMentions": [{"referenceID": 9}]}}},
        {"authorships": 2, "sections": 1, "references": 1, "citations": 2, "field metadata.emails": 1,
         "field references.venue": 1},
    ),
    "scirepeval": Hostile(
        {"search/test.jsonl": _lines({
            "query": "x", "query_id": "7", "user_id": 3,
            "candidates": [{"doc_id": "1", "title": "T", "score": 1, "n_key_citations": 2},
                           {"doc_id": "1", "title": "T", "score": 1, "author_names": ["A", ""]}]}),
         "fos/train.jsonl": _lines({"doc_id": "9", "labels_text": ["Art", "Art"], "labels": [0]}),
         "cite_prediction/train.jsonl": _lines({"query": {"doc_id": "2", "h": 1}, "pos": {"doc_id": "3"},
                                                "neg": {"doc_id": "4"}, "z": 1}),
         "paper_reviewer_matching/meta.jsonl": _lines({"r_id": "r", "papers": ["2", "2"], "name": "N"})},
        {"judgments": 2 + 2, "labels": 2 + 2, "authorships": 2, "field user_id": 1,
         "field candidates.n_key_citations": 1, "field labels": 1, "field query.h": 1, "field z": 1,
         "field name": 1},
    ),
    "scisumm": Hostile(
        {"C00-2123/Reference_XML/C00-2123.xml": _SCISUMM,
         "C00-2123/citing_sentences.json": [{"citing_paper_id": "W01-0001", "citance_No": 1, "raw_text": "x",
                                             "keep_for_gold": 1, "citing_paper_authors": ["A"]}],
         "C00-2123/summary/C00-2123.human.txt": "One.",
         "Gold/Task2/C00_2123.human.txt": "Two.",
         "C00-2123/summary/C00-2123.abstract.txt": "Three."},
        {"sentences": 3, "sections": 1, "citations": 1, "variants": 3, "field keep_for_gold": 1,
         "field citing_paper_authors": 1},
    ),
    "sentence-selections": Hostile(
        {"s.jsonl": _lines({"query_id": "q1", "selection": "mine", "positions": [1, 2], "why": "x"})},
        {"sentence_selections": 2, "field why": 1},
    ),
    "smart": Hostile(
        {"toy.all": ".I 1\n.T\nthe wing\n.A\na. person\n.B\nj. of wings, 1950.\n.W\na wing .\n.N\nnote\n",
         "toy.qry": ".I 1\n.W\nwings\n", "toyqrel": "1 1 2\n"},
        {"authorships": 1, "judgments": 1, "field N": 1},
    ),
    "specter": Hostile(
        {"metadata.json": {"1": {"paper_id": "1", "title": "T", "authors": ["A"]}},
         "data.json": {"1": {"2": {"count": 5, "frac": 1}, "3": {"count": 1}}}},
        {"judgments": 2, "citations": 1, "field authors": 1, "field data.frac": 1},
    ),
    "synthetic": Hostile({}, {}, {"papers": "60"}, "it makes its records"),
    "trec": Hostile(
        {"docs.sgml": "<DOC><DOCNO>d1</DOCNO><HEAD>T</HEAD><FILEID>x</FILEID><TEXT>A</TEXT></DOC>\n",
         "topics.sgml": _TOPIC, "qrels.txt": _JUDGED},
        {"judgments": 2, "field FILEID": 1, "field dom": 1, "field iteration": 1},
    ),
    "trec-covid": Hostile(
        {"metadata.csv": ("cord_uid,sha,source_x,title,doi,authors,license\n"
                          "u1,aa; bb,PMC,T,10.1/a,A; ;B,cc0\nu1,,,T,10.1/A,A; B,\n"),
         "qrels.txt": "1 4.5 u1 2\n1 5 u1x 0\n"},
        {"authorships": 5, "identifiers": 4, "pool_sources": 2, "judgments": 2, "field source_x": 1,
         "field license": 1, "field iteration": 0},
    ),
    "tweetpap": Hostile(
        {"papers.csv": ("Arxiv_id,cite,publish_year,retweets,id,username,favorites\n"
                        "0704.0681,11,2010,2,7.0,x,5\n")},
        {"labels": 2, "identifiers": 1, "field id": 1, "field username": 1},
    ),
    "unarxive": Hostile(
        {"u.jsonl": _lines({
            "paper_id": "2101.00001",
            "metadata": {"id": "2101.00001", "title": "T", "authors_parsed": [["L", "F", ""], ["", "", ""]],
                         "categories": "cs.DL cs.DL", "license": "x"},
            "body_text": [
                {"section": "A", "text": "x", "cite_spans": [_SPAN, {**_SPAN, "ref_id": "b1"}],
                 "ref_spans": [{}]},
                {"section": "B", "text": "", "cite_spans": []},
            ],
            "bib_entries": {
                "b1": {"bib_entry_raw": "x", "ids": {"doi": "10.1/a", "arxiv_id": "", "isbn": "3"}},
                "b2": {"ids": {"doi": "10.1/A"}},
            },
        })},
        {"authorships": 2, "fields": 2, "sections": 2, "citations": 3, "references": 2,
         "reference_identifiers": 3, "field bib_entries.bib_entry_raw": 1, "field body_text.ref_spans": 1,
         "field metadata.license": 1},
    ),
}  # fmt: skip
"""loader -> its source"""
