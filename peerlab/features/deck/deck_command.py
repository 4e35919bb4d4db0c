"""`peerlab deck`: an architecture review as slides in a folder."""

import argparse
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from peerlab.base.errors import ExportError, one_line
from peerlab.base.terminal_text import command, fraction, number
from peerlab.features.deck.reading.outline import KINDS, THEMES, Outline, read_outline
from peerlab.features.deck.trained_step import TrainedStep, read_training
from peerlab.features.deck.training import Training
from peerlab.features.deck.write_deck import write_deck

_EXAMPLES = """\
examples:
  peerlab deck --output deck                            through the host against Peer Direct on a DL1 cluster
  peerlab deck --cluster p4d --nodes 32 --pdf --output review
  peerlab deck --gradient "2 GB" --step-time 0.35 --overlap 0.5 --output deck     with a slide on your training
  peerlab deck --workload bert-large --batch 8 --output deck     with a slide on a training step that is simulated
  peerlab deck --communication 40% --step-time 0.3 --overlap 60% --output deck    the same from a profiler's shares
  peerlab deck --log nccl.log --cluster p4d --output deck        with a slide on what you measured
  peerlab deck --cluster dl1 --beside p4d --output deck          the same question on two clusters
  peerlab deck --only title,sure,recommendation --output short   some slides alone
  peerlab deck --author "A. Writer" --date "3 March" --logo logo.png --theme auto --output deck
  peerlab deck --outline review.md --output deck        slides and words of your own

an outline in Markdown, with YAML above the slides; all of it may be left out, and without any ## the whole review is shown, in this order:
  ---
  title: Through the host, or Peer Direct?
  subtitle: Architecture review, team fabric
  author: A. Writer           # date, logo: logo.png, theme: light, dark or auto, beside: p4d, log: nccl.log too
  scenario:                   # any field of a scenario but path, registration, jitter and slow_nodes
    cluster: dl1
    nodes: 8
  training:                   # a step as it is today, through the host
    gradient_bytes: 2 GB      # or communication_share: 40 %, the exchange's share of the step
    step_time_s: 0.35
    overlap_share: 50 %       # of the exchange, hidden behind computing
  ---
  ## detour: Today
  What stands here is for the speaker.
  > What stands here is on the slide. An empty > begins a new paragraph.
  ## A slide of your own

kinds of slides:
"""

_KEYS = """keys: arrows and page keys turn pages, S opens the speaker's view, F fills the screen;
  in the live slide the arrows belong to it: page keys turn pages from there, Escape leaves it
"""


def add(commands: Any) -> None:
    """Add the command."""
    kinds = "\n".join(f"  {kind.ljust(15)} {what}" for kind, what in KINDS.items())
    sub = command(
        commands,
        "deck",
        "an architecture review as slides that open by double click",
        _deck,
        epilog=f"{_EXAMPLES}{kinds}\n\n{_KEYS}",
    )
    add = sub.add_argument
    add("outline", nargs="?", metavar="OUTLINE", help="what the deck is about, a .md file")
    add("--outline", dest="named", metavar="FILE", help="the same")
    add("--output", required=True, metavar="FOLDER", help="folder for index.html")
    add("--pdf", action="store_true", help="also print the slides to deck.pdf (needs a Chromium)")
    add("--title", help="title of the deck")
    add("--author", help="who presents it")
    add("--date", help="when, in your own words")
    add("--logo", metavar="FILE", help="a PNG, JPEG, GIF or WebP of at most 1 MiB, beside the title")
    add(
        "--theme",
        choices=THEMES,
        help="light, dark, or auto: that of the reader's system (default: light; print is always light)",
    )
    add("--only", metavar="KINDS", help="some kinds of slides alone, such as title,sure,recommendation")
    add("--log", metavar="FILE", help="a log of yours: which path it was, and what Peer Direct would bring")
    add("--beside", metavar="CLUSTER", help="a second cluster that is asked the same")
    add("--cluster", help="a known cluster, or the path of a .toml file of your own (default: dl1)")
    add("--nodes", type=number, help="servers that take part (default: 8)")
    add("--message", dest="message_bytes", metavar="SIZE", help="bytes of the whole buffer (default: 64 MiB)")
    _add_training(add)


def _add_training(add: Callable[..., Any]) -> None:
    """Add what is said of a training."""
    add(
        "--gradient",
        metavar="SIZE",
        help="bytes of gradient that a rank exchanges in a step of your training",
    )
    add(
        "--communication",
        metavar="SHARE",
        help="instead of the bytes: share of that step that is exchange, hidden or not, such as 0.4 or 40%%",
    )
    add("--workload", help="instead of all that: a workload, whose step is simulated (see peerlab step)")
    add("--batch", type=number, help="with --workload: samples of a device in one pass")
    add("--step-time", type=fraction, metavar="SECONDS", help="how long that step takes today")
    add(
        "--overlap",
        metavar="SHARE",
        help="share of the exchange that is hidden behind computing, such as 0.6 or 60%%",
    )


def _deck(options: argparse.Namespace) -> int:
    if options.outline and options.named:
        raise ExportError(f"two outlines: {options.outline} and {options.named}; give one")
    file = options.outline or options.named
    outline = read_outline(file) if file else Outline()
    entries = {name: getattr(options, name) for name in ("cluster", "nodes", "message_bytes")}
    # What is not given on the command line is the outline's to say.
    fields = {name: value for name, value in entries.items() if value is not None}
    own = {name: getattr(options, name) for name in _OWN if getattr(options, name) is not None}
    outline = replace(
        outline,
        **own,
        scenario={**outline.scenario, **fields},
        training=_training(options, outline.training),
    )
    if options.only is not None:
        outline = outline.only([kind.strip() for kind in options.only.split(",") if kind.strip()])
    deck = write_deck(outline, options.output, pdf=options.pdf)
    print(f"{one_line(deck)}: open it in any browser")
    if options.pdf:
        print(f"{one_line(deck.with_name('deck.pdf'))}: the same, printed")
    if outline.training is None and any(plan.show == "training" for plan in outline.slides):
        print(
            "the slide on a training step is an example: give --workload, or --step-time, --overlap, and --gradient or --communication"
        )
    return 0


_OWN = ("title", "author", "date", "logo", "theme", "log", "beside")
"""Options that stand in an outline under the same name."""
Trained = Training | TrainedStep


def _training(options: argparse.Namespace, outlined: Trained | None) -> Trained | None:
    """Return the training of the outline with what the options change of it; without any, one of theirs alone."""
    # Handed on although they do not go with a workload: reading them refuses each by its name.
    if options.workload is not None:
        others = {
            "gradient_bytes": options.gradient,
            "communication_share": options.communication,
            "step_time_s": options.step_time,
            "overlap_share": options.overlap,
        }
        return read_training({"workload": options.workload, "batch": options.batch, **others})
    if isinstance(outlined, TrainedStep):
        return TrainedStep(
            {**outlined.given, **({"batch": options.batch} if options.batch is not None else {})}
        )
    if options.batch is not None:
        raise ExportError("batch: it goes with a workload; add --workload, such as bert-large")
    options_given = {
        "gradient_bytes": options.gradient,
        "communication_share": options.communication,
        "step_time_s": options.step_time,
        "overlap_share": options.overlap,
    }
    entries = {name: value for name, value in options_given.items() if value is not None}
    if not entries:
        return outlined
    held = asdict(outlined) if outlined else {}
    if entries.keys() & _EXCHANGE:  # one of them says how much is exchanged
        held = {name: value for name, value in held.items() if name not in _EXCHANGE}
    return Training.read({**held, **entries})


_EXCHANGE = frozenset({"gradient_bytes", "communication_share"})
