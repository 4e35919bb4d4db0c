"""Clusters in words, as wide as the terminal."""

from collections.abc import Iterable, Iterator, Sequence

from peerlab.base.errors import one_line, shell_word
from peerlab.base.terminal_text import width, wrapped
from peerlab.base.units import say_count, say_unit
from peerlab.model.cluster_reading import Missing
from peerlab.model.guide import GUIDE, TEXTS
from peerlab.model.hardware import Cluster, Figure
from peerlab.model.nic_wiring import Wiring
from peerlab.question.completeness import Completeness
from peerlab.question.scenario import Scenario

_ROOM_FOR_TITLES = 110


def list_lines(clusters: Sequence[Cluster]) -> Iterator[str]:
    # Titles are long: a narrow terminal gets them on a line of their own.
    """Return one row per cluster, two where the terminal is narrow."""
    titles = width() >= _ROOM_FOR_TITLES
    names = max(len(cluster.name) for cluster in clusters)
    title = max(len(cluster.title) for cluster in clusters) if titles else 0
    head = f"{'cluster':<{names}}  " + (f"{'title':<{title}}  " if titles else "")
    yield f"{head}devices  NICs   assumed  paths between nodes"
    for cluster in clusters:
        assumed = f"{len(cluster.assumptions)} of {len(cluster.stated)}"
        row = f"{cluster.name:<{names}}  " + (f"{cluster.title:<{title}}  " if titles else "")
        row += f"{cluster.devices:>7}  {cluster.nics:>4}  {assumed:>8}  "
        lines = wrapped(", ".join(cluster.paths), row)
        if not titles:
            second = lines[1] if len(lines) > 1 else ""
            # The title takes the room at the left of the second line of paths, which may be empty.
            lines[1:2] = [f"  {cluster.title}".ljust(len(row)) + second.strip()]
        yield from (line.rstrip() for line in lines)
    yield ""
    yield from wrapped(
        "devices and NICs are counted per node; assumed: figures that no source states, of all in the cluster's file"
    )
    yield from wrapped(
        "one with all its figures: peerlab clusters NAME; one of your own: peerlab clusters new my.toml"
    )


def cluster_lines(cluster: Cluster) -> Iterator[str]:
    """Return everything that is known about a cluster."""
    yield f"{cluster.title} ({cluster.name})"
    yield from wrapped(cluster.summary)
    yield ""
    yield from wrapped(_wiring(cluster), "per node    ")
    mark = "*" if cluster.wiring.assumption else " "
    yield from wrapped(_place(cluster.wiring), f"NICs hang {mark} ", "            ")
    yield from wrapped(", ".join(cluster.paths), "paths       ")
    yield from _reasons("lacks", cluster.lacks.items())
    yield from _reasons("leaves out", cluster.leaves_out.items())
    if cluster.fitted_on:
        yield from wrapped(f"{cluster.fitted_on}; elsewhere an extrapolation", "fitted on   ")
    yield ""
    yield from wrapped(f"In its file: {cluster.counted} (marked *){_simulated(cluster)}")
    names = max(len(key) for key in cluster.figures)
    values = max(len(str(figure)) for figure in cluster.figures.values())
    for figure in cluster.figures.values():
        mark = "*" if figure.assumption else " "
        yield from wrapped(
            f"{figure.label}, {figure.basis}", f"{mark} {figure.key:<{names}}  {figure!s:<{values}}  "
        )
        yield from wrapped(_grounds(figure), "      ", "      ")


def _simulated(cluster: Cluster) -> str:
    """Return how many figures a simulation rests on, if its library brings some."""
    scenario = Scenario(cluster=cluster)
    sentence, library = scenario.hardware.counted, scenario.used_library
    return (
        f". A simulation adds those of {library.title}: {sentence}"
        if library and sentence != cluster.counted
        else ""
    )


def _wiring(cluster: Cluster) -> str:
    switches = cluster.numa_domains * cluster.switches_per_numa
    whole = f"{cluster.devices} x {cluster.device_name}, {say_count(cluster.nics, 'NIC')}"
    if switches == 1:
        return whole
    each = (
        f"{say_count(cluster.devices_per_switch, 'device')} and {say_count(cluster.nics_per_switch, 'NIC')}"
    )
    return (
        f"{whole}: {say_count(cluster.numa_domains, 'NUMA domain')} x "
        f"{say_count(cluster.switches_per_numa, 'PCIe switch')}, {each} below each"
    )


def _place(wiring: Wiring) -> str:
    """Return where the NICs hang, on what evidence, and what else may be."""
    sentences = [str(wiring)]
    sentences += (
        [f"assumed: {wiring.assumption}"] if wiring.assumption else [wiring.source] if wiring.source else []
    )
    sentences += [
        f"{'possible' if other.possible else 'not'}: {other.holds}"
        + (f", because {other.because}" if other.because else "")
        for other in wiring.others
    ]
    sentences += [wiring.check] if wiring.assumption else []
    return "; ".join(sentences)


def _reasons(what: str, reasons: Iterable[tuple[str, str]]) -> Iterator[str]:
    head = f"{what:<12}"
    for name, why in reasons:
        yield from wrapped(f"{name}: {why}", head, " " * 14)
        head = " " * 12


def _grounds(figure: Figure) -> str:
    """Return where a figure comes from and what is assumed about it."""
    if not figure.assumption:
        return figure.source
    source = f"{figure.source}; " if figure.source else ""
    return f"{source}assumed: {figure.assumption}{_between(figure)}"


def _between(figure: Figure) -> str:
    if figure.range is None:
        return ""
    return f" (from {figure.range[0]:g} to {figure.range[1]:g}{say_unit(figure.unit)})"


def report_lines(report: Completeness) -> Iterator[str]:
    """Return what a cluster file lacks, what is wrong in it, and what to look at."""
    there = report.figures
    state = "complete" if report.complete else "not complete"
    assumed = f", {report.assumptions} of them assumed" if there else " yet"
    yield f"{one_line(report.file)}: {state}; {say_count(there, 'figure')}{assumed}"
    yield from _block("wrong", (wrapped(text, "  ", "    ") for text in report.wrong))
    yield from _block(f"missing ({len(report.missing)})", map(_missing, report.missing))
    yield from _block("implausible", (wrapped(text, "  ", "    ") for text in report.implausible))
    hang = [f"{report.wiring.named}: {_place(report.wiring)}"] if report.wiring.assumption else []
    assumed_texts = [*hang, *map(_assumed, report.assumed)]
    yield from _block("assumed", (wrapped(text, "  ", "    ") for text in assumed_texts))
    if report.complete:
        yield ""
        yield f"try it: peerlab simulate --cluster {shell_word(report.file)}"


def _block(title: str, items: Iterable[Iterable[str]]) -> Iterator[str]:
    blocks = [list(item) for item in items]
    if blocks:
        yield ""
        yield title
        for block in blocks:
            yield from block


def _missing(missing: Missing) -> Iterator[str]:
    entry = GUIDE.get(missing.key)
    if entry is None:
        yield from wrapped(f"{missing.key}: {TEXTS[missing.key]}", "  ", "    ")
        yield "    a text at the top of the file"
        return
    unit = say_unit(entry.unit).strip() or "a whole number"
    yield from wrapped(f"{missing.key}: {entry.what}", "  ", "    ")
    yield from wrapped(f"{unit}, {entry.basis}; {missing.why}", "    ", "      ")
    yield from wrapped(f"find it: {entry.where}", "    ", "      ")


def _assumed(figure: Figure) -> str:
    return f"{figure.named} = {figure}: {figure.assumption}{_between(figure)}"
