"""Colours by role, for light and dark. Okabe-Ito's palette, one colour per stage everywhere.

Figures and data name roles; the page puts in the colours of the theme it is shown in.
"""

from peerlab.model.paths import data_path
from peerlab.model.stages import stage_kind

FONT = "system-ui, -apple-system, Segoe UI, sans-serif"

STAGE_COLOURS = {
    "copy": "#E69F00",
    "cpu": "#CC79A7",
    "network": "#56B4E9",
    "direct": "#009E73",
    "register": "#0072B2",
}
"""Stages that move a byte from one place to another have a colour; stages inside a device are grey."""

# Words are in roles that end in `ink`, or muted: 4.5 to 1 or more against paper, panel and box, in both
# themes (WCAG 2.1).
# What is empty has an edge in the role lane: about 2 to 1 against panel and box, quieter than edge and seen at a glance.
LIGHT = {
    "paper": "#FFFFFF",
    "ink": "#17202B",
    "muted": "#566272",
    "faint": "#D3DAE3",
    "panel": "#F4F6F9",
    "box": "#FFFFFF",
    "tint": "#FFFFFF",
    "edge": "#8793A3",
    "lane": "#ABB5C3",
    "hot": "#D55E00",
    "hot-ink": "#A34400",
    "hot-wash": "#FBE3D3",
    "hot-fill": "#F5BF9C",
    "good-ink": "#00614A",
    "good-wash": "#DBF1E9",
    "inside": "#7C8796",
    "gather": "#B9C2CE",
    "flight": "#94B1C7",
    "copy-ink": "#7A5200",
    "cpu-ink": "#8F3F6B",
    "network-ink": "#17608F",
    "direct-ink": "#00614A",
    "register-ink": "#00568A",
}
# Words and lines of registering are violet in the dark: their light blue was hardly another than that of slices on the wire.
DARK = {
    "paper": "#111111",
    "ink": "#E9EEF4",
    "muted": "#A5B1C0",
    "faint": "#3B4552",
    "panel": "#1A2028",
    "box": "#252D37",
    "tint": "#FFFFFF",
    "edge": "#7C899A",
    "lane": "#4F5A69",
    "hot": "#E8701A",
    "hot-ink": "#FFA566",
    "hot-wash": "#4A2A14",
    "hot-fill": "#7A4019",
    "good-ink": "#5FD6B3",
    "good-wash": "#10382C",
    "inside": "#9AA5B3",
    "gather": "#5A6675",
    "flight": "#527389",
    "copy-ink": "#FFC24D",
    "cpu-ink": "#E5A3C8",
    "network-ink": "#8BCBF2",
    "direct-ink": "#5FD6B3",
    "register-ink": "#A9B4FF",
}


def stage_role(stage: str) -> str:
    """Return the role of a stage's colour."""
    return stage_kind(stage).role


def way_role(stage: str) -> str:
    """Return the role of the dotted way that a stage's slices take: the dark hue of their colour, as that of a line of 2 pixels is pale."""
    role = stage_role(stage)
    return f"{role}-ink" if f"{role}-ink" in LIGHT else role


def palettes() -> dict[str, dict[str, str]]:
    """Return both themes: role to colour."""
    themes = {"light": LIGHT, "dark": DARK}
    return {theme: {**STAGE_COLOURS, **of} for theme, of in themes.items()}


PAGE = "page"
"""As a theme: each colour is what the page around a picture says, so that the picture follows the page's theme."""


def palette(theme: str) -> dict[str, str]:
    """Return one theme: role to colour, or with `PAGE` to the page's property of that name."""
    both = palettes()
    return {role: f"var(--pl-{role})" for role in both["light"]} if theme == PAGE else both[theme]


def properties(selector: str) -> str:
    """Return the rules that give what `selector` finds both themes' colours as ``--pl-<role>``.

    JupyterLab says which theme holds; without JupyterLab, the reader's system does.
    """
    light, dark = (
        "".join(f"--pl-{role}:{colour};" for role, colour in of.items()) for of in palettes().values()
    )
    return (
        f"{selector}{{{light}}}body[data-jp-theme-light='false'] {selector}{{{dark}}}"
        f"@media (prefers-color-scheme:dark){{body:not([data-jp-theme-light]) {selector}{{{dark}}}}}"
    )


UNCACHED = "per-transfer"
"""What a curve of Peer Direct without its registration cache is called."""


def line_roles(line: str) -> tuple[str, str]:
    """Return the roles of a curve and of its name beside it: a data path's, or `UNCACHED`."""
    role = "register" if line == UNCACHED else data_path(line).role
    return role, f"{role}-ink"
