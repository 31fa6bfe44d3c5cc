"""`make audit` fails for a known vulnerability, and for nothing else: least of all for want of a network."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests import advisories

VULNERABLE = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}
SOUND = {"name": "b", "version": "1", "vulns": []}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.fixture
def index() -> Iterator[str]:
    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = {"/advisories": b'{"vulnerabilities": [{"id": "X"}]}', "/none": b'{"info": {}}'}
            self.send_response(200 if self.path in known or self.path == "/page" else 404)
            self.end_headers()
            self.wfile.write(known.get(self.path, b"<html>"))

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_index_counts_that_tells_of_a_known_vulnerability(index: str) -> None:
    assert advisories.has_advisories(f"{index}/advisories")
    for page in ("none", "page", "missing"):
        assert not advisories.has_advisories(f"{index}/{page}")


def test_an_index_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advisories, "PROBE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert not advisories.has_advisories(f"http://127.0.0.1:{silent.getsockname()[1]}/")


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        ([VULNERABLE, SOUND], 1, "a 1: PYSEC-1, mended in 2"),
        ([SOUND], 0, "1 versions asked about, 0 known vulnerabilities"),
        ([SOUND, UNKNOWN], 0, "not known to the index: c"),
    ],
)
def test_known_vulnerabilities_alone_fail(packages: list[object], code: int, said: str) -> None:
    found, lines = advisories.judge(json.dumps({"dependencies": packages, "fixes": []}))
    assert (found, said in "\n".join(lines)) == (code, True)


@pytest.mark.parametrize("answer", ["", "[]", "{}", "no JSON"])
def test_an_audit_without_an_answer_is_skipped(answer: str) -> None:
    assert advisories.judge(answer) == (0, ["audit: skipped, pip-audit came to no end"])


def test_the_lock_holds_the_tested_versions_but_for_torch() -> None:
    root = Path(__file__).parents[2]

    def read(name: str) -> set[str]:
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        pins = (line.split(" ")[0].lower().replace("_", "-") for line in lines if "==" in line)
        return {pin.replace(".py=", "-py=") for pin in pins}

    tested = {pin for pin in read("constraints.txt") if not pin.startswith("torch=")}
    assert read("requirements.lock") == tested
