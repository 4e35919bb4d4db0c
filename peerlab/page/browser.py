"""A headless Chromium of the system that takes pictures of pages.

It is asked over its DevTools pipe: a driver's package would be larger than peerlab, and a port would be open to every
user of the machine.
"""

# The system's Chromium takes pictures, asked over its DevTools pipe: a driver's package is larger than all
# of peerlab, a port would be open to every user of the machine, and the command line's `--screenshot` can
# neither seek nor say when it has painted. It has no network and an empty profile, and ends with its
# process group. A video seeks frame by frame, so that each frame shows the simulated moment even where
# painting is slow.

import json
import os
import select
import shutil
import signal
import tempfile
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from peerlab.base.errors import ExportError

_NAMES = (
    "chromium-headless-shell",  # Debian's, without a window to draw: the same pages in two thirds of the time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
HEADLESS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""A browser without a window that asks nobody."""
_FLAGS = (
    *HEADLESS,
    "--remote-debugging-pipe",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-proxy-server",
)
_PATIENCE_S = 60.0
"""How long one answer may take, seconds."""


def find_chromium() -> str:
    """Return the program of a Chromium or Chrome.

    Raises
    ------
    ExportError
        If there is none; it says how to get one.
    """
    if not hasattr(os, "posix_spawn"):
        raise ExportError(
            "pictures are taken by Chromium over pipes, which this system lacks; an .svg needs none"
        )
    own = os.environ.get("PEERLAB_CHROMIUM")
    for name in (own,) if own else _NAMES:
        text = shutil.which(name)
        if text:
            return text
    if own:
        raise ExportError(f"PEERLAB_CHROMIUM: {own!r} is no program that can be started")
    raise ExportError(
        "pictures are taken by Chromium, and there is none here: install it (Debian: apt install chromium),"
        " or set PEERLAB_CHROMIUM to the program of a Chromium or Chrome; an .svg needs none"
    )


@contextmanager
def browser(width: int, height: int, scale: float = 1) -> Iterator["Browser"]:
    """Start a browser with an empty profile and a window of `width` x `height` CSS pixels; end it with its processes.

    Raises
    ------
    ExportError
        If there is no browser, or it does not do what it is asked.
    """
    program = find_chromium()
    with tempfile.TemporaryDirectory(prefix="peerlab-", ignore_cleanup_errors=True) as profile:
        chromium = Browser(program, profile)
        try:
            chromium.open_window(width, height, scale)
            yield chromium
        finally:
            chromium.close()


class Browser:
    """A running Chromium with one window."""

    def __init__(self, program: str, profile: str) -> None:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        sandbox = ["--no-sandbox"] if root else []  # Chromium refuses to run as root with it
        command = [program, *_FLAGS, *sandbox, f"--user-data-dir={profile}", "about:blank"]
        theirs_in, self._to = _pipe()
        self._from, theirs_out = _pipe()
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        # A Chromium that is killed leaves temporary files and a socket behind; in its profile they go with it.
        own_folder = {**os.environ, "TMPDIR": profile}
        try:
            self._pid = os.posix_spawn(
                program, command, own_folder, file_actions=[*quiet, *pipes], setpgroup=0
            )
        except OSError as problem:
            os.close(self._to)
            os.close(self._from)
            raise ExportError(f"cannot start {program}: {problem.strerror}") from None
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._program, self._rest, self._number, self._session = program, b"", 0, ""
        self._events = set[str]()

    def open_window(self, width: int, height: int, scale: float) -> None:
        """Open the window that everything else is about."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")
        self._ask("Inspector.enable")  # it tells when the page crashes
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )
        calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]  # nothing moves but when it is told to
        self._ask("Emulation.setEmulatedMedia", features=calm)

    def go(self, page: Path, query: str = "") -> None:
        """Load a page from a file, and wait until it is there with its fonts."""
        self._events.clear()
        self._ask("Page.navigate", url=page.resolve().as_uri() + query)
        deadline = time.monotonic() + _PATIENCE_S
        while "Page.loadEventFired" not in self._events:
            self._take(deadline)
        self.evaluate("document.fonts.ready.then(() => true)")

    def evaluate(self, script: str) -> Any:
        """Return what an expression in the page gives, awaited if it is a promise."""
        answer = self._ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            told = answer["exceptionDetails"]
            sentence = str(told.get("exception", {}).get("description", told["text"]))
            raise ExportError(f"the page failed: {sentence.splitlines()[0]}")
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until an expression in the page is true."""
        script = f"new Promise(done => {{ const look = () => ({condition}) ? done(true) : setTimeout(look, 30); look() }})"
        self.evaluate(script)

    def png(self) -> bytes:
        """Return the window as PNG."""
        return b64decode(self._ask("Page.captureScreenshot", format="png")["data"])

    def pdf(self, width_px: float, height_px: float) -> bytes:
        """Return the page as PDF, on sheets of this size in CSS pixels (96 to the inch) if it names none itself."""
        return b64decode(
            self._ask(
                "Page.printToPDF",
                paperWidth=width_px / 96,
                paperHeight=height_px / 96,
                printBackground=True,
                preferCSSPageSize=True,
                **dict.fromkeys(("marginTop", "marginBottom", "marginLeft", "marginRight"), 0),
            )["data"]
        )

    def close(self) -> None:
        """End the browser and all its processes."""
        for fd in (self._to, self._from):
            os.close(fd)
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        deadline = time.monotonic() + _PATIENCE_S
        try:
            while data:
                data = data[os.write(self._to, data) :]
        except BrokenPipeError:
            raise self._ended() from None
        while True:
            answer = self._take(deadline)
            if answer.get("id") == self._number:
                if "result" not in answer:
                    why = answer.get("error", {}).get("message", "it gave no reason")
                    raise ExportError(f"the browser refused {method}: {why}")
                result: dict[str, Any] = answer["result"]
                return result

    def _take(self, deadline: float) -> dict[str, Any]:
        """Return the next message; names of events are kept."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise ExportError(f"the browser has not answered for {_PATIENCE_S:.0f} s")
            more = os.read(self._from, 1 << 20)
            if not more:
                raise self._ended()
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        try:
            message: dict[str, Any] = dict(json.loads(text))
        except (ValueError, TypeError):
            raise ExportError(f"{self._program} does not answer as a Chromium does") from None
        self._events.add(message.get("method", ""))
        if message.get("method") == "Inspector.targetCrashed":
            raise ExportError("the page crashed in the browser; it may lack memory here")
        return message

    def _ended(self) -> ExportError:
        if self._session:
            return ExportError("the browser ended before it was done; it may lack memory here")
        return ExportError(
            "the browser ended at once; it may lack a sandbox here, or room for temporary files (try as another user, or another browser by PEERLAB_CHROMIUM)"
        )


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends are not among the numbers that a child gets."""
    import fcntl  # noqa: PLC0415  (there is none on Windows, where the rest of peerlab works)

    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]
