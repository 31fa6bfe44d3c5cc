"""What a benchmark's folder must say, and what its reader says where it does not."""

from collections import Counter
from pathlib import Path

import pytest

from pinakes.errors import BenchmarkError, UnknownNameError
from pinakes.queries.definition import list_benchmarks, read_benchmark
from pinakes.queries.tasks import resolve_task
from tests.benching import BENCHMARK_TOML, write_benchmark

SAMPLED = ["field_level", "large_scale", "mdcr_constructed"]
OF_ANY = ["sciqfs", "self_retrieval"]
"""those that are asked of whatever corpus a run names"""
OF_ANOTHER = {"csfcube_sentences": "csfcube", "scirepeval_s2and": "s2and"}
"""benchmark -> the corpus of another name that it is of"""
SCIREPEVAL = [
    *("biomimicry", "cite_count", "cite_prediction", "drsm", "feeds_1", "feeds_m", "feeds_title", "fos"),
    *("high_influence_cite", "hindex", "mesh_descriptors", "nfcorpus", "peer_review_score", "pub_year"),
    "paper_reviewer_matching",
    *("relish", "same_author", "scidocs_cite", "scidocs_cocite", "scidocs_mag", "scidocs_mesh"),
    *("scidocs_read", "scidocs_view", "search", "trec_covid", "tweet_mentions"),
]
OWN = ["cranfield", "csfcube", "mdcr", "scifact", "synthetic"]
BUNDLED = sorted([*OWN, *SAMPLED, *OF_ANY, *OF_ANOTHER, *(f"scirepeval_{task}" for task in SCIREPEVAL)])


def test_the_bundled_benchmarks_are_read() -> None:
    assert list_benchmarks() == BUNDLED
    for name in BUNDLED:
        benchmark = read_benchmark(name)
        assert benchmark.name == name
        if name.startswith("scirepeval_"):
            assert benchmark.corpus.startswith("scirepeval-") or benchmark.corpus == OF_ANOTHER[name]
            assert benchmark.format is not None
        else:
            assert benchmark.corpus == ("" if name in (*SAMPLED, *OF_ANY) else OF_ANOTHER.get(name, name))
        assert (benchmark.sampling is not None) == (name in SAMPLED)
        assert benchmark.headline_measure in benchmark.measures
        assert set(benchmark.sql) == set(resolve_task(benchmark.task).views)


def test_every_task_of_scirepeval_is_in_the_suite_but_the_one_without_a_measure() -> None:
    suites = {task: read_benchmark(f"scirepeval_{task}").suite for task in SCIREPEVAL}
    assert [task for task, suite in suites.items() if suite is None] == ["cite_prediction"]
    groups = Counter(suite.group for suite in suites.values() if suite is not None)
    assert groups == {"In-Train": 7, "Out-of-Train": 12, "SciDocs": 6}
    for task, suite in suites.items():
        benchmark = read_benchmark(f"scirepeval_{task}")
        shots = {f"{setting['size']}-shot" for setting in benchmark.probe.get("few_shot", ())}
        for subset, measure in (pair for figure in (suite.figures if suite else ()) for pair in figure):
            assert subset in {"all", *shots}
            assert measure in benchmark.measures
    reloaded = {task for task in SCIREPEVAL if read_benchmark(f"scirepeval_{task}").reloaded_as == "fp16"}
    assert reloaded == {"hindex", "scidocs_mesh", "scidocs_cocite", "scidocs_read", "scidocs_view"}


def test_csfcube_says_how_its_test_split_is_averaged() -> None:
    benchmark = read_benchmark("csfcube")
    assert (benchmark.pool, benchmark.depth, benchmark.group_by) == ("per_query", None, ("facet",))
    assert benchmark.fold_column == "fold"
    assert benchmark.splits == {
        "dev": (frozenset("A"),),
        "test": (frozenset("B"), frozenset("A")),
    }


def test_published_figures_are_read_from_their_table() -> None:
    published = read_benchmark("csfcube").published
    assert Counter(score.subset for score in published) == {
        "facet=background/test": 50,
        "facet=method/test": 50,
        "facet=result/test": 50,
        "all/test": 50,
    }
    odd = next(score for score in published if score.printed == "02.89")
    assert (odd.system, odd.subset, odd.measure) == ("SentBERT-NLI", "facet=method/test", "CSFCube.R@20")
    assert odd.value == pytest.approx(0.0289)


def test_the_digest_is_of_all_four_files(tmp_path: Path) -> None:
    digests = [read_benchmark("own", [write_benchmark(tmp_path / "a")]).digest]
    digests += [
        read_benchmark("own", [write_benchmark(tmp_path / name, **{name: "SELECT 1"})]).digest
        for name in ("queries", "candidates", "judgments")
    ]
    longer = write_benchmark(tmp_path / "b", toml=BENCHMARK_TOML + "\n")
    digests.append(read_benchmark("own", [longer]).digest)
    assert len(set(digests)) == 5
    assert read_benchmark("own", [write_benchmark(tmp_path / "c")]).digest == digests[0]


def test_a_users_folder_wins_over_a_bundled_benchmark_of_that_name(tmp_path: Path) -> None:
    folders = [write_benchmark(tmp_path, name="scifact")]
    assert read_benchmark("scifact", folders).title == "A benchmark of a test"
    assert list_benchmarks(folders) == BUNDLED


def test_folders_without_a_description_are_no_benchmarks(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "readme.txt").write_text("about")
    assert list_benchmarks([tmp_path]) == BUNDLED


def test_an_unknown_benchmark_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError) as raised:
        read_benchmark("other", [write_benchmark(tmp_path)])
    known = ", ".join(sorted([*BUNDLED, "own"]))
    assert str(raised.value) == (
        f"unknown benchmark 'other'; known: {known}. More folders: PINAKES_BENCHMARKS."
    )


def test_a_benchmark_ranks_unless_it_names_a_task(tmp_path: Path) -> None:
    assert read_benchmark("own", [write_benchmark(tmp_path / "a")]).task == "ranking"
    named = write_benchmark(tmp_path / "b", toml='task = "ranking"' + BENCHMARK_TOML)
    assert read_benchmark("own", [named]).task == "ranking"
    unknown = write_benchmark(tmp_path / "c", toml='task = "sorting"' + BENCHMARK_TOML)
    with pytest.raises(
        UnknownNameError, match="unknown task 'sorting'; known: classification, clustering, ranking, "
    ):
        read_benchmark("own", [unknown])


WRONG = {
    "no TOML": ("title = ", "own/benchmark.toml is not as it should be: "),
    "no corpus": (BENCHMARK_TOML.replace("corpus =", "#"), "own/benchmark.toml lacks corpus."),
    "no measures": (BENCHMARK_TOML.replace("measures =", "#"), "own/benchmark.toml lacks measures."),
    "no grades": (BENCHMARK_TOML.replace("[grades]", "[grade]"), "own/benchmark.toml lacks grades."),
    "unknown pool": (
        BENCHMARK_TOML.replace('"{pool}"', '"own"'),
        "own/benchmark.toml is not as it should be: pool is 'own'; expected one of shared, per_query, "
        "grouped.",
    ),
    "average of no group": (
        BENCHMARK_TOML + '[aggregation.averages]\n"mean(field)" = { column = "field" }\n',
        "own/benchmark.toml is not as it should be: the average 'mean(field)' is of 'field', which group_by "
        "lacks.",
    ),
    "tuning folds of no column": (
        BENCHMARK_TOML + '[aggregation]\ntuning_folds = ["validation"]\n',
        "own/benchmark.toml is not as it should be: tuning_folds are given without a fold_column.",
    ),
    "headline not measured": (
        BENCHMARK_TOML.replace('headline_measure = "nDCG@10"', 'headline_measure = "RR"'),
        "own/benchmark.toml is not as it should be: headline_measure 'RR' is not one of measures, a list: "
        "['nDCG@10', 'AP'].",
    ),
    "measures are no list": (
        BENCHMARK_TOML.replace('["nDCG@10", "AP"]', '"nDCG@10"'),
        "own/benchmark.toml is not as it should be: headline_measure 'nDCG@10' is not one of measures, a "
        "list: 'nDCG@10'.",
    ),
    "no depth": (
        "depth = 0\n" + BENCHMARK_TOML,
        "own/benchmark.toml is not as it should be: depth is 0; expected 1 or more, or none for the whole "
        "pool.",
    ),
    "figures without a source": (
        BENCHMARK_TOML + '\n[[published]]\nscale = 1\nmeasures = ["AP"]\n[published.rows.all]\nx = ["0.1"]\n',
        "own/benchmark.toml lacks source.",
    ),
    "a figure too few": (
        BENCHMARK_TOML
        + '\n[[published]]\nscale = 1\nsource = "x"\nmeasures = ["AP", "RR"]\n'
        + '[published.rows.all]\nx = ["0.1"]\n',
        "own/benchmark.toml is not as it should be: ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", list(WRONG))
def test_a_description_that_is_not_as_expected_is_refused(tmp_path: Path, case: str) -> None:
    toml, message = WRONG[case]
    with pytest.raises(BenchmarkError) as raised:
        read_benchmark("own", [write_benchmark(tmp_path, toml=toml)])
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("missing", ["queries.sql", "candidates.sql", "judgments.sql"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    write_benchmark(tmp_path)
    (tmp_path / "own" / missing).unlink()
    with pytest.raises(BenchmarkError, match=f"the benchmark own has no {missing}"):
        read_benchmark("own", [tmp_path])


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    (tmp_path / "own" / "queries.sql").write_bytes(b"-- caf\xe9")
    with pytest.raises(BenchmarkError, match=r"own/queries\.sql is not UTF-8 \(byte 6\)"):
        read_benchmark("own", [tmp_path])


@pytest.mark.parametrize("name", ["Own", "my-own", "9own", "main", "public", "pg_own", "system", "a" * 50])
def test_a_name_that_cannot_be_a_schema_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BenchmarkError, match=f"'{name}' cannot name a benchmark"):
        list_benchmarks([write_benchmark(tmp_path, name=name)])


def test_a_folder_of_benchmarks_that_is_not_there_holds_none_and_is_named(tmp_path: Path) -> None:
    nowhere = tmp_path / "none"
    assert list_benchmarks([nowhere]) == list_benchmarks()
    with pytest.raises(UnknownNameError, match=rf"PINAKES_BENCHMARKS names, {nowhere} is not there\."):
        read_benchmark("own", [nowhere])
