import pytest

from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluators.base import Family
from pinakes.evaluators.registry import ALIASES, FAMILIES, find_family, parse_measure


@pytest.mark.parametrize("key", FAMILIES)
def test_every_entry_resolves_to_the_family_of_its_name(key: str) -> None:
    family = find_family(key)
    assert isinstance(family, Family)
    assert family.base + ("%" if family.cutoff == "share" else "") == key


@pytest.mark.parametrize("alias", ALIASES)
def test_every_alias_stands_for_a_known_family_and_its_parameters(alias: str) -> None:
    base, parameters = ALIASES[alias]
    assert parameters.items() <= {**find_family(base).parameters, **parameters}.items()
    assert set(parameters) <= set(find_family(base).parameters)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("AP", "AP"),
        ("MAP", "AP"),
        (" nDCG@10 ", "nDCG@10"),
        ("P( rel = 2 )@20", "P(rel=2)@20"),
        ("P(rel=2,judged_only=True)@20", "P(judged_only=True,rel=2)@20"),
        ("P(rel=1)@5", "P@5"),
        ("AP()", "AP"),
        ("NumRelRet", "NumRet(rel=1)"),
        ("SetRelP", "SetP(relative=True)"),
        ("IPrec@0.10", "IPrec@0.1"),
        ("IPrec@1", "IPrec@1.0"),
        ("nDCG(gains={2: 3, 1: 1})@5", "nDCG(gains={1:1,2:3})@5"),
        ("nDCG%20", "nDCG%20"),
        ("CSFCube.nDCG%20", "CSFCube.nDCG%20"),
        ("CSFCube.RP", "CSFCube.RP"),
    ],
)
def test_spellings_of_one_measure_have_one_canonical_name(written: str, canonical: str) -> None:
    assert parse_measure(written).name == canonical
    assert parse_measure(canonical).name == canonical


def test_unknown_measure_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse_measure("Speed@10")
    known = ", ".join(sorted([*FAMILIES, *ALIASES]))
    assert str(caught.value) == f"unknown measure 'Speed'; known: {known}"
    with pytest.raises(UnknownNameError, match=r"Did you mean NDCG, nDCG or nDCG%\?"):
        parse_measure("NDGC@10")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "'' is not the name of a measure; write it like AP, nDCG@10, P(rel=2)@20 or nDCG%20"),
        ("P", "the cutoff of measure P is None; expected @ and a rank from 1"),
        ("P@0", "the cutoff of measure P is 0; expected @ and a rank from 1"),
        ("P@2.5", "the cutoff of measure P is 2.5; expected @ and a rank from 1"),
        ("RR@10", "the cutoff of measure RR is 10; expected no cutoff"),
        ("nDCG%0", "the cutoff of measure nDCG is 0; expected % and a whole percentage from 1 to 100"),
        ("nDCG%101", "the cutoff of measure nDCG is 101; expected % and a whole percentage from 1 to 100"),
        (
            "IPrec@0.125",
            "the cutoff of measure IPrec is 0.125; expected @ and a recall level from 0 to 1 "
            "with at most two decimals",
        ),
        ("nDCG(rel=2)", "measure nDCG has no parameter 'rel'; it takes: gains, judged_only"),
        ("CSFCube.RP(rel=2)", "measure CSFCube.RP has no parameter 'rel'; it takes: none"),
        ("AP(rel=0)", "rel of measure AP is 0; expected a whole number from 1"),
        ("AP(rel=True)", "rel of measure AP is True; expected a whole number from 1"),
        ("AP(judged_only=1)", "judged_only of measure AP is 1; expected True or False"),
        (
            "nDCG(gains={1: 0.5})",
            "gains of measure nDCG is {1: 0.5}; expected whole numbers by grade, such as {1: 1, 2: 3}",
        ),
    ],
)
def test_what_a_measure_does_not_take_is_refused(written: str, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        parse_measure(written)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "written", ["P(2)@5", "P(rel=)@5", "P(rel=1)(rel=2)@5", "P(rel=1,rel=2)@5", "P(rel=x)@5"]
)
def test_parameters_that_cannot_be_read_are_refused(written: str) -> None:
    with pytest.raises(EvaluationError, match=r"cannot be read .*; write them like \(rel=2\)"):
        parse_measure(written)
