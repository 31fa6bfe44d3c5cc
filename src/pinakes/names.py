"""What a user may call a corpus, a benchmark or a system: a name is used in folders, tables and reports."""

from typing import Final

from pinakes.errors import InputError, show

LONGEST_NAME: Final = 100
"""characters: folders are called by it, and no file system takes more than 255 bytes"""


def check_name(what: str, name: str, hint: str = "") -> str:
    """The name, where it is one; `what` is what it names, `hint` what to do where it is none.

    >>> check_name("corpus", "SciFact 2")
    'SciFact 2'

    Raises:
        InputError: it is empty or too long, or has white space around it, control characters or marks of
            direction.
    """
    if not name.strip():
        fault = "it is empty"
    elif len(name) > LONGEST_NAME:
        fault = f"it has {len(name):,} characters"
    elif name != name.strip():
        fault = "white space stands before or behind it"
    elif not name.isprintable():
        fault = "it has control characters or invisible marks"
    else:
        return name
    raise InputError(
        f"{show(name, LONGEST_NAME)} cannot name a {what}: {fault}; expected 1 to {LONGEST_NAME} visible "
        f"characters.{f' {hint}' if hint else ''}"
    )
