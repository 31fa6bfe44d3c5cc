"""What a machine refuses (a full disk, a missing right, too little memory), in words and with what helps.

Libraries tell of it in their own ways: as an `OSError`, or as an error of another class whose text holds the
system's number or words. `explain_fault` finds both.
"""

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pinakes.errors import PinakesError, show

_NUMBER: Final = re.compile(r"\(os error (\d+)\)|\bcode: (\d+), kind|\[[Ee]rrno (\d+)\]")
_PLACE: Final = (
    "choose another place (--db, PINAKES_INDEX_FOLDER, TMPDIR, or the file or folder that is named)"
)
_AGAIN: Final = "Then start the same command again."

_TOLD: Final[dict[int, str]] = {
    errno.ENOSPC: f"the disk is full. Free some space on it, or {_PLACE}. {_AGAIN}",
    errno.EDQUOT: f"the disk quota of this user is used up. Free some space, or {_PLACE}. {_AGAIN}",
    errno.EFBIG: "the file would be larger than its file system or `ulimit -f` allows. Raise the limit, or "
    f"{_PLACE}. {_AGAIN}",
    errno.EROFS: f"its file system cannot be written to. Make it writable, or {_PLACE}. {_AGAIN}",
    errno.EACCES: f"this user may not do that. Ask for the right to, or {_PLACE}. {_AGAIN}",
    errno.EPERM: f"this user may not do that. Ask for the right to, or {_PLACE}. {_AGAIN}",
    errno.EIO: "the disk cannot be read or written there (input/output error), and may be failing. Look at "
    "the system's log, and copy what matters to another disk before anything else.",
    errno.EMFILE: f"too many files are open. Raise `ulimit -n`, or lower --jobs. {_AGAIN}",
    errno.ENFILE: f"too many files are open on this machine. Close other programs. {_AGAIN}",
    errno.ENOMEM: f"the memory of this machine does not suffice. Free some, or lower --jobs. {_AGAIN}",
    errno.EAGAIN: f"no further process may be started. Close other programs, or lower --jobs. {_AGAIN}",
    errno.EBUSY: f"another program uses it. Wait until that has ended. {_AGAIN}",
    errno.ETXTBSY: f"another program uses it. Wait until that has ended. {_AGAIN}",
    errno.ESTALE: f"its file system was taken away while it was read. Mount it again. {_AGAIN}",
    errno.ETIMEDOUT: f"nothing answered in time. Look whether the server or the disk is there. {_AGAIN}",
    errno.ENAMETOOLONG: "the name is longer than the file system allows. Choose a shorter one.",
    errno.ENOENT: "it is not there, or not any more. Look whether the path is right, and whether another "
    "program removes files there.",
    errno.ENOTDIR: "a part of the path is no folder. Choose another path.",
    errno.EISDIR: "it is a folder, and a file is expected. Choose another path.",
    errno.EEXIST: "something of that name is there already. Remove it, or choose another name.",
    errno.ENOTEMPTY: "the folder is not empty. Wait for a command that writes there, or choose another.",
    errno.ELOOP: "its links lead in a circle. Choose another path.",
    errno.EXDEV: "it cannot be moved to another file system. Choose a path on the same one.",
}
"""the system's number of an error -> what is wrong and what helps"""

_WORDS: Final = {
    os.strerror(number)[:20]: number
    for number in (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EACCES,
        errno.EIO,
        errno.EMFILE,
        errno.ENOMEM,
    )
}
"""how the system's words for an error begin (some libraries cut them) -> its number"""

_NO_MEMORY: Final = _TOLD[errno.ENOMEM]
_NO_DEVICE_MEMORY: Final = (
    "the memory of the device does not suffice. Give it smaller batches (`pinakes encode --token-budget`), "
    f"close other programs that use it, or choose --device cpu. {_AGAIN}"
)
_DAMAGED: Final = (
    "it is damaged or was cut off. Bring it again from where it came: fetch or download a model again, build "
    "an index again."
)


def fault_types() -> tuple[type[Exception], ...]:
    """What libraries raise where the machine refuses; not every such error is one: see `explain_fault`."""
    return (OSError, MemoryError, ValueError, RuntimeError, *_safetensor_errors())


def _safetensor_errors() -> tuple[type[Exception], ...]:
    # Not imported here: what is not loaded raises nothing.
    loaded = sys.modules.get("safetensors")
    return () if loaded is None else (loaded.SafetensorError,)


@contextmanager
def told_as(kind: type[PinakesError], what: str) -> Iterator[None]:
    """Raise what the machine refuses in the block as one of our errors, which begins with `what`."""
    try:
        yield
    except fault_types() as error:
        explained = explain_fault(error)
        if explained is None:
            raise
        raise kind(f"{what}: {explained}") from error


def explain_fault(error: BaseException) -> str | None:
    """What the machine refused and what helps, with the file where it is known; None where it did not.

    >>> explain_fault(OSError(28, "No space left on device", "/data/x")).partition(". ")[0]
    "'/data/x': the disk is full"
    >>> explain_fault(RuntimeError("write error: No space left on dev")).partition(". ")[0]
    'the disk is full'
    >>> explain_fault(ValueError("a number")) is None
    True
    """
    if isinstance(error, OSError):
        return _explain_os_error(error)
    if isinstance(error, MemoryError):
        return _NO_MEMORY
    if isinstance(error, _safetensor_errors()):
        number = _find_number(str(error))
        return f"a file of weights: {_DAMAGED} ({error})" if number is None else _tell(number, str(error))
    if isinstance(error, RuntimeError) and type(error).__name__ == "OutOfMemoryError":
        return _NO_DEVICE_MEMORY
    if isinstance(error, ValueError | RuntimeError):
        number = _find_number(str(error))
        return None if number is None else _tell(number, str(error))
    return None


def _explain_os_error(error: OSError) -> str:
    number = error.errno if error.errno is not None else _find_number(str(error))
    told = _tell(number, error.strerror or str(error))
    return told if error.filename is None else f"{show(str(error.filename))}: {told}"


def _tell(number: int | None, words: str) -> str:
    known = _TOLD.get(number) if number is not None else None
    return known or f"the system refuses it: {words.strip().rstrip('.')}."


def _find_number(words: str) -> int | None:
    """The system's number of an error from what a library says of it; None where it names none."""
    found = _NUMBER.search(words)
    if found:
        return int(next(filter(None, found.groups())))
    if re.search(r"\d+ requested and \d+ written", words):  # numpy, which does not say why
        return errno.ENOSPC
    return next((number for start, number in _WORDS.items() if start in words), None)
