"""Why a figure of a question has its value: who wrote it, and what was done to it, a line each."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

from peerlab.base.display import shown
from peerlab.base.errors import HardwareError
from peerlab.base.units import parse_bytes, parse_duration, parse_rate, say_unit
from peerlab.model.effective_machine import Change
from peerlab.model.hardware import FIGURE_FIELDS, FIGURE_KINDS, FIGURE_LABELS, Cluster, Figure
from peerlab.model.nic_wiring import Wiring
from peerlab.model.resources import RESOURCES
from peerlab.question.scenario import Scenario, checked_scenario
from peerlab.question.used_figures import figures_used

_UNITS = {"rate": "GB/s", "time": "us", "size": "B", "length": "m"}
"""In which a figure is said that no file gives a unit."""


SIGNS = {"is": "", "plus": "+ ", "times": "x "}
"""What stands before an amount, by what it does to the figure (`FigureLine.how`)."""


@dataclass(frozen=True, kw_only=True)
class FigureLine:
    """What one hand did to a figure."""

    how: str
    """``is``, ``plus`` or ``times``: whether `amount` takes its place, is added to it, or multiplies it."""
    amount: float | str | None
    """In the unit of the figure; None: no limit."""
    text: str
    """`amount` as people read it, with its unit."""
    by: str
    """Who did it, such as ``cluster file dl1.toml``, ``library NCCL over EFA`` or ``the scenario``."""
    source: str = ""
    """Where it was read, or why it was done."""
    assumption: str = ""
    """What is assumed about it; empty where nothing is."""
    range: tuple[float, float] | None = None
    """From where to where an assumed figure may lie, in its unit."""
    unit: str = "1"
    """Unit of the range."""
    figures: tuple[str, ...] = ()
    """Keys of the figures that `amount` was reckoned from."""
    assumed: bool = False
    """Whether it rests on an assumption: its own, or that of a figure that it was reckoned from."""

    computed: bool = False
    """Whether it was reckoned for this question; otherwise a file says it, or whoever made the cluster."""

    def __str__(self) -> str:
        word = {"is": "", "plus": "plus ", "times": "times "}[self.how]
        return f"{word}{self.text}, {self.by}" + (f" ({self.why})" if self.why else "")

    @property
    def why(self) -> str:
        """Source and assumption in words.

        >>> FigureLine(how="is", amount=16.0, text="16", by="cluster file my.toml", assumption="as on DL1", range=(8, 32)).why
        'assumed: as on DL1 (from 8 to 32)'
        """
        low, high = self.range or (0, 0)
        between = f" (from {low:g} to {high:g}{say_unit(self.unit)})" if self.range else ""
        assumed = f"assumed: {self.assumption}{between}" if self.assumption else ""
        reckoned = f"reckoned from {', '.join(self.figures)}" if self.figures else ""
        return "; ".join(filter(None, (self.source, reckoned, assumed)))


@dataclass(frozen=True, kw_only=True, repr=False)
class EffectiveFigure:
    """A figure as a question meets it, and the lines that lead there.

    >>> from peerlab.question.scenario import Scenario
    >>> why(Scenario(cluster="ideal-100g", transport="roce"), "nic.rate").head
    'NIC rate (nic.rate): 12.25 GB/s, per NIC, per direction'
    """

    key: str
    """Section and name, such as ``nic.rate``."""
    label: str
    """Name for people, such as ``NIC rate``."""
    value: float | str | None
    """What the lines come to, in `unit`; None: nothing limits, or nobody says it. Of ``wiring.nic`` it is a text."""
    unit: str
    basis: str
    """What it is counted per."""
    lines: tuple[FigureLine, ...]
    notes: tuple[str, ...]
    """What else there is to know, as sentences."""

    @property
    def assumed(self) -> bool:
        """Whether its value rests on an assumption: that of a line, unless another takes its place."""
        # the last "is" takes the place of all before it, and of what they assume
        places = [place for place, line in enumerate(self.lines) if line.how == "is"]
        return any(line.assumed for line in self.lines[places[-1] if places else 0 :])

    @property
    def text(self) -> str:
        """Its value as people read it."""
        return _amount_text(self.value, self.unit) if self.lines else "no value"

    @property
    def head(self) -> str:
        """What it is and how much, without the reasons."""
        mark = " †" if self.assumed else ""
        basis = f", {self.basis}" if self.basis else ""
        return f"{self.label} ({self.key}): {self.text}{basis}{mark}"

    @property
    def computed(self) -> tuple[FigureLine, ...]:
        """The lines that no file says: what was done to the figure for this question."""
        return tuple(line for line in self.lines if line.computed)

    def __repr__(self) -> str:
        return f"{self.head}; print() says who set it"

    def __str__(self) -> str:
        sentence = f" = {'; '.join(map(str, self.lines))}." if self.lines else "."
        return " ".join((f"{self.head}{sentence}", *self.notes))

    _repr_html_ = shown

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        lines = [
            {**asdict(line), "range": list(line.range) if line.range else None, "why": line.why}
            for line in self.lines
        ]
        return {
            "figure": self.key, "label": self.label, "value": self.value, "unit": self.unit, "basis": self.basis,
            "assumed": self.assumed, "lines": lines, "notes": list(self.notes),
        }  # fmt: skip


class EffectiveFigures(Sequence[EffectiveFigure]):
    """The figures that a question looks at, in the order of the reference; a notebook shows one a line."""

    def __init__(self, figures: Sequence[EffectiveFigure]) -> None:
        self._figures = tuple(figures)

    def __getitem__(self, place: Any) -> Any:
        return self._figures[place]

    def __len__(self) -> int:
        return len(self._figures)

    _repr_html_ = shown

    def __repr__(self) -> str:
        return f"{len(self)} figures, {sum(line.assumed for line in self)} of them assumed; print() says who set them"

    def __str__(self) -> str:
        return "\n".join(map(str, self._figures))


def why(scenario: Scenario, figure: str | None = None) -> EffectiveFigure | EffectiveFigures:
    """Return why a figure has the value that a simulation of `scenario` uses; None: every figure that it looks at.

    A figure is named by its key (``nic.rate``) or by what it is called (``NIC rate``).

    Raises
    ------
    HardwareError
        If there is no such figure; it names the nearest.

    >>> from peerlab import Scenario
    >>> why(Scenario(path="peer-direct"), "NIC rate").text
    '12.5 GB/s'
    """
    asked = checked_scenario(scenario)
    if figure is not None:
        return effective_figure(asked, _key(figure))
    return EffectiveFigures(tuple(met(asked)))


def met(scenario: Scenario) -> Iterator[EffectiveFigure]:
    """Yield every figure that a scenario looks at; where the NICs hang first, where that matters."""
    used = figures_used(scenario)
    if scenario.is_wired:
        yield _of(scenario, Wiring.key, used)
    for key in FIGURE_KINDS:
        if _is_met(scenario, key, used):
            yield _of(scenario, key, used)


def effective_figure(scenario: Scenario, key: str, used: frozenset[str] | None = None) -> EffectiveFigure:
    """Return one figure as a scenario meets it, by its key; `used` are the keys of the figures that the scenario looks at, where the caller has them."""
    return _of(scenario, key, figures_used(scenario) if used is None else used)


def is_computed(scenario: Scenario, key: str) -> bool:
    """Return whether something was done to a figure for this question, beyond what files say."""
    return bool(scenario.effective_machine.changes.get(FIGURE_FIELDS[key])) or bool(_headers(scenario, key))


def _key(name: str) -> str:
    """Return the key of a figure that is named by key, by label or by the field of `Cluster`."""
    called: dict[str, str] = {key.lower(): key for key in (*FIGURE_KINDS, Wiring.key)}
    called |= {label.lower(): key for key, label in FIGURE_LABELS.items()} | {Wiring.label: Wiring.key}
    called |= {field.lower(): key for key, field in FIGURE_FIELDS.items()}
    wanted = str(name).strip().lower()
    # a name without its section is enough where one section alone has it
    ends = [key for key in FIGURE_KINDS if wanted == key.partition(".")[2]]
    if wanted in called or len(ends) == 1:
        return called.get(wanted) or ends[0]
    close = [called[match] for match in get_close_matches(wanted[:80], called, n=4, cutoff=0.5)]
    offer = list(dict.fromkeys((*ends, *close)))
    near = f"nearest: {', '.join(offer)}" if offer else f"sections: {', '.join(_sections())}"
    raise HardwareError(f"unknown figure {name!r}; {near}; without a name all are shown")


def _sections() -> list[str]:
    return list(dict.fromkeys(key.partition(".")[0] for key in FIGURE_KINDS))


def _is_met(scenario: Scenario, key: str, used: frozenset[str]) -> bool:
    changes = scenario.effective_machine.changes.get(FIGURE_FIELDS[key], ())
    # what a law puts in the place of a figure is met even where no stage asks for it
    return key in used or any(change.how == "is" for change in changes)


def _of(scenario: Scenario, key: str, used: frozenset[str]) -> EffectiveFigure:
    if key == Wiring.key:
        return _wiring(scenario)
    machine = scenario.effective_machine
    history = machine.history(key)
    figure = scenario.hardware.figures.get(key)
    unit = figure.unit if figure else _UNITS.get(FIGURE_KINDS[key], "1")
    lines = [_line(change, key, unit, scenario.hardware) for change in history]
    value: float | None = getattr(machine.cluster, FIGURE_FIELDS[key])
    if value is not None:
        # Shown in the unit of the file that says it, so that a reader finds the number there.
        value /= _scale(key, unit)
    if value and (headers := _headers(scenario, key)):
        lines.append(headers)
        # Engines count headers as bytes, not as a slower link. Here they are a factor, so that the lines come
        # to what is left for payload.
        value *= scenario.goodput
    return EffectiveFigure(
        key=key,
        label=FIGURE_LABELS[key],
        value=value if lines else None,
        unit=unit,
        basis=_basis(history),
        lines=tuple(lines),
        notes=tuple(_notes(scenario, key, used)),
    )


def _basis(history: Sequence[Figure | Change]) -> str:
    """Return what a number counts in the end: what was said last."""
    return next((entry.basis for entry in reversed(history) if entry.basis), "")


def _line(entry: Figure | Change, key: str, unit: str, cluster: Cluster) -> FigureLine:
    """Return a line of a figure that is said in `unit`."""
    if isinstance(entry, Figure):
        scale = _scale(key, entry.unit) / _scale(key, unit)
        return FigureLine(
            how="is", amount=entry.value * scale, text=str(entry), by=entry.origin or "Python", source=entry.source,
            assumption=entry.assumption, assumed=bool(entry.assumption), range=entry.range, unit=entry.unit,
        )  # fmt: skip
    amount, shown_unit = entry.amount, unit
    # a factor has no unit
    if entry.how == "times":
        shown_unit = "1"
    elif amount is not None:
        amount /= _scale(key, unit)
    # what a change makes of the figure itself is assumed if the figure is, which stands a line above
    of = [cluster.figures[other] for other in entry.figures if other in cluster.figures]
    return FigureLine(
        how=entry.how, amount=amount, text=_amount_text(amount, shown_unit), by=entry.by, source=entry.why, unit=shown_unit,
        figures=tuple(other for other in entry.figures if other != key), assumed=any(figure.assumption for figure in of),
        computed=True,
    )  # fmt: skip


def _headers(scenario: Scenario, key: str) -> FigureLine | None:
    """Return what headers take of the rate of a resource that packets cross; None where there are none."""
    share, met_cluster = scenario.goodput, scenario.cluster_for_message
    if share == 1.0 or not scenario.used_transport or not getattr(met_cluster, FIGURE_FIELDS[key]):
        return None
    if FIGURE_FIELDS[key] not in {kind.rate for kind in RESOURCES.values() if kind.frames}:
        return None
    inside = met_cluster.inside_bytes or 0
    payload, packet = met_cluster.mtu_bytes - inside, met_cluster.mtu_bytes + met_cluster.header_bytes
    sentence = f"less headers: of a full packet of {packet} bytes {payload} are payload"
    by = f"transport {scenario.used_transport.title}"
    return FigureLine(
        how="times", amount=share, text=_amount_text(share, "1"), by=by, source=sentence, computed=True
    )


def _notes(scenario: Scenario, key: str, used: frozenset[str]) -> Iterator[str]:
    if reason := scenario.hardware.leaves_out.get(key):
        yield f"Its cluster's file leaves it out: {reason}."
    elif not scenario.effective_machine.history(key):
        yield f"No file says it for {scenario.hardware.name}."
    elif not _is_met(scenario, key, used):
        yield "This question does not look at it."
    elif FIGURE_FIELDS[key] in {kind.rate for kind in RESOURCES.values() if kind.slowed_with_node}:
        for node, share in (scenario.slow_nodes or {}).items():
            yield f"Node {node} has {100 * share:g} % of it (slow_nodes)."


def _wiring(scenario: Scenario) -> EffectiveFigure:
    """Return where the NICs hang, as a figure whose value is a text."""
    wiring, wired = (cluster.wiring for cluster in scenario.effective_machine.written[:2])
    steps = [(wiring, f"cluster {scenario.given_cluster.name}")]
    if wired != wiring:
        steps.append((wired, "the scenario"))
    lines = [
        FigureLine(
            how="is",
            amount=str(place),
            text=str(place),
            by=by,
            source=place.source,
            assumption=place.assumption,
            assumed=bool(place.assumption),
        )
        for place, by in steps
    ]
    notes = () if scenario.is_wired else ("This question does not look at it.",)
    return EffectiveFigure(
        key=Wiring.key,
        label=Wiring.label,
        value=str(wired),
        unit="",
        basis="",
        lines=tuple(lines),
        notes=notes,
    )


def _scale(key: str, unit: str) -> float:
    """Return how many of peerlab's own units one `unit` of a figure is."""
    match FIGURE_KINDS[key]:
        case "rate":
            return parse_rate(1, unit)
        case "time":
            return parse_duration(1, unit)
        case "size":
            return parse_bytes(f"1 {unit}")
        case "length":
            return 1000
        case _:
            return 1


def _amount_text(value: float | str | None, unit: str) -> str:
    if value is None:
        return "no limit"
    return value if isinstance(value, str) else f"{value:.4g}{say_unit(unit)}"
