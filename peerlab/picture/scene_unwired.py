"""What stands between the nodes where no wire is: memory that both reach, or words that say that nothing crosses a wire."""

from peerlab.model.resources import resource_kind
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import WIDTH, within
from peerlab.picture.geometry import PORT_HALF, PORT_WIRE, SHARED, SHARED_HALF, SUM_BOX, WIRE
from peerlab.picture.sketch import Sketch
from peerlab.picture.wire import say_latency


def draw_unwired(sketch: Sketch) -> None:
    """Draw what joins the nodes of a path that sends by no NIC and no port."""
    if sketch.geometry.shared:
        _draw_shared(sketch)
        return
    # How slices come to the other node is not drawn: the caption names those stages.
    words = f"{sketch.path.title}: no NIC, no wire"
    sketch.drawing.text((WIDTH / 2, WIRE), words, size=12, bold=True)


def _draw_shared(sketch: Sketch) -> None:
    """Draw memory that both nodes reach: slices go into it on one side and come out of it on the other."""
    d, inside, top = sketch.drawing, sketch.geometry.middle(0), PORT_WIRE - SHARED_HALF
    stages = [stage for stage in sketch.run.scenario.stages if stage_kind(stage.name).track in SHARED]
    busiest = sketch.busiest(0, [use.kind for stage in stages for use in stage.uses])
    hot = sketch.hot == busiest
    link = (inside, PORT_WIRE - PORT_HALF, WIDTH - inside, PORT_WIRE + PORT_HALF)
    d.box("pipes", link, "box", "hot" if hot else "edge", 1.6 if hot else 1.0)
    d.box("boxes", (SUM_BOX[0], top, SUM_BOX[1], PORT_WIRE + SHARED_HALF), "box", "edge", 1.6)
    name = within(sketch.path.title, SUM_BOX[1] - SUM_BOX[0])
    d.text((WIDTH / 2, PORT_WIRE), name, size=13, bold=True)
    if busiest:
        sketch.told.add(busiest)
        words = f"{resource_kind(busiest).label}, {sketch.share(0, busiest)}"
        d.text((WIDTH / 2, top - 26), words, size=12, bold=hot, ink="hot-ink" if hot else "muted")
    hot = sketch.hot == "latency"
    ink = "hot-ink" if hot else "muted"
    d.text((WIDTH / 2, top - 10), say_latency(sketch.run.scenario), size=11, bold=hot, ink=ink)
