"""A real Firefox, asked over WebDriver BiDi: enough to open a page, ask it and press something."""

import json
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import websocket

NAMES = ("firefox-esr", "firefox")
_LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_QUIET = """\
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("security.fileuri.strict_origin_policy", true);
"""
"""Firefox asks nobody by itself; the pages are what is tried."""


def find_firefox():
    """Return where Firefox is, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox:
    """One tab."""

    def __init__(self, address):
        self._socket = websocket.create_connection(f"{address}/session", timeout=180, suppress_origin=True)
        self._number, self.asked, self.complaints = 0, [], []
        self._send("session.new", capabilities={})
        self._send("session.subscribe", events=["network.beforeRequestSent", "log.entryAdded"])
        self.tab = self._send("browsingContext.getTree")["contexts"][0]["context"]

    def _send(self, method, **params):
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("method") == "network.beforeRequestSent":
                self.asked.append(answer["params"]["request"]["url"])
            elif answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.complaints.append(answer["params"]["text"])
            elif answer.get("id") == self._number:
                assert answer["type"] == "success", answer
                return answer["result"]

    def open(self, url):
        """Open a page, and wait until it is loaded."""
        self._send("browsingContext.navigate", context=self.tab, url=url, wait="complete")

    def ask(self, expression):
        """Return what an expression is in the page, as JSON can say it."""
        found = self._send(
            "script.evaluate", expression=f"JSON.stringify({expression})", target={"context": self.tab}, awaitPromise=True
        )  # fmt: skip
        assert found["type"] == "success", found
        text = found["result"].get("value")
        return json.loads(text) if text else None

    def until(self, expression, most_s=180):
        """Wait until an expression holds in the page."""
        end = time.monotonic() + most_s
        while not self.ask(expression):
            assert time.monotonic() < end, f"not in {most_s} s: {expression}; {self.complaints}"
            time.sleep(0.1)


@contextmanager
def firefox(width=1280, height=900):
    """Start Firefox with an empty profile; yield its tab."""
    with tempfile.TemporaryDirectory() as profile:
        Path(profile, "user.js").write_text(_QUIET)
        process = subprocess.Popen(
            [find_firefox(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0",
             f"--width={width}", f"--height={height}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            heard = []
            for line in process.stderr:
                heard.append(line)
                if told := _LISTENS.search(line):
                    yield Firefox(told[1])
                    break
            else:
                raise AssertionError(f"Firefox did not start: {''.join(heard)[-500:]}")
        finally:
            process.terminate()
            process.wait(30)
