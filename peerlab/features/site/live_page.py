"""The live page: the explorer's figures with native controls, and Python in a worker of the tab."""

import json
from base64 import b64encode
from collections.abc import Mapping
from gzip import compress
from html import escape
from typing import Any

from peerlab import page as sources
from peerlab.engine.simulate import simulate
from peerlab.features.site.pyodide_package import lock_of
from peerlab.features.site.tab import SHOWN
from peerlab.model.collective import COLLECTIVES
from peerlab.model.paths import PATHS
from peerlab.picture.bokeh_document import bokeh_script, document
from peerlab.picture.payload import payload
from peerlab.picture.policy import inline, policy
from peerlab.picture.theme import palettes
from peerlab.picture.views import VIEWS
from peerlab.question.host_switch import through_and_past
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario

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
    script = inline(sources.script_of("live", tuple(VIEWS)))
    worker = sources.script_of("live_worker")
    bokeh = inline(bokeh_script().read_text(encoding="utf-8"))
    parts = ""
    if carried:
        names = [name for name in files if not name.endswith("lock.json")]
        parts = "\n".join(
            f'<script type="text/plain" data-file="{name}">{_packed(files[name])}</script>' for name in names
        )
        parts += f'\n<script type="text/plain" id="pl-worker">{inline(worker)}</script>'
    begins = json.dumps(_begins(scenario, files)).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en" data-mode="explorer" data-ratio="16:9">
<head>
<meta charset="utf-8">
{policy(bokeh, script, wasm="blob:" if carried else "'self'")}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(TITLE)}</title>
<style>{sources.style()}
{sources.style_alone()}</style>
<script>{bokeh}</script>
</head>
<body>
<main class="pl-alone">
<h1 class="pl-hidden">{escape(TITLE)}</h1>
<div class="pl-choices" role="group" aria-label="Scenario"></div>
<div class="pl-sides"></div>
<div class="pl-shared"></div>
</main>
<script type="application/json" id="pl-live">{begins}</script>
{parts}
<script type="module">{script}</script>
</body>
</html>
"""


def _packed(data: bytes) -> str:
    return b64encode(compress(data, 9, mtime=0)).decode()


def _begins(scenario: Scenario, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what the page begins with: figures, what the controls offer, and the first picture."""
    return {
        "document": json.dumps(document(stretched=True)),
        "palettes": palettes(),
        "fields": {name: getattr(scenario, name) for name in SHOWN} | {"message_bytes": scenario.nbytes},
        "lock": lock_of(dict(files)),
        "first": _in_base64(payload(simulate(scenario), None, 1)),
        "known": {
            "clusters": [_cluster(name) for name in known_clusters()],
            "collectives": [[each.title, name] for name, each in COLLECTIVES.items()],
        },
    }


def _cluster(name: str) -> dict[str, Any]:
    cluster = load_cluster(name)
    paths = [{"path": path, "title": PATHS[path].title} for path in cluster.paths]
    through, past = through_and_past(cluster)
    return {"name": name, "title": cluster.title, "paths": paths, "through": through, "past": past}


def _in_base64(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {key: _in_base64(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_in_base64(part) for part in value]
    return value
