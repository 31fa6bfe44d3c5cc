"""An S3-compatible object store on this machine: moto's server, in a process of its own."""

import os
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pyarrow.fs as pafs


class ObjectStore:
    """A running store; every test has a bucket or a prefix of its own."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.options = f"?endpoint_override=127.0.0.1:{port}&scheme=http"
        self.files = pafs.S3FileSystem(
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
        )

    def address(self, prefix: str, bucket: str = "bucket") -> str:
        return f"s3://{bucket}/{quote(prefix)}{self.options}"

    def list_files(self, prefix: str, bucket: str = "bucket") -> dict[str, int]:
        found = self.files.get_file_info(
            pafs.FileSelector(f"{bucket}/{prefix}", recursive=True, allow_not_found=True)
        )
        return {one.path.removeprefix(f"{bucket}/{prefix}/"): one.size for one in found if one.is_file}

    def read(self, key: str) -> bytes:
        with self.files.open_input_file(f"bucket/{key}") as stream:
            return bytes(stream.read())

    def write(self, key: str, content: bytes) -> None:
        with self.files.open_output_stream(f"bucket/{key}") as stream:
            stream.write(content)

    def remove(self, key: str) -> None:
        self.files.delete_file(f"bucket/{key}")

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse all credentials while the context lasts: there is no user who might do anything."""
        self._ask("reset-auth", b"0")
        try:
            yield
        finally:
            self._ask("reset-auth", b"1000000000")

    @contextmanager
    def cutting(self, after: int) -> Iterator[int]:
        """The port of a proxy that cuts each connection on which a client sent more than so many bytes."""
        store_port = self._port

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with socket.create_connection(("127.0.0.1", store_port)) as server:
                    back = threading.Thread(target=_pass_on, args=(server, self.request, None))
                    back.start()
                    _pass_on(self.request, server, after)
                    back.join()

        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as proxy:
            thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
            thread.start()
            try:
                yield int(proxy.server_address[1])
            finally:
                proxy.shutdown()
                thread.join()

    def _ask(self, what: str, content: bytes) -> None:
        headers = {"Content-Type": "application/octet-stream"}
        address = f"http://127.0.0.1:{self._port}/moto-api/{what}"
        urllib.request.urlopen(urllib.request.Request(address, content, headers, method="POST")).close()


def _pass_on(source: socket.socket, target: socket.socket, most: int | None) -> None:
    """All that one side sends, to the other; both are cut where that is more than `most` bytes."""
    sent = 0
    with suppress(OSError):
        while (content := source.recv(1 << 16)) and (most is None or sent <= most):
            target.sendall(content)
            sent += len(content)
    for side in (source, target):
        with suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)


def find_server() -> str | None:
    """moto's server in the environment of its own beside this Python; one on the path may lack its parts."""
    own = Path(sys.prefix) / "moto" / "bin" / "moto_server"
    return str(own) if own.exists() else None


@contextmanager
def open_store(server: str) -> Iterator[ObjectStore]:
    """A store with a bucket named `bucket`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    # Nothing of this process's environment has a meaning for it.
    surroundings = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    process = subprocess.Popen(
        [server, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=surroundings,
    )
    try:
        _wait(port, process)
        store = ObjectStore(port)
        store.files.create_dir("bucket")
        yield store
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError, urllib.error.URLError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/", timeout=5).close()
            return
        time.sleep(0.1)
    raise RuntimeError("moto's server did not start")


@contextmanager
def open_silent_port() -> Iterator[int]:
    """A port that takes connections and says nothing."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        yield int(silent.getsockname()[1])
