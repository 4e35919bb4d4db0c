"""A network with neighbours as one HTML file that plays: every port as a glass, pauses and credits, and the fabrics side by side."""

import json
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import Any

from peerlab import page as sources
from peerlab.base.errors import ExportError
from peerlab.features.neighbours.neighbours_report import heading
from peerlab.features.neighbours.port_comparison import PortComparison
from peerlab.features.neighbours.port_parcel import port_parcel
from peerlab.picture.policy import inline, policy
from peerlab.picture.theme import palettes
from peerlab.study.port_answer import PortAnswer

MOST_FABRICS = 4


def port_page_html(answers: Sequence[PortAnswer], *, layout: str = "page", theme: str = "auto") -> str:
    """Return a page that plays one question on several fabrics, as text.

    Parameters
    ----------
    answers:
        One to four, of questions that differ in their fabric.
    layout:
        ``page``, ``slide``, or ``frame`` in a notebook.
    theme:
        ``light``, ``dark``, or ``auto``: that of the notebook around it, else of the reader's system.

    Raises
    ------
    ExportError
        If there are more fabrics, or other scenes.
    """
    if not 1 <= len(answers) <= MOST_FABRICS:
        raise ExportError(f"a page shows one to {MOST_FABRICS} fabrics, not {len(answers)}")
    if len({(answer.trace.scene.leaves, answer.trace.scene.flows) for answer in answers}) > 1:
        raise ExportError("a page shows one question on several fabrics; these differ in hosts or senders")
    parcel = port_parcel(answers)
    shown = {
        "ports": parcel,
        "wanted": {"mode": layout, "theme": theme},
        "palettes": palettes(),
    }
    data = json.dumps(shown, default=_packed).replace("<", "\\u003c")
    script = inline(sources.script_of("ports"))
    return f"""<!doctype html>
<html lang="en" data-mode="{layout}">
<head>
<meta charset="utf-8">
{policy(script)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(parcel["about"])}</title>
<style>{sources.style_training()}{sources.style_ports()}</style>
</head>
<body>
<main class="ts-root np-root"></main>
<script type="application/json" id="np-data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def neighbours_frame(comparison: PortComparison) -> str:
    """Return a `PortComparison` in a frame that plays it in a notebook, and below it what it finds."""
    page = port_page_html(comparison.answers[:MOST_FABRICS], layout="frame")
    title = escape(heading(comparison.answers[0]), quote=True)
    return (
        f"<iframe srcdoc='{escape(page, quote=True)}' title='{title}'"
        " style='width:100%;height:840px;border:0;display:block'></iframe>"
        f"<p>{escape(comparison.finding)}</p>"
    )


def _packed(value: Any) -> str:
    """Return the columns of cells in base64."""
    return b64encode(value).decode()
