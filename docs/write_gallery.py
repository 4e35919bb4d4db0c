"""Writes docs/gallery.md: the pictures that `make shots` took, with what they show in words from the simulation."""

from collections.abc import Iterator

from documents import link

from peerlab.base.units import say_bytes
from peerlab.engine.simulate import simulate
from peerlab.picture.words import alt_text
from peerlab.question.scenario import Scenario

STAGED = Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
DIRECT = STAGED.with_(path="peer-direct")
HEAD = """\
# Gallery

All pictures are of the real thing, taken by `make shots`: JupyterLab with a kernel, exported files, a deck, in Chromium. Where nothing else
is said, they show {title}, {nodes} nodes, an AllReduce of {size}. What is below a picture of a run is what the simulation says of it.

{contents}
"""
SCENES = {
    "detour": ("The detour: RDMA through host memory", STAGED),
    "peer-direct": ("Peer Direct", DIRECT),
    "no-cache": ("Peer Direct without its cache", DIRECT.with_(registration="per-transfer")),
    "slow-node": ("A slow node", DIRECT.with_(slow_nodes={0: 0.5})),
}
"""Explorer: heading and scenario, by the name of the pictures."""
GROUPS = {
    "On a slide, and in labs": {
        "slide-16x9": "Peer Direct, 1920 x 1080.",
        "tour-before-running": "The tour as it opens.",
        "steps": "`peerlab.steps('ring', ranks=4)`: an AllReduce of real numbers, step by step.",
        "exercise": "An exercise, answered wrongly: what one is told depends on the mistake.",
    },
    "Evidence": {
        "your-log": "A log pasted into the lab: its points beside healthy runs, and which path it is from. The log is invented, in the"
        " layout of nccl-tests.",
        "this-machine": "What the machine that took these pictures measured: ratios to the staged way, with the noise of the control behind them.",
        "ratios": "`peerlab.ratios` of what we measured on a machine with two processors.",
        "diagnosis": "`peerlab.diagnose` of the same log, in a notebook.",
        "doctor": "`peerlab.doctor` on an invented host with two faults.",
    },
    "To take away": {
        "social-preview": "What a link to the repository shows, 1200 x 630.",
        "still": "A run that is the last line of a cell; it stays in a saved notebook.",
        "still-light": "`peerlab export --output still.png --view sketch`",
        "still-dark": "The same with `--theme dark`.",
        "page-explorer": "A page that plays without a kernel: `peerlab export --output slide.html`",
        "page-pair": "Two scenarios under one clock: `peerlab export --path host-rdma --beside path=peer-direct --output pair.html`",
        "page-figure": "One figure, readable from the last row: `peerlab export --path peer-direct --controls host --mode figure --theme dark --output figure.html`",
        "page-narrow": "The page of all figures, 480 wide and dark.",
        "deck-title": "`peerlab deck`: the first slide,",
        "deck-compare": "both ways of the bytes,",
        "deck-race": "a race of the two, to be played,",
        "deck-sure": "how sure the gain is, and the fact to check first,",
        "deck-training": "what a training step gains, and when that is not worth it,",
        "deck-alternatives": "what else one could buy or set,",
        "deck-recommendation": "and what is recommended, with what to do.",
        "handout": "[The handout](handout.pdf) of a workshop, one page to print.",
    },
}  # fmt: skip
"""Other pictures: what they show, by their name."""
GROWTH = """\
## Growth

![Time of a simulation against nodes](pictures/growth.png)

How the time of a simulation grows; [bench.md](bench.md) has the figures.
"""


def document() -> str:
    """Return the whole text."""
    headings = [*(heading for heading, _ in SCENES.values()), *GROUPS, "Growth"]
    head = HEAD.format(
        title=STAGED.hardware.title, nodes=STAGED.nodes, size=say_bytes(STAGED.nbytes),
        contents="\n".join(f"* {link(one)}" for one in headings),
    )  # fmt: skip
    return "\n".join([head, *_scenes(), *_others(), GROWTH])


def _scenes() -> Iterator[str]:
    for name, (heading, scenario) in SCENES.items():
        said = alt_text(simulate(scenario))
        yield f"## {heading}\n"
        yield (
            f'<picture><source media="(prefers-color-scheme: dark)" srcset="pictures/{name}-dark-1280.png">\n'
            f'<img alt="The explorer. {heading}" src="pictures/{name}-light-1280.png"></picture>\n'
        )
        sizes = [
            f"[{theme}, {width} wide](pictures/{name}-{theme}-{width}.png)"
            for theme in ("light", "dark")
            for width in (1280, 1920)
        ]
        yield f"{said}\n\n{', '.join(sizes)}\n"


def _others() -> Iterator[str]:
    for heading, pictures in GROUPS.items():
        yield f"## {heading}\n"
        for name, says in pictures.items():
            words = says.replace("`", "").replace("[", "").partition("]")[0].rstrip(".,")
            yield f"![{words}](pictures/{name}.png)\n\n{says}\n"
