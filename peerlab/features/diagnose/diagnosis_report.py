"""A diagnosis in a notebook: which path, by what evidence, and what Peer Direct would bring."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from peerlab.base.units import say_bytes
from peerlab.diagnosis.diagnosis import Diagnosis
from peerlab.model.paths import PATHS, path_titles
from peerlab.page.frame import framed, table

_NAMES = {**path_titles(), "in-node": "links inside the node"}
_SIGNS = {"clear": ("pass", "✓"), "probable": ("warn", "▲"), "cannot tell": ("unknown", "?")}
Told = Mapping[str, Any]


def diagnosis_html(told: Told, name: str = "this log") -> str:
    """Return a diagnosis as HTML that brings its own style; `told` is what its `as_dict` returns."""
    return framed("diagnosis", f"Which data path is {name} from?", "".join(_parts(told)))


def _parts(told: Told) -> Iterable[str]:
    status, sign = _SIGNS[told["verdict"]]
    name = "Cannot tell" if told["path"] is None else f"{path_name(told['path'])}, {told['verdict']}"
    yield (
        f"<p class='pl-verdict pl-{status}'><span class='pl-sign' aria-hidden='true'>{sign}</span> "
        f"<b>{escape(name)}</b><br>{escape(told['why'][:1].upper() + told['why'][1:])}</p>"
    )
    held = "held against" if told["cluster_chosen"] else "recognised"
    clusters = ", ".join(told["clusters"]) or "no cluster, so only what holds on any machine is used"
    yield f"<p class='pl-quiet'>{escape(told['log'])}<br>{held}: {escape(clusters)}</p>"
    if below := told.get("shortfall"):
        yield f"<p><b>The run is slower than its own path:</b> {escape(below['says'])}.</p>"
    if fact := told.get("decides"):
        yield (
            f"<p><b>One fact would decide:</b> {escape(fact['what'])}<br><code>{escape(fact['command'])}</code>"
            f"<br>{escape(fact['tells'])}</p>"
        )
    yield _forecast(told["forecast"])
    yield _ranking(told["ranking"])
    yield _evidence(told["evidence"])
    yield "<p class='pl-quiet'>The weights are multiplied; what each kind of evidence weighs is judgement (data/diagnosis.toml).</p>"
    yield _list("To know when reading it", [escape(note) for note in told["notes"]])
    yield _list("What reading the log found", [escape(warning) for warning in told["warnings"]])
    if not told["checks"]:
        yield "<p class='pl-quiet'>The path is clear, and there is no shorter one.</p>"
    yield _list(
        "What to check next",
        [
            f"<b>{escape(c['what'])}</b><br><code>{escape(c['command'])}</code><br>{escape(c['tells'])}"
            for c in told["checks"]
        ],
    )


def path_name(path: str) -> str:
    """Return a path in plain words."""
    return _NAMES.get(path, path)


def _list(caption: str, items: Sequence[str]) -> str:
    lines = "".join(f"<li>{item}</li>" for item in items)
    return f"<h4>{escape(caption)}</h4><ul>{lines}</ul>" if items else ""


def _ranking(ranking: Sequence[Told]) -> str:
    head = ("path", "odds, by the evidence below", "measured over simulated")
    return table("How well each path explains it", head, [_ranked(one) for one in ranking])


def _ranked(one: Told) -> tuple[str, str, str]:
    role = PATHS[one["path"]].role if one["path"] in PATHS else "inside"
    bar = f"<span class='pl-bar' style='width:{max(1, round(150 * one['odds']))}px;background:var(--pl-{role})'></span>"
    fit = one["simulated"]
    met = (
        f"{fit['measured_over_simulated']:.3g} times on {escape(fit['cluster'])}" if fit else "not simulated"
    )
    return (
        f"{escape(path_name(one['path']))}<br><code>{escape(one['path'])}</code>",
        f"{bar} {'&lt;1%' if one['odds'] < 0.005 else format(one['odds'], '.0%')}",
        met,
    )


def _evidence(evidence: Sequence[Told]) -> str:
    head = ("seen", "what it says", "so that it is")
    return table("The evidence, the weightiest first", head, [_piece(one) for one in evidence], "evidence")


def _piece(one: Told) -> tuple[str, str, str]:
    points = "<br>".join(
        f"{escape(path)}: {math.exp(abs(value)):.2g} times {'likelier' if value > 0 else 'less likely'}"
        for path, value in sorted(one["points"].items(), key=lambda item: -item[1])
    )
    grounds = f"{'known' if one['known'] else 'assumed'}: {escape(one['source'])}"
    return (
        escape(one["seen"]),
        f"{escape(one['says'])}<details><summary>source</summary>{grounds}</details>",
        points or "neither",
    )


def _forecast(one: Told) -> str:
    if "why_not" in one:
        return f"<h4>With Peer Direct</h4><p>{escape(one['why_not'])}</p>"
    columns = ("message_bytes", "measured_GBps", "peer_direct_GBps", "low_GBps", "high_GBps", "ratio")
    rows = [
        (
            say_bytes(round(size)),
            f"{was:.3g} GB/s",
            f"{now:.3g} GB/s",
            f"{low:.3g} to {high:.3g} GB/s",
            f"<b>{ratio:.3g}x</b>",
        )
        for size, was, now, low, high, ratio in zip(*(one[name] for name in columns), strict=True)
    ]
    largest = one["message_bytes"].index(max(one["message_bytes"]))
    sentence = (
        f"<p class='pl-gain'><b>{one['ratio'][largest]:.2f} times</b> with Peer Direct at {rows[largest][0]}; "
        f"{escape(one['gain_in_words'])}</p>"
    )
    fitted = f"; some of its figures were fitted on {escape(one['fitted_on'])}" if one["fitted_on"] else ""
    curve = table(
        "Algorithm bandwidth, simulated with Peer Direct",
        ("message", "measured", "with it", "from, to", "gain"),
        rows,
    )
    return f"<h4>With Peer Direct</h4>{sentence}{curve}<p class='pl-quiet'>on {escape(one['cluster'])}{fitted}; from, to: also the model's own error on this log, a factor of {one['model_error_factor']:.3g}</p>"


def evidence_html(diagnosis: Diagnosis) -> str:
    """Return a diagnosis with its evidence."""
    return diagnosis_html(diagnosis.as_dict())
