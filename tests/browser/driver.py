"""A real Chromium, and in it a notebook and the explorer as their users meet them: for tests, benchmarks and pictures."""

import tempfile
from contextlib import contextmanager
from functools import partialmethod
from pathlib import Path

from playwright.sync_api import Frame, Page, expect, sync_playwright
from server import TOKEN
from shown import Shown

from peerlab.page.browser import HEADLESS, find_chromium

PATIENCE_MS = 240_000
"""So long a page may take for anything, while others keep the machine busy (a notebook that measures takes a minute, beside others three): what never comes fails then, and what comes late does not."""
expect.set_options(timeout=PATIENCE_MS)
for shows in (Page, Frame):  # who looks at every frame has 60 of them made a second, whatever is waited for
    shows.wait_for_function = partialmethod(shows.wait_for_function, polling=50)
FRUGAL = ("--renderer-process-limit=1", "--in-process-gpu")
"""A process of its own for every page would compile the same scripts again."""


@contextmanager
def chromium(width=1280, height=900, scale=1, motion="no-preference", flags=()):
    """Start Chromium with an empty profile; yield its context. With `motion` ``reduce`` no page plays by itself."""
    with sync_playwright() as pw, tempfile.TemporaryDirectory() as profile:
        context = pw.chromium.launch_persistent_context(
            profile,
            executable_path=find_chromium(),
            args=[*HEADLESS, *FRUGAL, *flags, "--no-sandbox"],
            headless=True,
            viewport={"width": width, "height": height},
            device_scale_factor=scale,
            reduced_motion=motion,
        )
        context.set_default_timeout(PATIENCE_MS)
        yield context
        context.close()


class Notebook:
    """A notebook open in the lab, and what its page asked the network and said meanwhile."""

    def __init__(self, page, lab, name):
        self.page, self.lab, self.name = page, lab, name
        lab.await_end(name)
        self.requests, self.complaints = [], []
        self._listeners = {
            "request": lambda request: self.requests.append(request.url),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "console": lambda message: (
                self.complaints.append(message.text) if message.type == "error" else None
            ),
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)
        if page.url.startswith(lab.url):
            page.bring_to_front()
            page.evaluate(
                "async path => { await window.jupyterapp.commands.execute('docmanager:open', { path }) }",
                name,
            )
        else:
            page.goto(f"{lab.url}/lab/workspaces/test-{Path(name).stem}/tree/{name}?token={TOKEN}&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function(
            """name => {
              const widget = [...window.jupyterapp.shell.widgets('main')].find(w => w.context?.path === name);
              window.notebookUnderTest = widget;
              const kernel = widget?.sessionContext?.session?.kernel;
              return widget?.context.isReady && kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
            }""",
            arg=name,
        )

    def close(self):
        """Close the notebook, unsaved; the lab stays open in the page, and nothing of the notebook's."""
        if not self._listeners:  # closed before
            return
        self.page.evaluate("() => window.notebookUnderTest.dispose()")
        self.page.wait_for_function(
            "() => ![...window.peerlabPages ?? []].length && !window.Bokeh?.documents.length"
        )
        while self._listeners:
            self.page.remove_listener(*self._listeners.popitem())

    def run_all(self):
        """Run every cell; fail if one raises."""
        assert self._executed("notebook:run-all-cells") is True
        assert self.errors() == []

    def run_cell(self, index=0):
        self.page.evaluate("index => { window.notebookUnderTest.content.activeCellIndex = index }", index)
        self._executed("notebook:run-cell")

    def _executed(self, command):
        """Return what a command of the lab answers; a kernel that never answers fails the test, as no script of a page ends by itself."""
        return self.page.evaluate(
            """([command, most_ms]) => {
              const kernel = () => window.notebookUnderTest.sessionContext.session?.kernel;
              const late = new Promise((_, reject) => setTimeout(
                () => reject(new Error(`${command}: no answer in ${most_ms / 1000} s; kernel ${kernel()?.status}, ${kernel()?.connectionStatus}`)),
                most_ms));
              return Promise.race([window.jupyterapp.commands.execute(command), late]);
            }""",
            [command, PATIENCE_MS],
        )

    def errors(self):
        return self.page.evaluate(
            """() => [...window.notebookUnderTest.content.model.cells].flatMap(c => c.type !== 'code' ? [] :
                 c.outputs.toJSON().filter(o => o.output_type === 'error').map(o => `${o.ename}: ${o.evalue}`))"""
        )

    def outside_requests(self):
        """Return what the page asked of anybody but the lab."""
        own = (self.lab.url, self.lab.url.replace("http", "ws"), "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]


class Explorer(Shown):
    """The explorer in a page, as its user meets it; with `curves` it is ready when they are drawn, too."""

    def __init__(self, notebook, *, curves=True):
        super().__init__(notebook.page)
        self.notebook, self.curves = notebook, curves
        self.page.wait_for_selector(".pl-root[data-painted]")
        self.settle()

    def settle(self, *, curves=False):
        """Wait until the last parcel is painted and the controls show it too; and the curves, if they are wanted."""
        self.page.wait_for_function(
            """curves => { const page = [...window.peerlabPages].at(-1), number = page?.model.get('data').meta.number;
                 return page && page.root.dataset.painted === String(number) && page.model.get('shown') === number
                   && !page.model.get('status').busy && (!curves || (page.curves.curves?.lines && page.curves.there(page.curves.mark))) }""",
            arg=curves or self.curves,
        )

    def pixels(self):
        """Return the pictures of the figures as they are on the screen."""
        self.page.wait_for_timeout(120)
        return self.page.locator(".pl-root").last.screenshot()

    def change(self, act, *, curves=False):
        """Do something that shows another scenario; wait until that is painted."""
        before = self.ask("page => page.model.get('data').meta.number")
        act()
        self.page.wait_for_function(
            "before => [...window.peerlabPages].at(-1).model.get('data').meta.number > before", arg=before
        )
        self.settle(curves=curves)

    @contextmanager
    def unfolded(self, name, panel):
        """Show a panel by its button; hide it again afterwards."""
        button = self.page.locator(f".pl-{name}-button").last
        shown = self.page.locator(panel).last
        button.click()
        shown.wait_for()
        try:
            yield
        finally:
            button.click()
            shown.wait_for(state="hidden")

    def select(self, name, label):
        self.page.locator(f".pl-{name} select").last.select_option(label=label)

    def fill(self, name, text):
        field = self.page.locator(f".pl-{name} input").last
        field.fill(text)
        field.press("Enter")

    def switch(self, name):
        self.page.locator(f".pl-{name} input").last.click()

    def slide(self, name, key, times=1):
        handle = self.page.locator(f".pl-{name} .noUi-handle").last
        handle.focus()
        for _ in range(times):
            handle.press(key)
