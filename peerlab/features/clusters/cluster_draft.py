"""`peerlab clusters draft`: a whole cluster file from a topology, and a picture of its data path."""

from pathlib import Path

from peerlab.base.errors import HardwareError, one_line, shell_word
from peerlab.base.outfile import check_place, written
from peerlab.base.terminal_text import wrapped
from peerlab.base.units import say_count
from peerlab.features.clusters.drafted_file import draft_for, this_machine
from peerlab.features.clusters.from_topology import Drafted
from peerlab.question.scenario import Scenario
from peerlab.question.write_cluster import check_new, write_new
from peerlab.topology import Topology, load_topology


def draft(path: Path, file: str | None, *, show: bool, force: bool) -> int:
    """Write a cluster file, and with `show` a picture beside it; say what was read, and what is assumed.

    Raises
    ------
    HardwareError
        If the topology cannot be read, or a file cannot be written.
    """
    # Both places first: a topology that takes a while to read is not to end at a file that is there already.
    check_new(path, force=force)
    picture = path.with_suffix(".svg")
    if show:
        _check_picture(picture, force=force)
    topology = _topology(file)
    ready = draft_for(path, topology, file or "this machine", Path(file).name if file else "/sys")
    drafted = ready.drafted
    write_new(path, ready.text, force=force)
    for line in _draft_lines(path, drafted):
        print(line)
    if show:
        _draw(drafted, picture)
        print(f"wrote {one_line(picture)}: its data path, simulated on 2 nodes")
    print(f"replace what is assumed; what that is: peerlab clusters check {shell_word(path)}")
    return 0


def _topology(file: str | None) -> Topology:
    if file is not None:
        return load_topology(file)
    try:
        return this_machine()
    except HardwareError as problem:
        raise HardwareError(f"{problem}; give a topology, as in --from topo.xml") from None


def _check_picture(picture: Path, *, force: bool) -> None:
    if picture.exists() and not force:
        raise HardwareError(f"{picture} is there already; --force overwrites it")
    check_place(picture, HardwareError)


def _draft_lines(path: Path, drafted: Drafted) -> list[str]:
    cluster = drafted.cluster
    assumed = len(cluster.assumptions)
    lines = [
        f"wrote {one_line(path)}: {say_count(len(drafted.read), 'figure')} read, {assumed} assumed, most as on {drafted.like}"
    ]
    lines += wrapped(cluster.summary, "  ", "  ")
    for remark in drafted.remarks:
        lines += wrapped(remark, "  note: ", "        ")
    return lines


def _draw(drafted: Drafted, picture: Path) -> None:
    from peerlab.engine.simulate import simulate  # noqa: PLC0415  (Bokeh takes a second to load)
    from peerlab.picture.still import still_svg  # noqa: PLC0415

    run = simulate(Scenario(cluster=drafted.cluster, nodes=2))
    with written(picture, HardwareError) as file:
        file.write_text(still_svg(run), encoding="utf-8")
