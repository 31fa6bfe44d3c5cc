"""Items in the source = items that became rows + items told as left out, kind by kind, and its helpers.

What the source holds is counted here, not by the loaders.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinakes.loaders.ir_datasets.records import parse_document
from pinakes.loaders.left_out import NAMED_FIELDS, OTHER_FIELDS, collect_left_out, leave_out, name_field
from pinakes.loaders.registry import LOADERS
from pinakes.loaders.staging import LEFT_OUT, Accepted, RecordError, Rejected, take_record
from tests.hostile_sources import HOSTILE
from tests.loading import count_left_out, stage_all
from tests.writing import write_file, write_lines

_SETS = frozenset({
    "papers", "identifiers", "fields", "authorships", "signatures", "sections", "sentences", "variants",
    "labels", "judgments", "pool_sources", "review_scores", "references", "reference_identifiers", "queries",
})  # fmt: skip
"""staged tables of which a record says each row once"""
EXAMPLES = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def count_items(loader: str, source: Path) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """Rows and left-out items of each kind, and what is left out; nothing may be rejected."""
    staged, rejected = stage_all(loader, source)
    assert rejected == []
    left_out = count_left_out(loader, source)
    assert {reason for _, reason in left_out} <= LEFT_OUT.keys()
    counts: Counter[str] = Counter()
    for tables in staged.values():
        counts.update({name: len(rows) for name, rows in tables.items()})
    for (kind, _), items in left_out.items():
        counts[kind] += items
    return dict(counts), left_out


def check(loader: str, source: Path, expected: Mapping[str, int]) -> None:
    """Of each kind the source holds as many items as are told."""
    counts, left_out = count_items(loader, source)
    assert {kind: counts.get(kind, 0) for kind in expected} == dict(expected), left_out


def count_mentions(mentioned: list[str | None], entries: list[str]) -> int:
    """Mentions, and the entries that none of them names."""
    return len(mentioned) + len(set(entries) - {name for name in mentioned if name})


# What is written twice, is empty, or is no identifier, number or reference, stands beside what is well.
TEXTS = st.sampled_from(["", " ", "Deep nets", "A work", "deep  nets!", "Œuvre <2> & more"])
YEARS = st.sampled_from([2001, "2001", "2o01", None, "", 99_999, "9" * 5_000])
DOIS = st.sampled_from(["10.1/a", "doi:10.1/A", "10.2/b", "doi:", "https://doi.org/"])
NAMES = st.lists(st.sampled_from(["", " ", "Ada", "Kurt G."]), max_size=4)
ENTRIES = ["b0", "b1", "b2"]


def _objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.fixed_dictionaries(fields), max_size=4)


SPANS = _objects(
    start=st.sampled_from([0, 2, 99, -3, "x", None]),
    end=st.sampled_from([1, 4, 120]),
    text=st.sampled_from([None, "net", "nowhere"]),
    ref_id=st.sampled_from([*ENTRIES, "b9", None, ""]),
)
PARAGRAPHS = _objects(text=TEXTS, section=st.sampled_from([None, "Method"]), cite_spans=SPANS)
WORKS = st.dictionaries(
    st.sampled_from(ENTRIES),
    st.fixed_dictionaries(
        {
            "title": TEXTS,
            "year": YEARS,
            "venue": TEXTS,
            "other_ids": st.dictionaries(
                st.sampled_from(["DOI", "doi", "ISSN"]), st.lists(DOIS, min_size=1, max_size=2), max_size=3
            ),
        }
    ),
)


def _count_groups(paragraphs: list[dict[str, Any]]) -> int:
    return len(list(groupby(paragraphs, lambda paragraph: paragraph["section"])))


@EXAMPLES
@given(names=NAMES, body=PARAGRAPHS, abstract=PARAGRAPHS, works=WORKS, dois=st.lists(DOIS, max_size=3))
def test_s2orc_documents_lose_no_item(
    tmp_path: Path,
    names: list[str],
    body: list[dict[str, Any]],
    abstract: list[dict[str, Any]],
    works: dict[str, Any],
    dois: list[str],
) -> None:
    record = {
        "paper_id": "p",
        "title": "T",
        "authors": [{"first": name, "middle": [], "last": ""} for name in names],
        "identifiers": {"doi": dois},
        "pdf_parse": {"abstract": abstract, "body_text": body, "bib_entries": works},
    }
    mentioned = [
        span["ref_id"] or None for part in (abstract, body) for one in part for span in one["cite_spans"]
    ]
    expected = {
        "authorships": len(names),
        "identifiers": len(dois),
        "sections": _count_groups(body),
        "references": len(works),
        "reference_identifiers": sum(
            len(ids) for work in works.values() for ids in work["other_ids"].values()
        ),
        "citations": count_mentions(mentioned, list(works)),
        "field bib_entries.venue": any(work["venue"] for work in works.values()),
    }
    check("s2orc-json", write_file(tmp_path / "p.json", record), expected)


@EXAMPLES
@given(
    names=NAMES,
    sections=_objects(heading=TEXTS, text=TEXTS),
    references=_objects(title=TEXTS, year=YEARS, venue=TEXTS),
    mentions=_objects(
        referenceID=st.sampled_from([0, "1", 9, None, "x", "9" * 5_000]),
        context=TEXTS,
        startOffset=st.sampled_from([0, "x", None, -1]),
        endOffset=st.sampled_from([1, 900]),
    ),
)
def test_documents_of_science_parse_lose_no_item(
    tmp_path: Path,
    names: list[str],
    sections: list[dict[str, Any]],
    references: list[dict[str, Any]],
    mentions: list[dict[str, Any]],
) -> None:
    metadata = {
        "title": "T",
        "authors": names,
        "sections": sections,
        "references": references,
        "referenceMentions": mentions,
    }
    known = ("0", "1", "9")
    mentioned = [str(mention["referenceID"]) for mention in mentions]
    expected = {
        "authorships": len(names),
        "sections": len(sections),
        "references": len(references),
        "citations": count_mentions(
            [name if name in known else None for name in mentioned], [str(n) for n in range(len(references))]
        ),
        "field references.venue": any(reference["venue"] for reference in references),
    }
    check("science-parse", write_file(tmp_path / "p.json", {"name": "p.pdf", "metadata": metadata}), expected)


@EXAMPLES
@given(
    names=NAMES,
    editors=st.integers(0, 2),
    keywords=st.lists(TEXTS, max_size=4),
    sections=st.lists(TEXTS, max_size=3),
    references=st.lists(
        st.tuples(TEXTS, st.lists(st.tuples(st.sampled_from(["doi", "isbn"]), DOIS), max_size=3)), max_size=3
    ),
    mentions=st.lists(st.sampled_from([*ENTRIES, "b9", ""]), max_size=4),
)
def test_articles_in_jats_lose_no_item(
    tmp_path: Path,
    names: list[str],
    editors: int,
    keywords: list[str],
    sections: list[str],
    references: list[tuple[str, list[tuple[str, str]]]],
    mentions: list[str],
) -> None:
    people = [f"<contrib><name><surname>{name}</surname></name></contrib>" for name in names]
    people += ["<contrib contrib-type='editor'><collab>E</collab></contrib>"] * editors
    cited = "".join(
        f"<ref id='b{number}'><element-citation><article-title>{escape(title)}</article-title>"
        + "".join(f"<pub-id pub-id-type='{kind}'>{doi}</pub-id>" for kind, doi in ids)
        + "</element-citation></ref>"
        for number, (title, ids) in enumerate(references)
    )
    marks = "".join(f"<xref ref-type='bibr' rid='{name}'>x</xref>; " for name in mentions)
    document = (
        "<article><front><article-meta><article-id pub-id-type='pmc'>7</article-id>"
        "<title-group><article-title>T</article-title></title-group>"
        f"<contrib-group>{''.join(people)}</contrib-group>"
        f"<kwd-group>{''.join(f'<kwd>{escape(word)}</kwd>' for word in keywords)}"
        "</kwd-group></article-meta></front>"
        f"<body>{''.join(f'<sec><p>{escape(text)}</p></sec>' for text in sections)}<p>As {marks}.</p></body>"
        f"<back><ref-list>{cited}</ref-list></back></article>"
    )
    entries = [f"b{number}" for number in range(len(references))]
    expected = {
        "authorships": len(names) + editors,
        "identifiers": 1,
        "fields": len(keywords),
        "sections": len(sections) + 2,  # the body has a paragraph of its own, the back is one without
        "references": len(references),
        "reference_identifiers": sum(len(ids) for _, ids in references),
        "citations": count_mentions([name or None for name in mentions], entries),
    }
    check("jats", write_file(tmp_path / "7.nxml", document.encode()), expected)


@pytest.mark.parametrize("loader", LOADERS)
def test_every_format_loses_no_item(tmp_path: Path, loader: str) -> None:
    hostile = HOSTILE[loader]
    if not hostile.childless:
        check(loader, hostile.write(tmp_path / "source"), hostile.items)


@pytest.mark.parametrize("loader", LOADERS)
def test_no_row_of_a_hostile_record_stands_twice(tmp_path: Path, loader: str) -> None:
    hostile = HOSTILE[loader]
    source = hostile.write(tmp_path / "source") if hostile.files else None
    staged = [] if loader == "ir-datasets" else stage_all(loader, source, hostile.options)[0].values()
    for tables in staged:
        for name in tables.keys() & _SETS:  # merging would drop a second one without a word
            rows = [tuple(sorted(row.items())) for row in tables[name]]
            assert len(set(rows)) == len(rows), name


def test_collections_lose_no_field() -> None:
    class Doc(NamedTuple):
        doc_id: str
        title: str
        abstract: str
        license: str
        empty: str

    rows, _ = parse_document(Doc("d", "T", "A", "cc0", ""))
    assert rows["left_out"] == [{"kind": "field license", "reason": "no_column", "items": 1}]


def test_what_a_loader_makes_it_leaves_nothing_out_of() -> None:
    assert count_left_out("synthetic", None, HOSTILE["synthetic"].options) == {}


@pytest.mark.parametrize("loader", ["arxiv", "beir", "s2orc"])
def test_columns_name_what_single_records_name(tmp_path: Path, loader: str) -> None:
    """The same records with one that sends them all the exact way."""
    source = HOSTILE[loader].write(tmp_path / "plain")
    plain = count_left_out(loader, source)
    path = source / "corpus.jsonl" if source.is_dir() else source
    path.write_bytes(path.read_bytes() + b"no JSON\n")
    assert plain == count_left_out(loader, source)


def test_what_is_noted_belongs_to_its_record_alone() -> None:
    def parse() -> dict[str, list[dict[str, Any]]]:
        leave_out("citations", "no_reference", 2)
        leave_out("citations", "no_reference")
        leave_out("fields", "no_value", 0)
        inner = take_record(2, "", "", dict)
        assert isinstance(inner, Accepted)
        assert inner.rows == {}
        return {}

    expected = [{"kind": "citations", "reason": "no_reference", "items": 3}]
    assert collect_left_out(parse) == {"left_out": expected}
    leave_out("citations", "no_reference")
    assert collect_left_out(dict) == {}


def test_a_rejected_record_leaves_nothing_out() -> None:
    def parse() -> dict[str, list[dict[str, Any]]]:
        leave_out("fields", "invalid")
        raise RecordError("missing_field", "no id")

    assert isinstance(take_record(1, "", "", parse), Rejected)
    assert collect_left_out(dict) == {}


def test_only_so_many_fields_are_named_of_a_file(tmp_path: Path) -> None:
    records = [
        {"id": str(number), "title": "T", "venue": "acl", f"own{number}": 1, "a\x00b": 1}
        for number in range(NAMED_FIELDS + 20)
    ]
    counted = count_left_out("paperlists", write_lines(tmp_path / "acl2022.jsonl", *records))
    assert len(counted) == NAMED_FIELDS + 1
    assert counted[OTHER_FIELDS, "no_column"] == 21
    assert counted["field a\\x00b", "no_column"] == NAMED_FIELDS + 20
    assert counted["field own0", "no_column"] == 1


def test_a_long_name_of_a_field_is_cut() -> None:
    assert len(name_field("x" * 5_000)) < 120


NUMBERS = ("9" * 5_000, "-" + "9" * 5_000, "1e400", "9" * 400 + ".0", "NaN")
