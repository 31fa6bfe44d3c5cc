"""MultiCite: contexts with marked mentions and several intents."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.multicite import find_mentions
from pinakes.loaders.staging import RecordError
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files

RECORDS: list[dict[str, Any]] = [
    {"id": "aa_0", "x": " As in <cite>(Lee, 2019)</cite> .", "y": "uses background uses"},
    {"id": "aa_1", "x": ["No mention is marked."], "y": "background"},
    {"id": "bb_c_0", "x": "<cite>X</cite> and<cite> Y</cite>", "y": "extends"},
]


def _citation(row_number: int, source_id: str, mention: str, **others: Any) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "citing_source_id": source_id,
        "reference_key": f"mention:{source_id}#cited",
        "source_reference_id": mention,
        **others,
    }


def test_each_marked_mention_is_a_citation_with_its_place_in_the_context(tmp_path: Path) -> None:
    staged, rejected = stage_all("multicite", write_files(tmp_path, {"gold_context_dev.json": RECORDS}))
    assert rejected == []
    both: dict[str, Any] = {"context": "X and Y", "intents": "extends"}
    assert staged["gold_context_dev.json"] == {
        "mentioned_papers": [
            {"row_number": 1, "source_id": "aa"},
            {"row_number": 2, "source_id": "aa"},
            {"row_number": 3, "source_id": "bb_c"},
        ],
        "citations": [
            _citation(
                1,
                "aa",
                "aa_0",
                context="As in (Lee, 2019) .",
                context_start=6,
                context_end=17,
                intents="background,uses",
            ),
            _citation(2, "aa", "aa_1", context="No mention is marked.", intents="background"),
            _citation(3, "bb_c", "bb_c_0", context_start=0, context_end=1, **both),
            _citation(3, "bb_c", "bb_c_0", context_start=5, context_end=7, **both),
        ],
    }


@pytest.mark.parametrize("marked", ["a <cite>b", "a</cite>", "<cite><cite>a</cite>", "<cite>a</cite></cite>"])
def test_marks_that_do_not_alternate_are_refused(marked: str) -> None:
    with pytest.raises(RecordError, match="<cite>"):
        find_mentions(marked)


def test_records_of_another_shape_are_rejected(tmp_path: Path) -> None:
    records = [
        {"id": "aa", "x": "a", "y": "uses"},
        {"id": "_0", "x": "a", "y": "uses"},
        {"id": "aa_0", "x": "a", "y": " "},
        {"id": "aa_1", "x": ["a", 1], "y": "uses"},
        {"id": "aa_2", "x": [], "y": "uses"},
        {"id": "aa_3", "x": "<cite>", "y": "uses"},
        {"x": "a", "y": "uses"},
        {"id": "aa_4", "x": ["a", "b"], "y": "uses"},
    ]
    staged, rejected = stage_all("multicite", write_files(tmp_path, {"gold_context_dev.json": records}))
    assert [row["context"] for row in staged["gold_context_dev.json"]["citations"]] == ["a b"]
    assert [(row.location, row.reason) for row in rejected] == [
        ("[0]", "invalid_value"),
        ("[1]", "invalid_value"),
        ("[2]", "missing_field"),
        ("[3]", "missing_field"),
        ("[4]", "missing_field"),
        ("[5]", "invalid_value"),
        ("[6]", "missing_field"),
    ]


def test_damaged_files_are_never_lost(tmp_path: Path) -> None:
    check_damage("multicite", tmp_path / "gold_context_test.json", orjson.dumps(RECORDS), (3, 3, 0))


@needs_real_data
def test_multicite_has_its_published_contexts() -> None:
    staged, rejected = stage_all("multicite", REAL_DATA / "multicite")
    assert rejected == []
    counts = {}
    for name, rows in staged.items():
        papers = {row["source_id"] for row in rows["mentioned_papers"]}
        without = sum("context_start" not in row for row in rows["citations"])
        counts[name] = (len(rows["mentioned_papers"]), len(papers), len(rows["citations"]), without)
    assert counts == {
        "gold_context_dev.json.gz": (2447, 252, 2881, 11),
        "gold_context_test.json.gz": (3313, 359, 3619, 24),
    }
    mentions = staged["gold_context_test.json.gz"]["citations"]
    assert [
        (
            mentions[i]["source_reference_id"][-4:],
            len(mentions[i]["context"]),
            mentions[i]["context_start"],
            mentions[i]["intents"],
        )
        for i in (0, 1809, -1)
    ] == [
        ("51_0", 88, 25, "uses"),
        ("32_0", 273, 139, "uses"),
        ("10_9", 281, 71, "similarities,uses"),
    ]
    assert all("<cite>" not in mention["context"] for mention in mentions)
