"""An example side by side as a table of sentences, the runs by letters."""

from collections.abc import Sequence
from string import ascii_uppercase

from pinakes.report.formatting import ABSENT
from pinakes.report.layout import Cell, Column, Row, Table, make_row
from pinakes.report.summaries.data import Gap, ShownExample, ShownSentence
from pinakes.report.summaries.example import TOP


def name_letter(place: int) -> str:
    """What a run is called in the table: A, B, …, Z, AA, …

    >>> name_letter(0), name_letter(25), name_letter(26)
    ('A', 'Z', 'AA')
    """
    rounds, letter = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[letter] if not rounds else name_letter(rounds - 1) + ascii_uppercase[letter]


def list_letters(example: ShownExample) -> list[tuple[str, str, str]]:
    """Letter, label and average precision of each run."""
    return [
        (name_letter(place), run.label, write_precision(example, run.run_id))
        for place, run in enumerate(example.runs)
    ]


def write_precision(example: ShownExample, run_id: int) -> str:
    """The run's average precision of the example."""
    value = example.values.get(run_id)
    return ABSENT if value is None else f"{value:.3f}"


def say_relevant(sentence: ShownSentence) -> str:
    """Why a sentence is relevant; empty where it is not."""
    if sentence.step is not None:
        return f"step {sentence.step}"
    return "cites" if sentence.is_citing else ""


def say_gap(gap: Gap) -> str:
    """How many sentences are not shown.

    >>> say_gap(Gap(1)), say_gap(Gap(1200))
    ('… 1 sentence …', '… 1,200 sentences …')
    """
    return f"… {gap.sentences:,} sentence{'s' if gap.sentences > 1 else ''} …"


def example_table(example: ShownExample) -> Table:
    """The sentences that are shown, with why they are relevant and which runs have them among their first."""
    columns = (
        Column("no."),
        Column("sentence", is_number=False),
        Column("relevant", is_number=False),
        *(Column(letter) for letter, _label, _value in list_letters(example)),
    )
    rows = [_make_row(example, line) for line in example.lines]
    return Table(f"{example.paper} on {example.reference}", columns, rows, describe_marks())


def _make_row(example: ShownExample, line: ShownSentence | Gap) -> Row:
    if isinstance(line, Gap):
        return make_row("", say_gap(line), *("" for _column in range(1 + len(example.runs))), is_ours=False)
    relevant = say_relevant(line)
    ranks: Sequence[Cell] = [
        Cell(str(line.ranks[run.run_id]), "best" if relevant else "plain")
        if run.run_id in line.ranks
        else Cell("")
        for run in example.runs
    ]
    return make_row(str(line.number), line.text, relevant, *ranks)


def describe_marks() -> str:
    """How to read the columns."""
    return (
        "“cites”: one of the citing sentences; “step”: added by the augmentation in that step. Numbers: the "
        f"first {TOP} sentences of each run, by rank; bold where the sentence is relevant. Of a long "
        "document the marked sentences are shown, with their neighbours."
    )
