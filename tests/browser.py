"""Headless Chromium over its debugging pipe: no port, no websocket, no library."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
_OPTIONS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)


class Browser:
    """One page, with what it logged and which addresses it asked for."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        """The two ends of pipes are the caller's, who closes them."""
        self._to = to_browser
        self._from = from_browser
        self._rest = b""
        self._count = 0
        self._session: str | None = None
        self.logged: list[str] = []
        self.requested: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command; events on the way are kept."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        sent = memoryview(json.dumps(message).encode() + b"\0")
        while sent:
            sent = sent[os.write(self._to, sent) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._from, 1 << 20)
            assert part, "the browser ended"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        event, parameters = message.get("method"), message.get("params", {})
        if event == "Runtime.exceptionThrown":
            self.logged.append(str(parameters["exceptionDetails"]))
        elif event == "Log.entryAdded":
            self.logged.append(f"{parameters['entry']['level']}: {parameters['entry']['text']}")
        elif event == "Runtime.consoleAPICalled":
            self.logged.append(str(parameters["args"]))
        elif event == "Network.requestWillBeSent":
            self.requested.append(parameters["request"]["url"])
        return message

    def open(self, path: Path) -> None:
        """Show a file, and wait until it is loaded with its scripts."""
        self.call("Page.navigate", url=path.as_uri())
        while self._read().get("method") != "Page.loadEventFired":
            pass

    def ask(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def set_look(self, *, width: int = 1600, height: int = 900, dark: bool = False, media: str = "") -> None:
        """A screen of that size, light or dark; media `print` is paper."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])


@contextmanager
def open_browser(folder: Path) -> Iterator[Browser]:
    """A browser whose profile is in a folder; it ends with the block."""
    its_input, to_browser = os.pipe()
    from_browser, its_output = os.pipe()
    words = " ".join((str(CHROMIUM), *_OPTIONS, f"--user-data-dir='{folder}'"))
    process = subprocess.Popen(
        ["bash", "-c", f"exec {words} 3<&{its_input} 4>&{its_output}"],
        pass_fds=(its_input, its_output),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(its_input)
    os.close(its_output)
    try:
        yield Browser(to_browser, from_browser)
    finally:
        process.terminate()
        process.wait(timeout=20)
        os.close(to_browser)
        os.close(from_browser)
