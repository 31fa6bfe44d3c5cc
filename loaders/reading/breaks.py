"""Files that break off: what stands before the damage is kept, and the error says where it is."""

import io
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final, TypeVar, cast

from pinakes.errors import LoadError
from pinakes.loaders.staging import show_raw

_Found = TypeVar("_Found")
_BUFFER_BYTES: Final = 1 << 18


class BrokenStreamError(LoadError):
    """The bytes end too early, or are not what they claim to be."""

    def __init__(self, name: str, fault: object) -> None:
        super().__init__(f"{name} is damaged or cut short: {fault}. Fetch it again.")
        self.name = name
        self.fault = str(fault)


def explain_break(error: BrokenStreamError, place: str, name: str = "") -> LoadError:
    """What is said where a file breaks off at a place; its name is the error's unless one is given."""
    return LoadError(
        f"{name or error.name} is damaged or cut short: it breaks off {place}. Fetch the file again and "
        f"start the same load; what is in already stays ({error.fault})."
    )


class Salvaged:
    """A stream that gives all that stands before its damage, and raises at the next call.

    A buffer that waits for so many bytes throws away those that came before the damage.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._read = cast(io.BufferedIOBase, stream).read1
        self.broken: BrokenStreamError | None = None

    def read(self, size: int) -> bytes:
        """The next bytes: so many, or as many as there are before the end or the damage."""
        if self.broken is not None:
            raise self.broken
        parts: list[bytes] = []
        try:
            while size > 0 and (data := self._read(size)):
                parts.append(data)
                size -= len(data)
        except BrokenStreamError as error:
            if not parts:
                raise
            self.broken = error
        return parts[0] if len(parts) == 1 else b"".join(parts)


def until_broken(found: Iterable[_Found], broken: list[LoadError]) -> Iterator[_Found]:
    """What is found, up to where the file breaks off; the error is then put into the list.

    So that what stands before the damage is kept, and the error raised behind it.
    """
    try:
        yield from found
    except LoadError as error:
        broken.append(error)


def place_break(error: LoadError, place: str) -> LoadError:
    """The error with the last record before the damage."""
    if not isinstance(error, BrokenStreamError):
        return error
    return explain_break(error, f"after {show_raw(place)}" if place else "before its first record")


def look_ahead(stream: IO[bytes], size: int) -> tuple[bytes, IO[bytes]]:
    """The first bytes of a stream, so many or all that there are, and the whole stream again.

    It works for streams that cannot be read twice. Damage is raised where it stands, when the stream is read.
    """
    rest = Salvaged(stream)
    try:
        head = rest.read(size)
    except BrokenStreamError as error:
        head, rest.broken = b"", error
    return head, cast(IO[bytes], io.BufferedReader(_Rejoined(head, rest), max(size, _BUFFER_BYTES)))


class _Rejoined(io.RawIOBase):
    """The first bytes of a stream, which were read already, and what follows them."""

    def __init__(self, head: bytes, rest: Salvaged) -> None:
        super().__init__()
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        data = self._head[: len(target)] or self._rest.read(len(target))
        self._head = self._head[len(data) :]
        target[: len(data)] = data
        return len(data)
