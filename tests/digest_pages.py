"""Pages and reports whose HTML is digested, without scripts, styles and version; a page's packed data is unpacked."""

import json
import re
import tempfile
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import tool_logs

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.base.version import __version__
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.deck_page import page
from peerlab.features.deck.reading.outline import Outline, SlidePlan
from peerlab.features.deck.slides import slides
from peerlab.features.export.page import page_html
from peerlab.features.race.race_page import race_html
from peerlab.features.step.step_page import step_page_html
from peerlab.model.algorithms import ALGORITHMS
from peerlab.records import load

_SMALL = {"nodes": 4, "message_bytes": "4 MiB"}
_WALKED = [
    (name, collective)
    for name, record in ALGORITHMS.items()
    for collective in ("allreduce", "alltoall")
    if collective in record.collectives
    and not (record.several_devices or record.library or record.in_network or name == "auto")
]
_RACES = (
    {}, {"collective": "alltoall"}, {"collective": "point-to-point"}, {"collective": "allgather"}, {"cluster": "p4d"}, {"cluster": "gaudi3"},
    {"wiring": "root-port"}, {"transport": "efa"}, {"nodes": 2, "library": "none"}, {"slow_nodes": {1: 0.5}},
)  # fmt: skip
_EXPLORED = (
    {}, {"cluster": "p4d", "path": "receive-direct"}, {"collective": "point-to-point", "path": "peer-direct"},
)  # fmt: skip

_SLIDES = ("title", "compare", "race", "detour", "direct", "time", "registration", "assumptions", "sources")


def _reduced(html: str) -> str:
    """Return HTML without scripts, styles, random keys and version, and with its packed data in words."""
    html = re.sub(r'(id="pl-pack">)([^<]*)<', lambda found: found[1] + _unpacked(found[2]) + "<", html)
    html = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    html = re.sub(r"<script( type=.?module.?)?>.*?</script>", "", html, flags=re.DOTALL)
    html = re.sub(r"&lt;style&gt;.*?&lt;/style&gt;", "", html, flags=re.DOTALL)
    html = re.sub(
        r"&lt;script( type=[^&]*&quot;module&quot;)?&gt;.*?&lt;/script&gt;", "", html, flags=re.DOTALL
    )
    html = re.sub(r"sha256-[\w+/=]+", "", html)
    html = re.sub(r"pl-[0-9a-f]{8}\b", "pl-key", html)
    return html.replace(__version__, "VERSION")


def _unpacked(text: str) -> str:
    raw = zlib.decompress(b64decode(text), -15)
    begin = 4 + int.from_bytes(raw[:4], "little")
    document = json.loads(raw[4:begin])
    document["figures"] = ""  # Bokeh's, with random identifiers; what they show is in the parcels
    return json.dumps(document, indent=1).replace("<", "&lt;") + raw[begin:].hex()


def _deck(**scenario: object) -> str:
    outline = Outline(scenario=scenario, slides=tuple(SlidePlan(kind) for kind in _SLIDES))
    return page(
        outline.title,
        slides(outline, ComparedRuns(outline.scenario, peerlab.simulate)),
        theme="light",
        lead=outline.lead,
    )


def _step(**given: object) -> peerlab.StepRun:
    return peerlab.step(nodes=4, **given)


def _chart(**options: object) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return peerlab.wall_chart(
            peerlab.Scenario(**_SMALL), Path(folder) / "chart.html", **options
        ).read_text()


def _shown(result: object) -> str:
    return result._repr_html_()


def _race(fields: dict) -> str:
    return race_html(peerlab.race(peerlab.Scenario(**_SMALL | fields), path="peer-direct"), bands=False)


def _made() -> Iterator[tuple[str, Callable[[], str]]]:
    for fields in _EXPLORED:
        yield (
            f"explorer {fields}",
            partial(page_html, peerlab.Scenario(**_SMALL | fields), controls={}, bands=False),
        )
    yield (
        "explorer with controls",
        partial(page_html, peerlab.Scenario(**_SMALL), controls="host,cache,nodes=2:4", bands=False),
    )
    for fields in _RACES:
        yield f"race {fields}", partial(_race, fields)
    for workload in ("resnet50", "bert-large"):
        yield f"step page {workload}", lambda workload=workload: step_page_html([_step(workload=workload)])
        yield (
            f"step report {workload}",
            lambda workload=workload: _shown(_step(workload=workload, path="peer-direct")),
        )
    for algorithm, collective in _WALKED:
        for ranks in (2, 4, 8):
            name = f"steps {algorithm} {collective} {ranks}"
            yield name, lambda a=algorithm, c=collective, n=ranks: _shown(peerlab.steps(a, n, collective=c))
    for over in ("paths", "clusters"):
        yield f"wall chart over {over}", partial(_chart, over=over)
    yield "deck", partial(_deck, nodes=2, message_bytes="4 MiB")
    for name, log in tool_logs.GOOD.items():
        yield f"records {name}", lambda log=log: _shown(load(log))
        yield f"diagnosis {name}", lambda log=log: _shown(peerlab.diagnose(load(log)))
    for cluster in ("dl1", "p4d", "ideal-100g-staged"):
        fields = {"cluster": cluster, **_SMALL}
        yield f"run {cluster}", lambda fields=fields: _shown(peerlab.simulate(peerlab.Scenario(**fields)))
    yield "gain", lambda: _shown(_gain())


def _gain() -> object:
    detour = peerlab.Scenario(**_SMALL)
    return peerlab.simulate(detour.with_(path="peer-direct")).gain_band(peerlab.simulate(detour))


def _page(made: Callable[[], str]) -> str:
    try:
        return _reduced(made())
    except PeerlabError as problem:
        return str(problem)


PAGES = {name: partial(_page, made) for name, made in _made()}
"""Every page, by its name."""
