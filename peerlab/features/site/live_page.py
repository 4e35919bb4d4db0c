"""The live page: the explorer's figures with native controls, and Python in a worker of the tab."""

import json
from base64 import b64encode
from collections.abc import Mapping
from gzip import compress
from typing import Any

from peerlab import page as sources
from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.engine.expected_duration import forecast_s
from peerlab.engine.simulate import simulate
from peerlab.features.site.both_sides import both_sides
from peerlab.features.site.pyodide_package import lock_of
from peerlab.features.site.tab_fields import fields_of, kinds_of_noise, linkable, offered
from peerlab.model.collective import COLLECTIVES
from peerlab.page.alone_page import empty_figures, page_alone
from peerlab.picture.curve_scenarios import AXES, lines
from peerlab.picture.curves import WHOLE, CurvesParcel, curves
from peerlab.picture.packed_columns import in_base64
from peerlab.picture.path_ratio import path_ratio
from peerlab.picture.payload import payload
from peerlab.picture.policy import inline
from peerlab.picture.theme import palettes
from peerlab.picture.views import VIEWS
from peerlab.question.presets import known_clusters
from peerlab.question.scenario import Scenario
from peerlab.records.benchmarks import TOOLS
from peerlab.study.bands import bands_of

TITLE = "peerlab: where the bytes of an AllReduce go"


def live_page(scenario: Scenario, files: Mapping[str, bytes], *, carried: bool) -> str:
    """Return the page as text.

    Parameters
    ----------
    scenario:
        What it begins with: its picture is in the page, and does not wait for Python.
    files:
        Those of Pyodide, and ``app.zip``.
    carried:
        Whether the page carries the files, to be opened without a server; else they lie beside it.
    """
    begins = json.dumps(_begins(scenario, files)).replace("<", "\\u003c")
    elements = f"""<section class="pl-live-log" aria-label="Your log" hidden></section>
<script type="application/json" id="pl-live">{begins}</script>"""
    if carried:
        elements += "".join(
            f'\n<script type="text/plain" data-file="{name}">{_packed(data)}</script>'
            for name, data in files.items()
            # What Pyodide reads from its lock stands in the JSON of the page; the labs have pages only in a
            # folder.
            if not name.endswith(("lock.json", "labs.zip"))
        )
        worker = inline(sources.script_of("live_worker"))
        elements += f'\n<script type="text/plain" id="pl-worker">{worker}</script>'
    shown = {"mode": "explorer", "ratio": "16:9"}
    return page_alone("live", TITLE, shown, elements, wasm="blob:" if carried else "'self'")


def _packed(data: bytes) -> str:
    # Without the time of day: the same files give the same page.
    return b64encode(compress(data, 9, mtime=0)).decode()


def _begins(scenario: Scenario, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what the page begins with: figures, what the controls offer, and the first picture."""
    run = simulate(scenario)
    return {
        "document": empty_figures(tuple(VIEWS)),
        "palettes": palettes(),
        "fields": fields_of(scenario),
        "invitation": f"Paste the output of {TOOLS}, its command line included; or choose the file.",
        "lock": lock_of(dict(files)),
        "first": in_base64(payload(run, None, 1)),
        "recorded": _recorded(run),
        "known": {
            "clusters": [offered(name) for name in known_clusters()],
            "linkable": linkable(),
            "noise": kinds_of_noise(),
            "collectives": [[each.title, name] for name, each in COLLECTIVES.items()],
        },
    }


def _recorded(run: Run) -> dict[str, Any]:
    """Return what the page shows where no Python runs in its tab: the other side of the host switch, the ratio, the curves."""
    drawn = _curves(run.scenario)
    both = both_sides(run)
    if not both:
        return {"states": [], "ratio": {}, "curves": drawn}
    other = both.fast if run.scenario == both.slow.scenario else both.slow
    state = {"fields": fields_of(other.scenario), "data": in_base64(payload(other, run, 2))}
    return {"states": [state], "ratio": path_ratio(*both) or {}, "curves": drawn}


def _curves(scenario: Scenario) -> CurvesParcel | dict[str, object]:
    """Return the curves along nodes; none where nodes differ, which takes minutes."""
    if forecast_s(scenario):
        return {}
    axis = next(iter(AXES))
    computed = [(line, [_possible(point) for point in line.scenarios]) for line in lines(scenario, axis)]
    bands = {line.name: bands_of(runs) for line, runs in computed}
    return curves(scenario, axis, computed, bands, state=WHOLE)


def _possible(scenario: Scenario | None) -> Run | None:
    try:
        return simulate(scenario) if scenario else None
    except PeerlabError:  # a point that is impossible is left out
        return None
