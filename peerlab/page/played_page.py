"""A page that plays one parcel and begins by itself (a race, a step, a network with neighbours), and the frame of it in a notebook."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from peerlab import page as sources
from peerlab.base.errors import ExportError, nearest
from peerlab.picture.policy import inline, policy
from peerlab.picture.theme import palettes

_WORDS = {"layout": ("page", "slide", "frame"), "theme": ("auto", "light", "dark")}


def played_page(
    script: str,
    prefix: str,
    title: str,
    given: Mapping[str, Any],
    styles: Sequence[str],
    root: str,
    wanted: Mapping[str, str],
) -> str:
    """Return a page as text.

    Parameters
    ----------
    script:
        Name of the page's own script in this folder, such as ``race``; it begins with `beginPlayed` of ``played.js``.
    prefix:
        What its elements and classes begin with, such as ``rc``.
    title:
        What the browser's tab says.
    given:
        The parcel by its name, which stands first in the page's data.
    styles:
        Its style sheets in this folder, such as ``training`` and ``ports``; a later one adds to those before it.
    root:
        Attributes of the page's one element, its class at least.
    wanted:
        ``mode`` (``page``, ``slide`` or ``frame``) and ``theme``; ``framed`` where what is around it says its source.

    Raises
    ------
    ExportError
        If one of these words is unknown.
    """
    for name, word in (("layout", wanted["mode"]), ("theme", wanted["theme"])):
        if word not in _WORDS[name]:
            raise ExportError(f"{name}: unknown {word!r}; {nearest(str(word), _WORDS[name])}")
    shown = {**given, "wanted": wanted, "palettes": palettes()}
    data = json.dumps(shown, default=_packed).replace("<", "\\u003c")
    code = inline(sources.script_of(script))
    return f"""<!doctype html>
<html lang="en" data-mode="{wanted["mode"]}"{" data-framed" * ("framed" in wanted)}>
<head>
<meta charset="utf-8">
{policy(code)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{sources.style("selects", *styles)}</style>
</head>
<body>
<main {root}></main>
<script type="application/json" id="{prefix}-data">{data}</script>
<script type="module">{code}</script>
</body>
</html>
"""


def played_frame(page: str, title: str, size: str, instead: str = "") -> str:
    """Return the frame of a page in a notebook; `size` is its height, or its shape, as a style, `instead` what stands there without frames."""
    return (
        f"<iframe srcdoc='{escape(page, quote=True)}' title='{escape(title, quote=True)}'"
        f" style='width:100%;{size};border:0;display:block'>{escape(instead)}</iframe>"
    )


def below_frame(words: str) -> str:
    """Return what stands below a frame, at the left edge of what is in it."""
    return f"<p style='margin:0 12px 8px;font-size:14px'>{escape(words)}</p>"


def _packed(value: Any) -> str:
    """Return columns in base64."""
    return b64encode(value).decode()
