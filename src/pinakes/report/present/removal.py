"""What `remove` and `gc` have to say."""

from dataclasses import asdict

from pinakes.removal.data import Garbage, Removal
from pinakes.report.for_programs import print_data
from pinakes.report.layout import Table, make_columns, make_row
from pinakes.report.output import Output
from pinakes.report.terminal import print_table

_DRY = " (dry run: nothing was removed)"


def print_removal(removal: Removal, out: Output, *, is_dry: bool = False) -> None:
    """What was removed, or would be: rows by table, or one JSON object."""
    if out.is_for_programs:
        print_data({**asdict(removal), "is_dry": is_dry}, out)
        return
    rows = [make_row(table, f"{count:,}", "removed") for table, count in removal.deleted.items()]
    rows += [make_row(table, f"{count:,}", "names none now") for table, count in removal.cleared.items()]
    with_it = f"With it go the runs {', '.join(map(str, removal.runs))}. " if removal.runs else ""
    note = f"{with_it}`pinakes gc` removes vectors and indexes that nothing refers to."
    title = f"Removal of {removal.what}{_DRY if is_dry else ''}"
    print_table(Table(title, make_columns(["table"], ["rows", "which"]), rows, note), out)


def print_garbage(garbage: Garbage, out: Output, *, is_dry: bool = False) -> None:
    """What nothing refers to: what it is, how much of it; or one JSON object."""
    if out.is_for_programs:
        print_data({**asdict(garbage), "is_dry": is_dry}, out)
        return
    rows = [make_row(what, f"{count:,}") for what, count in garbage.rows.items()]
    rows += [make_row(f"folder {name}", f"{size:,} bytes") for name, size in garbage.folders.items()]
    title = f"What nothing refers to{_DRY if is_dry else ''}"
    print_table(Table(title, make_columns(["what"], ["how much"]), rows, " ".join(garbage.left)), out)
