"""One file over https: resumed where it broke off, checked, and put in place when it is whole.

While it comes, the file is called `<name>.part`, and `<name>.part.validator` beside it holds what the server
said of its version, so that two versions never become one file.
"""

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Final, Protocol

from pinakes.errors import FetchError
from pinakes.faults import told_as
from pinakes.load.sources import SourceFile, check_url
from pinakes.progress import Progress

ATTEMPTS: Final = 6
"""How often in a row a file may fail to come further."""
TIMEOUT_S: Final = 60.0
MAX_WAIT_S: Final = 120.0

_BLOCK_BYTES: Final = 1 << 20
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class Opener(Protocol):
    """What opens a request; `urllib.request.OpenerDirector` does."""

    def open(self, request: urllib.request.Request, *, timeout: float) -> http.client.HTTPResponse:
        """Raise `urllib.error.HTTPError` for an answer that is no success."""


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https alone."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        try:
            check_url(newurl)
            is_safe = newurl.startswith("https:") or not req.full_url.startswith("https:")
        except ValueError:
            is_safe = False
        if not is_safe:
            raise FetchError(f"{req.full_url} leads to {newurl}, which is not https; it is refused.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def make_opener() -> Opener:
    """What opens https addresses, by the proxies that the environment names."""
    return urllib.request.build_opener(_SafeRedirects)


@dataclass(frozen=True, slots=True)
class Connection:
    """How files are fetched: what opens requests, what waits so many seconds, what reports."""

    opener: Opener
    sleep: Callable[[float], None]
    progress: Progress


class _CutError(Exception):
    """The connection broke, or the server is busy: worth another attempt, after so many seconds if known."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


def download(file: SourceFile, target: Path, connection: Connection) -> None:
    """Fetch the file to `target`; what an earlier attempt left of it is gone on from.

    Raises:
        FetchError: the server refuses, the connection breaks again and again, or the bytes are not those
            that are published; those are thrown away.
    """
    part = target.with_name(f"{target.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    failures = 0
    while True:
        before = _measure(part)
        try:
            _fetch_rest(file, part, connection)
            break
        except _CutError as error:
            failures = 0 if _measure(part) > before else failures + 1
            if failures >= ATTEMPTS:
                raise FetchError(
                    f"{file.url} cannot be fetched: {error}. What is there is kept; fetch again to go on."
                ) from error
            connection.sleep(min(MAX_WAIT_S, error.wait_s or 2.0**failures))
    _check(file, part)
    os.replace(part, target)
    _validator_path(part).unlink(missing_ok=True)


def _measure(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _validator_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.validator")


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _validator_path(part).unlink(missing_ok=True)


def _fetch_rest(file: SourceFile, part: Path, connection: Connection) -> None:
    """Everything that `part` still lacks; from the start where going on would not be safe."""
    request = urllib.request.Request(file.url)  # noqa: S310 (sources.check_url)
    request.add_header("User-Agent", "pinakes")
    request.add_header("Accept-Encoding", "identity")
    start = _measure(part)
    validator = _validator_path(part).read_text() if start and _validator_path(part).exists() else ""
    if validator or (start and file.digest):
        request.add_header("Range", f"bytes={start}-")
    if validator:
        request.add_header("If-Range", validator)
    try:
        with connection.opener.open(request, timeout=TIMEOUT_S) as response:
            _take_answer(file, part, response, connection.progress)
    except urllib.error.HTTPError as error:
        with error:
            _explain_refusal(file, part, error)
    except (OSError, http.client.HTTPException) as error:
        raise _CutError(str(error) or type(error).__name__) from error


def _explain_refusal(file: SourceFile, part: Path, error: urllib.error.HTTPError) -> None:
    if error.code == 416 and _measure(part):
        if str(error.headers.get("Content-Range")).rpartition("/")[2] == str(_measure(part)):
            return  # it was whole already
        _discard(part)
        raise _CutError("what was there does not fit the file") from error
    if error.code in _PASSING:
        wait = str(error.headers.get("Retry-After", ""))
        raise _CutError(f"the server answers {error.code}", float(wait) if wait.isdecimal() else None)
    raise FetchError(
        f"{file.url} cannot be fetched: the server answers {error.code} {error.reason}. "
        "Look at the dataset's page; the file may have moved."
    ) from error


def _take_answer(
    file: SourceFile, part: Path, response: http.client.HTTPResponse, progress: Progress
) -> None:
    start = _measure(part) if _goes_on(part, response) else 0
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    if file.size is not None and total is not None and total != file.size:
        _discard(part)
        raise FetchError(
            f"{file.url} is not what is published: it has {total} bytes, expected {file.size}. "
            "Look at the dataset's page for a newer version."
        )
    if not start:
        _discard(part)
        # What the rest of the same version can be requested by: a strong ETag, or the date.
        etag = str(response.headers.get("ETag", ""))
        validator = etag if etag.startswith('"') else str(response.headers.get("Last-Modified", ""))
        if validator:
            _write(_validator_path(part), validator.encode("latin-1", "replace"), "wb")
    progress.start(f"fetch {file.name}", total)
    progress.advance(start)
    try:
        _copy(file, part, response, progress)
    finally:
        progress.finish()
    expected = total or file.size or 0
    if _measure(part) < expected:
        raise _CutError(f"the connection broke off at {_measure(part)} of {expected} bytes")


def _goes_on(part: Path, response: http.client.HTTPResponse) -> bool:
    """Whether the answer is the rest of what is there; else it is the whole file."""
    if response.status != 206:
        return False
    found = response.headers.get("Content-Range", "")
    if not found.startswith(f"bytes {_measure(part)}-"):
        _discard(part)
        raise _CutError(f"the server sent other bytes than those asked for: {found}")
    return True


def _copy(file: SourceFile, part: Path, response: http.client.HTTPResponse, progress: Progress) -> None:
    while block := response.read(_BLOCK_BYTES):
        _write(part, block, "ab")
        progress.advance(len(block))
        if file.size is not None and _measure(part) > file.size:
            _discard(part)
            raise FetchError(f"{file.url} is not what is published: it has more than {file.size} bytes.")


def _write(path: Path, data: bytes, mode: str) -> None:
    with told_as(FetchError, f"{path} cannot be written; what is there is kept"), path.open(mode) as stream:
        stream.write(data)


def _check(file: SourceFile, part: Path) -> None:
    """Throw the bytes away where they are not those that are published."""
    size = _measure(part)
    if file.size is not None and size != file.size:
        _discard(part)
        raise FetchError(f"{file.url} is not what is published: it has {size} bytes, expected {file.size}.")
    if file.algorithm is None:
        return
    found = digest_file(part, file.algorithm)
    if found != file.digest:
        _discard(part)
        raise FetchError(
            f"{file.url} is not what is published: its {file.algorithm} is {found}, expected {file.digest}. "
            "It was thrown away. Fetch again; if that fails too, look at the dataset's page."
        )


def digest_file(path: Path, algorithm: str) -> str:
    """The digest of a file's bytes, in hex; `FetchError` where it cannot be read."""
    with told_as(FetchError, f"{path} cannot be read"), path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()
