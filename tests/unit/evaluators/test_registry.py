import ir_measures
import pytest

from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluators.base import Family
from pinakes.evaluators.other_names import ALIASES, REFUSED
from pinakes.evaluators.registry import FAMILIES, find_family, parse_measure


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


def test_everything_that_ir_measures_names_is_computed_or_refused_with_a_reason() -> None:
    named = set(ir_measures.measures.registry)
    assert named - set(FAMILIES) - set(ALIASES) - set(REFUSED) == set()
    for name in named - set(REFUSED):
        # the cutoff and the parameters are its own
        takes = find_family(ALIASES.get(name, (name, {}))[0]).parameters
        theirs = set(ir_measures.measures.registry[name].SUPPORTED_PARAMS) - {"cutoff", "recall"}
        assert theirs <= set(takes), name


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
        ("RR@10", "RR@10"),
        ("MRR@10", "RR@10"),
        ("MAP@100", "AP@100"),
        ("Recall@100", "R@100"),
        ("Precision(rel=2)@5", "P(rel=2)@5"),
        ("Hit@10", "Success@10"),
        ("ERR@20", "ERR@20"),
        ("RBP(p=0.80)", "RBP"),
        ("RBP(rel=1, p=0.5)@10", "RBP(p=0.5,rel=1)@10"),
        ("Compat(normalize=False)", "Compat(normalize=False)"),
        ("INST(T=2, max_rel=3)", "INST(T=2.0,max_rel=3)"),
        ('nDCG(dcg="exp-log2")@10', "nDCG(dcg='exp-log2')@10"),
        ("SetF(beta=2)", "SetF(beta=2.0)"),
        # trec_eval's
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("P_5", "P@5"),
        ("P.5", "P@5"),
        ("recall_100", "R@100"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("recip_rank", "RR"),
        ("bpref", "Bpref"),
        ("success_1", "Success@1"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("iprec_at_recall_0.00", "IPrec@0.0"),
        ("num_rel_ret", "NumRet(rel=1)"),
        ("num_q", "NumQ"),
        ("set_F", "SetF"),
        ("set_recall", "SetR"),
        ("set_map(rel=2)", "SetAP(rel=2)"),
        # those of MTEB and ranx
        ("ndcg_at_10", "nDCG@10"),
        ("mrr_at_10", "RR@10"),
        ("hit_rate@10", "Success@10"),
        ("r-precision", "Rprec"),
        ("ndcg_burges@10", "nDCG(dcg='exp-log2')@10"),
    ],
)
def test_spellings_of_one_measure_have_one_canonical_name(written: str, canonical: str) -> None:
    assert parse_measure(written).name == canonical
    assert parse_measure(canonical).name == canonical


def test_unknown_measure_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown measure 'Speed'; known: AP, Accuracy, BPM, "):
        parse_measure("Speed@10")


@pytest.mark.parametrize(
    ("written", "meant"), [("recal@100", "Recall"), ("NERR@10", "NERR8"), ("RBO", "RBP")]
)
def test_unknown_measure_is_told_what_was_meant(written: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"Did you mean .*\b{meant}\b"):
        parse_measure(written)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "'' is not the name of a measure; write it like AP, nDCG@10, P(rel=2)@20 or nDCG%20"),
        ("P", "the cutoff of measure P is None; expected @ and a rank from 1"),
        ("P@0", "the cutoff of measure P is 0; expected @ and a rank from 1"),
        ("P@2.5", "the cutoff of measure P is 2.5; expected @ and a rank from 1"),
        ("RR@0", "the cutoff of measure RR is 0; expected @ and a rank from 1, or nothing"),
        ("Bpref@10", "the cutoff of measure Bpref is 10; expected no cutoff"),
        ("P_5@5", "'P_5' has a cutoff already; leave out @5"),
        ("BPM@10", "measure BPM lacks its parameter max_rel; write BPM(max_rel=…)"),
        (
            "INST(min_rel=3,max_rel=3)",
            "measure INST cannot be computed so: min_rel is 3 and max_rel 3; expected less than max_rel",
        ),
        ("RBP(p=1)", "p of measure RBP is 1.0; expected a number between 0 and 1"),
        ("SetF(beta=0)", "beta of measure SetF is 0.0; expected a number above 0"),
        ("nDCG(dcg='log10')", "dcg of measure nDCG is 'log10'; expected 'log2' or 'exp-log2'"),
        (
            "nDCG(dcg='exp-log2',gains={1:2})",
            "measure nDCG cannot be computed so: gains and dcg='exp-log2' both say what a grade gains; "
            "give one",
        ),
        (
            "SDCG(max_rel=3,dcg='exp-log2')@10",
            "measure SDCG cannot be computed so: it has dcg='log2' alone",
        ),
        (
            "alpha_nDCG@10",
            "measure alpha_nDCG is not computed here: it needs judgments of each subtopic of a query, "
            "which benchmarks here do not have.",
        ),
        (
            "gm_map",
            "measure gm_map is not computed here: it is a geometric mean over queries, and scores here are "
            "arithmetic means.",
        ),
        (
            "11pt_avg",
            "measure 11pt_avg is not computed here: it is the mean of IPrec@0.0, IPrec@0.1 … IPrec@1.0; "
            "name these.",
        ),
        ("nDCG%0", "the cutoff of measure nDCG is 0; expected % and a whole percentage from 1 to 100"),
        ("nDCG%101", "the cutoff of measure nDCG is 101; expected % and a whole percentage from 1 to 100"),
        (
            "IPrec@0.125",
            "the cutoff of measure IPrec is 0.125; expected @ and a recall level from 0 to 1 "
            "with at most two decimals",
        ),
        ("nDCG(rel=2)", "measure nDCG has no parameter 'rel'; it takes: dcg, gains, judged_only"),
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
