"""The frame of a page that stands alone: an exported one with its states, and the live one with Python in a worker."""

import json
from collections.abc import Mapping
from functools import cache
from html import escape

from peerlab import page as sources
from peerlab.picture.bokeh_document import bokeh_script, document
from peerlab.picture.policy import inline, policy
from peerlab.picture.views import VIEWS


@cache
def empty_figures(_views: tuple[str, ...]) -> str:
    """Return the empty figures of these views as text, which every page fills."""
    return json.dumps(document(stretched=True))


def page_alone(script: str, title: str, shown: Mapping[str, str], elements: str, *, wasm: str = "") -> str:
    """Return a page with the explorer's figures that needs nothing else.

    Parameters
    ----------
    script:
        Name of the page's own script in this folder, such as ``alone``.
    title:
        What the browser's tab says.
    shown:
        What is told to script and style sheet, as ``data-`` attributes of the page: ``mode``, ``ratio``.
    elements:
        HTML behind the page's own: what its script reads.
    wasm:
        Where the files of its WebAssembly are from, as `peerlab.picture.policy.policy` wants it.
    """
    bokeh = inline(bokeh_script().read_text(encoding="utf-8"))
    code = inline(sources.script_of(script, tuple(VIEWS)))
    attributes = " ".join(f'data-{name}="{escape(value, quote=True)}"' for name, value in shown.items())
    return f"""<!doctype html>
<html lang="en" {attributes}>
<head>
<meta charset="utf-8">
{policy(bokeh, code, wasm=wasm)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{sources.style("page")}
{sources.style("alone")}</style>
<script>{bokeh}</script>
</head>
<body>
<main class="pl-alone">
<h1 class="pl-hidden">{escape(title)}</h1>
<div class="pl-choices" role="group" aria-label="Scenario"></div>
<h2 class="pl-hidden">Data path and figures</h2>
<div class="pl-sides"></div>
<div class="pl-shared"></div>
</main>
{elements}
<script type="module">{code}</script>
</body>
</html>
"""
