"""Which encoder reads what, by name and format: no model is looked for here."""

import pytest

from pinakes.errors import InputError, UnknownNameError
from pinakes.indexers.encoder.presets import list_presets
from pinakes.workload.readers import (
    FormatChoice,
    Reader,
    find_readers,
    list_codes,
    list_parts,
    parse_members,
)

NAMES = {name: name for name in [*list_presets(), "a", "b", "c", "d", "./m"]}
ALL = "formats:CLF=a,RGN=mean:b,c,PRX=query: {d},QRY=./m"


def describe(system: str, own: str | None, forced: str | None = None) -> tuple[str, list[str], list[str]]:
    """The name in a run, and prefix + encoder of those who read queries and papers."""
    readers = find_readers(system, FormatChoice(own, forced))
    sides = (readers.queries, readers.papers)
    queries, papers = ([f"{one.prefix}|{one.encoder}" for one in side] for side in sides)
    return readers.spell(NAMES), queries, papers


@pytest.mark.parametrize(
    ("system", "own", "forced", "expected"),
    [
        ("minilm", None, None, ("minilm", ["|minilm"], ["|minilm"])),
        ("minilm", "SRCH", None, ("minilm", ["|minilm"], ["|minilm"])),
        ("mean:a,b", "CLF", None, ("mean:a,b", ["|a", "|b"], ["|a", "|b"])),
        (ALL, "CLF", None, ("a", ["|a"], ["|a"])),
        (ALL, "RGN", None, ("mean:b,c", ["|b", "|c"], ["|b", "|c"])),
        (ALL, "PRX", None, ("query: {d}", ["query: |d"], ["query: |d"])),
        (ALL, "SRCH", None, ("formats:PRX=query: {d},QRY=./m", ["|./m"], ["query: |d"])),
        (ALL, "PRX", "CLF", ("a", ["|a"], ["|a"])),
        (f"{ALL},SRCH=b", "SRCH", None, ("b", ["|b"], ["|b"])),
        ("formats:PRX=a,QRY=a", "SRCH", None, ("a", ["|a"], ["|a"])),
        (
            "scirepeval_ctrl",
            "CLF",
            None,
            ("scirepeval_ctrl", ["[CLF] |scirepeval_ctrl"], ["[CLF] |scirepeval_ctrl"]),
        ),
        (
            "scirepeval_ctrl",
            "CLF",
            "SRCH",
            ("scirepeval_ctrl[SRCH]", ["[QRY] |scirepeval_ctrl"], ["[PRX] |scirepeval_ctrl"]),
        ),
        ("specter2_formats", "SRCH", None, ("specter2_formats", ["|specter2_adhoc_query"], ["|specter2"])),
        (
            "mean:scirepeval_adapters,scirepeval_ctrl",
            None,
            "RGN",
            (
                "mean:scirepeval_adapters[RGN],scirepeval_ctrl[RGN]",
                ["|scirepeval_adapters_rgn", "[RGN] |scirepeval_ctrl"],
                ["|scirepeval_adapters_rgn", "[RGN] |scirepeval_ctrl"],
            ),
        ),
        ("e5", None, None, ("e5", ["query: |e5"], ["passage: |e5"])),
        ("e5", "PRX", None, ("e5", ["query: |e5"], ["query: |e5"])),
        ("e5@main", "SRCH", "QRY", ("e5@main[QRY]", ["query: |e5@main"], ["query: |e5@main"])),
    ],
)
def test_a_format_has_its_readers_and_its_name(
    system: str, own: str | None, forced: str | None, expected: tuple[str, list[str], list[str]]
) -> None:
    NAMES["e5@main"] = "e5@main"
    assert describe(system, own, forced) == expected


def test_a_name_of_formats_in_a_run_is_a_name_that_means_the_same() -> None:
    name, queries, papers = describe(ALL, "SRCH")
    assert describe(name, "SRCH") == (name, queries, papers)


def test_published_prompts_stand_before_what_any_encoder_reads() -> None:
    readers = find_readers("mean:a,b", FormatChoice("SRCH", prompts="qwen3"))
    query = "Instruct: Given a scientific query, identify relevant scientific documents. query: "
    assert readers.queries == [Reader("a", query), Reader("b", query)]
    # The published candidate of a search has no prompt.
    assert readers.papers == [Reader("a"), Reader("b")]
    with pytest.raises(InputError, match="scirepeval_ctrl has prefixes of its own"):
        find_readers("scirepeval_ctrl", FormatChoice("CLF", prompts="qwen3"))
    with pytest.raises(UnknownNameError, match="prompts 'x'"):
        find_readers("a", FormatChoice("CLF", prompts="x"))


@pytest.mark.parametrize(
    "name",
    [
        "formats:",
        "formats:minilm",
        "formats:minilm,CLF=a",
        "formats:CLF=",
        "formats:CLF=a,CLF=b",
        "formats:CLF=a,RGN=",
        "formats:CLF=formats:CLF=a",
        "formats:CLF=formats:a",
        "formats:clf=a",
    ],
)
def test_a_name_of_formats_that_says_too_little_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="expected an encoder, or mean:ENCODER,ENCODER, for some of CLF"):
        parse_members(name)


def test_a_mean_is_of_several_encoders_and_stands_within_formats() -> None:
    for name in ("mean:a", "mean:a,a", "mean:a,", "mean:"):
        with pytest.raises(InputError, match="expected at least two encoders, each once"):
            list_parts(name)
    with pytest.raises(InputError, match="write the mean within the formats"):
        list_parts("mean:a,formats:CLF=b")


def test_a_search_asks_with_one_code_and_reads_papers_with_another() -> None:
    assert [list_codes(one) for one in ("CLF", "RGN", "PRX", "SRCH", "QRY")] == [
        ("CLF", "CLF"),
        ("RGN", "RGN"),
        ("PRX", "PRX"),
        ("QRY", "PRX"),
        ("QRY", "QRY"),
    ]
