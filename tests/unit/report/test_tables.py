from dataclasses import replace

from pinakes.load.resolve import Resolved
from pinakes.load.summary import FileSummary, LoadSummary
from pinakes.report.data import BenchmarkReport
from pinakes.report.formatting import format_difference, format_p, format_seconds, format_value
from pinakes.report.layout import Table
from pinakes.report.present.load import load_tables
from pinakes.report.tables.published import difference_table, match_published, reproduction_table
from pinakes.report.tables.runs import coverage_table, describe_run
from pinakes.report.tables.scores import measure_table, query_table, result_table, subset_table
from pinakes.report.tables.significance import comparison_table


def texts(table: Table) -> list[list[str]]:
    return [[cell.full_text for cell in row.cells] for row in table.rows]


def kinds(table: Table, row: int) -> list[str]:
    return [cell.kind for cell in table.rows[row].cells]


def headings(table: Table) -> list[str]:
    return [column.title for column in table.columns]


def test_result_table_puts_published_systems_among_ours_best_first(report: BenchmarkReport) -> None:
    table = result_table(report)
    assert headings(table) == ["system", "from", "queries", "nDCG@10", "P@10"]
    assert texts(table) == [
        ["Best", "published", "–", "70.00", "–"],
        ["dense", "run 2", "3/4, 1 missing", "62.50", "12.35"],
        ["Old", "published", "–", "55.00", "–"],
        ["BM25", "run 1", "4/4", "50.00", "10.00"],
        ["bm-25", "published", "–", "49.88", "–"],
    ]
    assert [row.is_ours for row in table.rows] == [False, True, False, True, False]
    assert "Table 4" in table.note


def test_best_value_of_our_runs_stands_out_and_missing_queries_warn(report: BenchmarkReport) -> None:
    table = result_table(report)
    assert kinds(table, 1) == ["plain", "plain", "warning", "best", "best"]
    assert kinds(table, 3) == ["plain"] * 5


def test_share_scale_has_four_decimals(report: BenchmarkReport) -> None:
    table = result_table(replace(report, scale="share"), measures=["P@10"])
    assert texts(table)[:2] == [
        ["dense", "run 2", "3/4, 1 missing", "0.1235"],
        ["BM25", "run 1", "4/4", "0.1000"],
    ]


def test_sources_stand_in_the_rows_where_there_are_several(report: BenchmarkReport) -> None:
    other = replace(report.published[1], source="Leaderboard")
    table = result_table(replace(report, published=[report.published[0], other]))
    assert [row[1] for row in texts(table)] == ["Table 4", "run 2", "Leaderboard", "run 1"]
    assert "Published figures" not in table.note


def test_run_without_scores_is_last_and_called_not_evaluated(report: BenchmarkReport) -> None:
    scores = [score for score in report.scores if score.run_id == 1]
    table = result_table(replace(report, scores=scores, published=()))
    assert texts(table) == [
        ["BM25", "run 1", "4/4", "50.00", "10.00"],
        ["dense", "run 2", "not evaluated", "–", "–"],
    ]


def test_subset_table_names_the_best_published_system_and_flags_missing(report: BenchmarkReport) -> None:
    table = subset_table(report)
    assert headings(table) == ["subset", "queries", "dense", "BM25", "best published"]
    assert texts(table) == [
        ["all queries", "4", "62.50 (1 missing)", "50.00", "70.00 (Best)"],
        ["topic cells", "2", "50.00 (1 missing)", "62.50", "–"],
    ]
    assert kinds(table, 0) == ["plain", "plain", "warning", "plain", "plain"]


def test_measure_table_has_a_row_for_each_measure(report: BenchmarkReport) -> None:
    assert texts(measure_table(report, "all")) == [["nDCG@10", "62.50", "50.00"], ["P@10", "12.35", "10.00"]]


def test_comparison_says_b_minus_a_and_marks_small_p_values(report: BenchmarkReport) -> None:
    table = comparison_table(report)
    assert texts(table) == [
        ["BM25", "dense", "+12.50", "-25.00 to +50.00", "2/1/1", "+0.38", "0.5000", "0.0400", "<0.0001"]
    ]
    assert kinds(table, 0)[-3:] == ["plain", "best", "best"]


def test_query_table_has_every_query(report: BenchmarkReport) -> None:
    assert texts(query_table(report)) == [
        ["q1", "100.00", "50.00"],
        ["q2", "50.00", "25.00"],
        ["q3", "100.00", "100.00"],
        ["q4", "0.00", "25.00"],
    ]


def test_system_of_the_published_name_is_found_apart_from_case_and_punctuation(
    report: BenchmarkReport,
) -> None:
    assert match_published(report) == {1: "bm-25"}
    table = reproduction_table(report)
    assert table is not None
    assert texts(table) == [["BM25", "all queries", "50.00 (+0.12)"]]


def test_difference_is_ours_minus_theirs(report: BenchmarkReport) -> None:
    table = difference_table(report, "all")
    assert table is not None
    assert headings(table) == ["system", "published", "dense minus published", "BM25 minus published"]
    assert texts(table) == [
        ["Best", "70.00", "-7.50", "-20.00"],
        ["Old", "55.00", "+7.50", "-5.00"],
        ["bm-25", "49.88", "+12.62", "+0.12"],
    ]


def test_there_is_no_table_of_published_figures_without_any(report: BenchmarkReport) -> None:
    bare = replace(report, published=())
    assert difference_table(bare, "all") is None
    assert reproduction_table(bare) is None


def test_coverage_table_flags_what_is_missing(report: BenchmarkReport) -> None:
    table = coverage_table(report)
    assert texts(table) == [
        ["dense", "run 2", "3/4, 1 missing", "1,400", "7", "5,600", "whole pool", "1.50"],
        ["BM25", "run 1", "4/4", "1,400", "0", "5,600", "whole pool", "1.50"],
    ]
    assert kinds(table, 0)[2:5] == ["warning", "plain", "warning"]


def test_origin_of_a_run_leaves_out_what_there_is_not(report: BenchmarkReport) -> None:
    assert describe_run(replace(report.runs[0], is_current=False)) == [
        ("run", "1"),
        ("system", "BM25"),
        ("query template", "text"),
        ("paper template", "abstract"),
        ("depth", "whole pool"),
        ("started", "2026-03-01 09:30:00 UTC"),
        ("took", "1.50 s"),
        ("device", "cpu"),
        ("Pinakes", "0.1.0"),
        ("digest of the rows", "d" * 64),
        ("digest of the definition", "e" * 64 + " (not today's)"),
        ("run digest", "1" * 64),
        ("analysis.stemmer", "english"),
        ("b", "0.75"),
    ]


def test_load_tables_say_what_became_of_every_record() -> None:
    files = [
        FileSummary("a.jsonl", "papers", False, 1200, 1190, 0, 5, 10),
        FileSummary("b.jsonl", "papers", True),
    ]
    summary = LoadSummary(
        "tiny",
        files,
        {"not_json": 10},
        {"papers": 1190, "papers_without_title": 2},
        Resolved(0, 0, 0),
        [],
        {"not_json": [("a.jsonl", "line 7", "expected a\nvalue"), ("a.jsonl", "line 9", "x" * 100)]},
        2,
        [{"file": name, "reason": "hidden", "message": ""} for name in (".a", ".b", ".c", ".d")],
        [{"kind": "citations", "reason": "no_reference", "items": 1234}],
        elapsed_s=75.0,
    )
    tables = load_tables("tiny", summary)
    titles = [table.title for table in tables]
    assert titles == ["Load of tiny", "Rejected", "Not read", "Left out", "Corpus tiny"]
    assert "Files read: 2; not read: 4." in str(tables[0].note)
    assert texts(tables[0]) == [
        ["a.jsonl", "papers", "1,200", "1,190", "0", "5", "10"],
        ["b.jsonl", "papers", "in before", "–", "–", "–", "–"],
    ]
    assert kinds(tables[0], 0)[-1] == "warning"
    places = f"a.jsonl, line 7: expected a value; a.jsonl, line 9: {'x' * 79}…"
    assert texts(tables[1]) == [["the line is not JSON", places, "10"]]
    assert texts(tables[2]) == [["it is a hidden file, or of the system", ".a, .b, .c", "4"]]
    assert texts(tables[3]) == [["citations", "it names no entry of the paper's bibliography", "1,234"]]
    assert texts(tables[4]) == [["papers", "1,190"], ["papers without title", "2"]]


def test_values_are_rounded_half_to_even_of_their_binary_value_and_zero_has_no_sign() -> None:
    assert [format_value(v, "share") for v in (0.0, 0.00005, 1.0)] == ["0.0000", "0.0001", "1.0000"]
    assert [format_difference(v, "share") for v in (-0.00004, 0.00004, -0.5)] == [
        "0.0000",
        "0.0000",
        "-0.5000",
    ]
    assert format_difference(-0.0001, "percent") == "-0.01"


def test_p_value_is_never_zero() -> None:
    assert [format_p(p) for p in (0.0, 0.0001, 1.0)] == ["<0.0001", "0.0001", "1.0000"]


def test_duration_changes_its_unit_where_it_would_read_sixty() -> None:
    assert [format_seconds(s) for s in (59.94, 59.97, 3599.6)] == ["59.9 s", "1 min 00 s", "1 h 00 min"]


def test_many_measures_leave_those_that_nobody_published_to_the_other_tables(report: BenchmarkReport) -> None:
    others = [replace(report.scores[0], measure=f"P@{cut}") for cut in range(1, 10)]
    crowded = replace(report, scores=[*report.scores, *others])
    assert crowded.list_lead_measures("all") == ["nDCG@10"]
    assert len(crowded.list_measures("all")) == 11
