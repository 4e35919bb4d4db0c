"""An exported page in a browser, as its reader meets it."""

import numpy as np
from shown import Shown

from peerlab.base.units import PS_PER_US


class Exported(Shown):
    """A page opened from a file, and what it asked the network and said."""

    def __init__(self, page, address):
        super().__init__(page)
        self.requests, self.complaints = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.goto(address)
        page.wait_for_selector("html[data-ready]")

    def painted(self):
        """Wait until what is shown is what was chosen."""
        for side in range(self.page.evaluate("() => window.peerlabPages.size")):
            number = self.ask("page => page.model.get('data').meta.number", side=side)
            self.page.wait_for_selector(f".pl-side:nth-child({side + 1}) .pl-root[data-painted='{number}']")

    def choose(self, **words):
        """Give controls values, as a link does."""
        self.page.evaluate("link => { location.hash = link }", "&".join(f"{k}={v}" for k, v in words.items()))
        self.page.wait_for_function(  # the page hears of its link a moment later
            """words => { const { model } = [...window.peerlabPages][0];
                 return Object.entries(words).every(([field, word]) => String(model.word(field)) === word) }""",
            arg={field: str(word) for field, word in words.items()},
        )

    def outside(self):
        """Return what the page asked for besides itself."""
        return [url for url in self.requests[1:] if not url.startswith("data:")]


def lanes(run):
    """Return lane to (starts, ends) in microseconds, sorted, of every span in the timeline of a folded run."""
    from peerlab.picture.timeline import lanes as all_lanes

    spans = run.recording.unrolled
    found = {}
    for number, lane in enumerate(all_lanes(run)):
        mine = np.isin(spans["resource"], lane.resources)
        if mine.any():
            found[number] = [np.sort(spans[side][mine]) / PS_PER_US for side in ("start", "end")]
    return found
