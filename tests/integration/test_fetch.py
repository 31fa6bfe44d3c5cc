"""Known datasets are fetched whole or not at all, from a server that does everything wrong.

The server is this machine's; nothing goes to the internet.
"""

import hashlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import pinakes.loaders
from pinakes.errors import FetchError, UnknownNameError
from pinakes.load.download import ATTEMPTS
from pinakes.load.fetch import fetch, find_source, list_sources
from pinakes.loaders.registry import LOADERS

CONTENT = b"".join(f"line {number}\n".encode() for number in range(20_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()

Answer = Callable[["_Handler"], None]


@dataclass
class Site:
    """A server, what it is to answer next (then `otherwise`), and what it was asked."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    otherwise: Answer = lambda handler: handler.give()
    requested: list[dict[str, str]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        self.site.requested.append({"path": self.path, **{k.lower(): v for k, v in self.headers.items()}})
        answer = self.site.answers.pop(0) if self.site.answers else self.site.otherwise
        answer(self)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def give(
        self,
        content: bytes = CONTENT,
        *,
        etag: str | None = '"v1"',
        cut_at: int | None = None,
        ranges: bool = True,
        says_length: bool = True,
        date: str | None = None,
    ) -> None:
        """The content, or the range of it that is asked for, as a well-behaved server gives it."""
        wanted = self.headers.get("Range") if ranges else None
        if wanted and self.headers.get("If-Range", etag or date) not in (etag, date):
            wanted = None
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if wanted and start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        for name, value in (("ETag", etag), ("Last-Modified", date)):
            if value:
                self.send_header(name, value)
        if says_length:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:cut_at])
        if cut_at is not None:
            self.cut()

    def cut(self) -> None:
        """Break the connection off."""
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def refuse(self, code: int, **headers: str) -> None:
        """An answer without content."""
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    handler = type("Handler", (_Handler,), {"site": found})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


class World:
    """A list of datasets with one file, and the folder that it is fetched to."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.folder = folder / "data"
        self.list = folder / "sources.toml"
        self.said = f'size = {len(CONTENT)}, sha256 = "{SHA256}"'

    def fetch(self, path: str = "/file") -> Any:
        self.list.write_text(
            '[toy]\ntitle = "A toy"\nlicence = "CC0 1.0"\npage = "https://example.org"\nloader = "beir"\n'
            f'files = [{{ name = "sub/file.txt", url = "{self.site.url}{path}", {self.said} }}]\n'
        )
        return fetch("toy", self.folder, sleep=self.site.slept.append, sources=self.list)

    @property
    def target(self) -> Path:
        return self.folder / "sub" / "file.txt"

    @property
    def names(self) -> list[str]:
        """What lies in the folder."""
        return sorted(path.name for path in self.target.parent.iterdir()) if self.folder.exists() else []


@pytest.fixture
def world(site: Site, tmp_path: Path) -> World:
    return World(site, tmp_path)


def _ranges(world: World) -> list[str | None]:
    return [request.get("range") for request in world.site.requested]


def test_a_file_is_fetched_and_told_of(world: World) -> None:
    summary = world.fetch()
    assert world.target.read_bytes() == CONTENT
    assert world.names == ["file.txt"]
    assert summary.source.licence == "CC0 1.0"
    (file,) = summary.files
    assert (file.name, file.path, file.size, file.sha256) == (
        "sub/file.txt",
        world.target,
        len(CONTENT),
        SHA256,
    )
    assert (file.existing, file.is_vouched) == (False, True)


def test_a_file_that_is_there_is_not_fetched_again(world: World) -> None:
    world.fetch()
    assert world.fetch().files[0].existing
    assert len(world.site.requested) == 1


def test_a_file_that_is_there_and_wrong_is_left_alone(world: World) -> None:
    world.target.parent.mkdir(parents=True)
    world.target.write_bytes(b"somebody's work")
    with pytest.raises(FetchError, match=r"file\.txt is there, but its sha256 is .* Move it away"):
        world.fetch()
    assert world.target.read_bytes() == b"somebody's work"
    assert world.site.requested == []


def test_a_cut_connection_is_gone_on_with(world: World) -> None:
    world.site.answers = [lambda h: h.give(cut_at=50_000), lambda h: h.give(cut_at=120_000)]
    world.fetch()
    assert world.target.read_bytes() == CONTENT
    assert _ranges(world) == [None, "bytes=50000-", "bytes=120000-"]
    assert [request.get("if-range") for request in world.site.requested] == [None, '"v1"', '"v1"']
    assert world.site.slept == [1.0, 1.0]
    assert world.names == ["file.txt"]


def test_a_fetch_that_was_broken_off_is_gone_on_with_by_the_next_one(world: World) -> None:
    world.site.answers = [lambda h: h.give(cut_at=50_000), *[lambda h: h.refuse(503)] * ATTEMPTS]
    with pytest.raises(FetchError, match=r"the server answers 503\. What is there is kept; fetch again"):
        world.fetch()
    assert world.names == ["file.txt.part", "file.txt.part.validator"]
    world.site.requested.clear()
    world.fetch()
    assert world.target.read_bytes() == CONTENT
    assert _ranges(world) == ["bytes=50000-"]


def test_a_date_serves_where_there_is_no_strong_etag(world: World) -> None:
    date = "Sat, 01 Jan 2000 00:00:00 GMT"
    world.site.answers = [lambda h: h.give(cut_at=50_000, etag='W/"v1"', date=date)]
    world.site.otherwise = lambda h: h.give(etag='W/"v1"', date=date)
    world.fetch()
    assert world.site.requested[1]["if-range"] == date
    assert world.target.read_bytes() == CONTENT


def test_without_a_version_only_a_published_digest_allows_to_go_on(world: World) -> None:
    for said, ranges in ((world.said, [None, "bytes=50000-"]), ('checksum = "unpublished"', [None, None])):
        world.said = said
        world.site.requested.clear()
        world.site.answers = [lambda h: h.give(cut_at=50_000, etag=None), lambda h: h.give(etag=None)]
        world.fetch()
        assert _ranges(world) == ranges
        assert world.target.read_bytes() == CONTENT
        world.target.unlink()


def test_a_server_that_ignores_the_range_is_begun_anew_with(world: World) -> None:
    world.site.answers = [lambda h: h.give(cut_at=50_000), lambda h: h.give(ranges=False)]
    world.fetch()
    assert world.target.read_bytes() == CONTENT


def test_a_server_that_sends_another_range_is_begun_anew_with(world: World) -> None:
    def shift(handler: _Handler) -> None:
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes 10-{len(CONTENT) - 1}/{len(CONTENT)}")
        handler.send_header("Content-Length", str(len(CONTENT) - 10))
        handler.end_headers()
        handler.wfile.write(CONTENT[10:])

    world.site.answers = [lambda h: h.give(cut_at=50_000), shift]
    world.fetch()
    assert world.target.read_bytes() == CONTENT
    assert _ranges(world) == [None, "bytes=50000-", None]


def test_a_file_that_changed_meanwhile_is_begun_anew(world: World) -> None:
    old = b"x" * len(CONTENT)
    world.site.answers = [lambda h: h.give(old, cut_at=50_000, etag='"old"')]
    world.fetch()
    assert world.target.read_bytes() == CONTENT
    assert world.site.requested[1]["if-range"] == '"old"'


def test_a_part_that_is_whole_already_is_taken(world: World) -> None:
    world.target.parent.mkdir(parents=True)
    (world.target.parent / "file.txt.part").write_bytes(CONTENT)
    world.fetch()
    assert world.target.read_bytes() == CONTENT
    assert _ranges(world) == [f"bytes={len(CONTENT)}-"]


def test_a_part_that_is_too_long_is_begun_anew(world: World) -> None:
    world.target.parent.mkdir(parents=True)
    (world.target.parent / "file.txt.part").write_bytes(CONTENT + b"more")
    world.fetch()
    assert world.target.read_bytes() == CONTENT


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_wrong_bytes_are_thrown_away(world: World, algorithm: str) -> None:
    digest = {"sha256": SHA256, "md5": MD5}[algorithm]
    world.said = f'size = {len(CONTENT)}, {algorithm} = "{digest}"'
    wrong = b"x" + CONTENT[1:]
    world.site.answers = [lambda h: h.give(wrong)]
    with pytest.raises(
        FetchError, match=rf"is not what is published: its {algorithm} is .*, expected {digest}"
    ):
        world.fetch()
    assert world.names == []
    world.fetch()
    assert world.target.read_bytes() == CONTENT


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x"])
@pytest.mark.parametrize("says_length", [True, False])
def test_a_wrong_length_is_refused(world: World, content: bytes, says_length: bool) -> None:
    world.site.otherwise = lambda h: h.give(content, says_length=says_length)
    with pytest.raises(FetchError):
        world.fetch()
    assert not world.target.exists()


def test_a_wrong_length_is_told(world: World) -> None:
    world.site.otherwise = lambda h: h.give(CONTENT + b"x")
    expected = f"is not what is published: it has {len(CONTENT) + 1} bytes, expected {len(CONTENT)}"
    with pytest.raises(FetchError, match=expected):
        world.fetch()
    assert len(world.site.requested) == 1


@pytest.mark.parametrize("code", [401, 403, 404, 410, 500])
def test_an_error_of_the_server_is_told(world: World, code: int) -> None:
    world.site.otherwise = lambda h: h.refuse(code)
    with pytest.raises(FetchError, match=f"the server answers {code}"):
        world.fetch()
    assert len(world.site.requested) == (ATTEMPTS if code == 500 else 1)


def test_a_busy_server_is_waited_for(world: World) -> None:
    world.site.answers = [
        lambda h: h.refuse(503, Retry_After="7"),
        lambda h: h.refuse(429, Retry_After="9999"),
        lambda h: h.refuse(502),
        lambda h: h.refuse(502, Retry_After="tomorrow"),
    ]
    world.fetch()
    assert world.site.slept == [7.0, 120.0, 8.0, 16.0]
    assert world.target.read_bytes() == CONTENT


def test_a_server_that_is_not_there_is_given_up_after_some_attempts(world: World) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        world.site.url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(FetchError, match=r"cannot be fetched: .*refused"):
            world.fetch()
    assert world.site.slept == [2.0, 4.0, 8.0, 16.0, 32.0]


def test_a_server_that_cuts_at_once_again_and_again_is_given_up(world: World) -> None:
    world.site.otherwise = lambda h: h.give(cut_at=0)
    with pytest.raises(FetchError, match="the connection broke off at 0 of"):
        world.fetch()
    assert len(world.site.requested) == ATTEMPTS


def test_a_redirect_is_followed_and_the_name_is_ours(world: World) -> None:
    world.site.answers = [
        lambda h: h.refuse(302, Location="/elsewhere/../../evil?name=x"),
    ]
    world.fetch()
    assert [request["path"] for request in world.site.requested] == ["/file", "/evil?name=x"]
    assert world.names == ["file.txt"]


@pytest.mark.parametrize("address", ["http://example.org/x", "ftp://example.org/x", "file:///etc/passwd"])
def test_a_redirect_away_from_https_is_refused(world: World, address: str) -> None:
    world.site.answers = [lambda h: h.refuse(302, Location=address)]
    with pytest.raises(FetchError):
        world.fetch()
    assert world.names == []


def test_an_unpublished_digest_is_kept_at_the_first_fetch_and_expected_afterwards(world: World) -> None:
    world.said = 'checksum = "unpublished"'
    (file,) = world.fetch().files
    assert (file.sha256, file.is_vouched) == (SHA256, False)
    assert (world.target.parent / "file.txt.sha256").read_text() == f"{SHA256}  file.txt\n"
    assert world.fetch().files[0].existing
    world.target.unlink()
    world.site.otherwise = lambda h: h.give(b"another version", etag='"v2"')
    with pytest.raises(FetchError, match=r"expected .*remove file\.txt\.sha256 and fetch again"):
        world.fetch()
    assert world.names == ["file.txt.sha256"]
    (world.target.parent / "file.txt.sha256").unlink()
    world.fetch()
    assert world.target.read_bytes() == b"another version"


def test_an_unpublished_file_that_was_changed_or_came_from_elsewhere_is_refused(world: World) -> None:
    world.said = 'checksum = "unpublished"'
    world.target.parent.mkdir(parents=True)
    world.target.write_bytes(CONTENT)
    with pytest.raises(FetchError, match=r"neither a published digest nor file\.txt\.sha256"):
        world.fetch()
    (world.target.parent / "file.txt.sha256").write_text("nonsense")
    with pytest.raises(FetchError, match="holds no sha256"):
        world.fetch()
    (world.target.parent / "file.txt.sha256").write_text(f"{'0' * 64}  file.txt\n")
    with pytest.raises(FetchError, match="is there, but its sha256"):
        world.fetch()


def test_a_folder_that_cannot_be_written_is_told(world: World) -> None:
    world.folder.write_text("a file where the folder should be")
    with pytest.raises(FetchError, match="cannot be written"):
        world.fetch()


def test_a_dataset_for_a_person_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"cannot be fetched by a program\. Download .* Then: pinakes load"):
        fetch("csfcube", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_dataset_is_told_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown dataset 'nonsense'; known: .*scifact"):
        fetch("nonsense", tmp_path)


def test_the_bundled_list_is_whole_and_from_https_alone() -> None:
    sources = list_sources()
    assert len({source.name for source in sources}) == len(sources) >= 20
    for source in sources:
        assert all((source.title, source.licence, source.page, source.loader)), source.name
        assert all(file.url.startswith("https://") for file in source.files), source.name
        assert all((file.digest is None) == (file.algorithm is None) for file in source.files)
        assert all(file.digest is None or file.size for file in source.files)


def test_a_published_digest_is_as_published() -> None:
    (file,) = find_source("scifact").files
    assert (file.algorithm, file.digest) == ("md5", "5f7d1de60b170fc8027bb7898e2efca1")
    assert file.size == 2_816_079


_GOOD = 'title = "t"\nlicence = "l"\npage = "p"\nloader = "beir"\n'
_URL = 'url = "https://example.org/x"'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nonsense", "is not a list of datasets"),
        ('[a]\ntitle = "t"', "'licence'"),
        (f"[a]\n{_GOOD}", "either files or manual"),
        (f'[a]\n{_GOOD}files = [{{ name = "../x", {_URL}, checksum = "unpublished" }}]', "no name of a file"),
        (f'[a]\n{_GOOD}files = [{{ name = "/x", {_URL}, checksum = "unpublished" }}]', "no name of a file"),
        (f'[a]\n{_GOOD}files = [{{ name = "a/../x", {_URL}, checksum = "unpublished" }}]', "no name"),
        (f'[a]\n{_GOOD}files = [{{ name = "x", url = "http://example.org/x" }}]', "is not an https address"),
        (f'[a]\n{_GOOD}files = [{{ name = "x", {_URL} }}]', "has to have a sha256, an md5 or checksum"),
        (f'[a]\n{_GOOD}files = [{{ name = "x", {_URL}, checksum = "none" }}]', "has to have a sha256"),
        (
            f'[a]\n{_GOOD}files = [{{ name = "x", {_URL}, size = 1, md5 = "12" }}]',
            "the md5 of x is no digest",
        ),
        (f'[a]\n{_GOOD}files = [{{ name = "x", {_URL}, md5 = "{MD5}" }}]', "'size'"),
    ],
)
def test_a_list_that_is_not_right_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(content)
    with pytest.raises(FetchError, match=message):
        list_sources(path)


def test_every_dataset_names_a_loader_that_is_there() -> None:
    folder = Path(pinakes.loaders.__file__).parent
    for source in list_sources():
        module = folder / source.loader.replace("-", "_")
        assert source.loader in LOADERS or module.is_dir() or module.with_suffix(".py").is_file(), source
