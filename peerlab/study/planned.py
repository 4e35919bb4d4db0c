"""The plan of a trial: commands in their order, what the simulation expects, and from which figure on the answer is clear."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from peerlab.base.errors import PeerlabError, ScenarioError, nearest, one_line
from peerlab.base.units import MIB
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.simulate import simulate
from peerlab.model.hardware import Cluster
from peerlab.question.scenario import Scenario
from peerlab.records.benchmarks import benchmark
from peerlab.study.switching import PathSwitch, Switching, switching

OFF, ON = "off", "on"
_SIZES = (MIB, 16 * MIB, 64 * MIB, 256 * MIB)
# What the tools are told to measure: `_SIZES` lie in it, at powers of two, so each is in every log.
_LOW, _HIGH = MIB, 256 * MIB
_REPEATS = 5
_MOST_REPEATS = 50


@dataclass(frozen=True)
class ExpectedBand:
    """What the gain is expected to be at a size, on one wiring."""

    says: str
    """What holds then, after *if*; empty where nothing about the wiring is open."""
    low: float
    value: float
    high: float


@dataclass(frozen=True)
class ExpectedGain:
    """What the simulation expects at one size."""

    size_bytes: int
    off_GBps: float  # noqa: N815
    """Bus bandwidth while the path is off, GB/s."""
    on_GBps: float  # noqa: N815
    bands: tuple[ExpectedBand, ...]
    """The assumed wiring first."""


@dataclass(frozen=True)
class Trial:
    """A plan."""

    cluster: str
    nodes: int
    ranks: int
    tool: str
    launcher: str
    switch: str
    """What is switched: name of a `PathSwitch`."""
    off_path: str
    on_path: str
    repeats: int
    """Runs of each setting."""
    commands: tuple[tuple[str, str], ...]
    """In their order: the log that each writes, and the command."""
    expected: tuple[ExpectedGain, ...]
    size_bytes: int
    """The size that decides best."""
    threshold: float
    """From this gain on the answer is clear at that size."""
    question: str
    """What the threshold separates, a sentence without its end."""
    needs: str
    """What a log has to say where the path is on; empty: nothing is known."""
    source: str
    """Source for what the variables do."""


def plan_trial(
    cluster: str | Path | Cluster = "dl1",
    nodes: int = 2,
    *,
    tool: str = "",
    launcher: str = "srun",
    switch: str = "",
    repeats: int = _REPEATS,
    progress: Progress | None = None,
) -> Trial:
    """Return the plan of a trial on a cluster; what is left empty is chosen by the cluster's library.

    `progress` is called with sizes simulated and in all.

    Raises
    ------
    PeerlabError
        If the cluster lacks one of the paths, or tool, launcher or switch are not known.
    """
    known = switching()
    _check_runs(known, launcher, repeats)
    base = _several(Scenario(cluster=cluster, nodes=nodes))
    chosen = _switch(known, base, tool, switch)
    used = tool or chosen.tools[0]
    _check_paths(base, chosen)
    expected = _all_expected(base, chosen, progress)
    # decided before anybody measures, so that nobody chooses the size that pleases
    best = max(expected, key=_separation)
    threshold, question = _threshold(best)
    return Trial(
        cluster=one_line(cluster) if isinstance(cluster, str | Path) else cluster.name,
        nodes=nodes,
        ranks=nodes * base.hardware.devices,
        tool=used,
        launcher=launcher,
        switch=chosen.name,
        off_path=chosen.between[0],
        on_path=chosen.between[1],
        repeats=repeats,
        commands=tuple(_commands(known, base, chosen, used, launcher, repeats)),
        expected=expected,
        size_bytes=best.size_bytes,
        threshold=threshold,
        question=question,
        needs=chosen.needs,
        source=chosen.source,
    )


def _several(base: Scenario) -> Scenario:
    if base.nodes < 2:
        raise PeerlabError(
            "one node sends nothing over a NIC, so there is nothing to switch; give 2 nodes or more"
        )
    return base


def _all_expected(base: Scenario, chosen: PathSwitch, progress: Progress | None) -> tuple[ExpectedGain, ...]:
    expected = []
    for size in _SIZES:
        expected.append(_expected(base, chosen, size))
        if progress:
            progress(len(expected), len(_SIZES))
    return tuple(expected)


def _check_runs(known: Switching, launcher: str, repeats: int) -> None:
    # one run of each setting would show no noise, and no difference could be held against it
    if not isinstance(repeats, int) or not 2 <= repeats <= _MOST_REPEATS:
        raise PeerlabError(
            f"{repeats} runs of each setting are not possible; give 2 to {_MOST_REPEATS}: their spread is the noise"
        )
    if launcher not in known.launchers:
        raise PeerlabError(f"unknown launcher {launcher!r}; {nearest(launcher, known.launchers)}")


def _switch(known: Switching, base: Scenario, tool: str, name: str) -> PathSwitch:
    """Return what is switched: by its name, else the first that the cluster's library has."""
    names = [switch.name for switch in known.switches]
    if name and name not in names:
        raise PeerlabError(f"unknown switch {name!r}; {nearest(name, names)}")
    if tool and tool not in known.tools:
        raise PeerlabError(f"unknown tool {tool!r}; {nearest(tool, known.tools)}")
    # by library and tool: a variable that the one reads does nothing to another
    machine = base.hardware
    for path_switch in known.switches:
        tools = [each for each in path_switch.tools if tool in ("", each)]
        runs = any(benchmark(each).gaudi in (None, machine.device_name.startswith("Gaudi")) for each in tools)
        if runs and machine.library in path_switch.libraries and name in ("", path_switch.name):
            return path_switch
    text = f"switch {name!r} does nothing" if name else "no switch is known"
    raise PeerlabError(
        f"{text} for {machine.library!r} of {machine.name}"
        + (f" with {tool}" if tool else "")
        + f"; known switches are {', '.join(names)}"
    )


def _check_paths(base: Scenario, chosen: PathSwitch) -> None:
    for path in chosen.between:
        if path not in base.hardware.paths:
            why = base.hardware.lacks.get(path, "not described in the cluster's file")
            raise ScenarioError(
                "path", f"{base.hardware.name} has no {path!r} ({why}), so there is nothing to switch"
            )


def _expected(base: Scenario, chosen: PathSwitch, size: int) -> ExpectedGain:
    # the same machine and message: the path alone differs, as in the trial
    off, on = (simulate(base.with_(path=path, message_bytes=size)) for path in chosen.between)
    gain = on.gain_band(off)
    bands = [ExpectedBand(case.says, case.low, case.gain, case.high) for case in gain.wired]
    return ExpectedGain(
        size,
        off.busbw_GBps,
        on.busbw_GBps,
        tuple(bands) or (ExpectedBand("", gain.low, gain.value, gain.high),),
    )


def _separation(expected_gain: ExpectedGain) -> float:
    """Return by which factor the bands at a size lie apart: of the wirings, or of the only one and a gain of 1."""
    lows, highs = _sides(expected_gain)
    return lows / highs


def _sides(expected_gain: ExpectedGain) -> tuple[float, float]:
    """Return the low end of the upper band and the high end of the lower: what lies between decides nothing."""
    if len(expected_gain.bands) == 1:
        only = expected_gain.bands[0]
        return (only.low, 1.0) if only.value >= 1 else (1.0, only.high)
    *others, best = sorted(expected_gain.bands, key=lambda band: band.value)
    return best.low, max(band.high for band in others)


def sides_in_words(one: ExpectedGain) -> tuple[str, str]:
    """Return what holds above the threshold at a size with several wirings, and what below it."""
    *others, best = sorted(one.bands, key=lambda band: band.value)
    return best.says, " or ".join(band.says for band in reversed(others))


def _threshold(best: ExpectedGain) -> tuple[float, str]:
    upper, lower = _sides(best)
    # the geometric mean: gains are ratios, and it is as many times above the one as below the other
    threshold = math.sqrt(upper * lower)
    if len(best.bands) == 1:
        question = "whether the path that is switched on is faster at all"
        if upper > lower:
            return threshold, question
        # nothing is expected that could be told from its opposite: only the side of 1 is left to ask for
        return 1.0, f"{question} (both are expected: the band lies on both sides of 1)"
    above, below = sides_in_words(best)
    apart = "" if upper > lower else " (their bands overlap: only a gain outside of both tells)"
    return threshold, f"above it the result fits: {above}; below it: {below}{apart}"


def _commands(
    known: Switching, base: Scenario, chosen: PathSwitch, tool: str, launcher: str, repeats: int
) -> Iterator[tuple[str, str]]:
    """Yield the runs, off and on in turns, each pair the other way round: what drifts meets both alike."""
    for number in range(1, repeats + 1):
        order = (OFF, ON) if number % 2 else (ON, OFF)
        for setting in order:
            variables = dict(chosen.on if setting == ON else chosen.off) | dict(known.tools[tool].logs)
            yield f"{setting}-{number}.log", _command(known, base, tool, launcher, variables)


def _command(known: Switching, base: Scenario, tool: str, launcher: str, variables: Mapping[str, str]) -> str:
    called, how = known.tools[tool], known.launchers[launcher]
    handed = " ".join(
        how.variables.replace("NAME", name).replace("VALUE", value) for name, value in variables.items()
    )
    devices = base.hardware.devices
    # COMMAND comes first, as its text holds other words of these
    words = {
        "COMMAND": called.command,
        "VARIABLES": handed,
        "PROCESSES": str(devices * base.nodes),
        "DEVICES": str(devices),
        "NODES": str(base.nodes),
        "LOW": str(_LOW),
        "HIGH": str(_HIGH),
    }
    text = called.launch.get(launcher, how.command)
    for word, value in words.items():
        text = text.replace(word, value)
    return text
