"""What the page of a network with neighbours gets: the cells that the trace has, each with the link by which it came."""

import numpy as np
import pytest

from peerlab.base.errors import ExportError
from peerlab.features.neighbours import port_parcel as parcels
from peerlab.features.neighbours.neighbours_report import PLAYED_HEAD
from peerlab.features.neighbours.port_columns import DISCARDED, MARKED
from peerlab.features.neighbours.port_page import port_page_html
from peerlab.features.neighbours.port_parcel import port_parcel
from peerlab.study.port_answer import answer_ports
from peerlab.study.port_question import port_question


def answered(fabric, **more):
    given = {"nodes": 4, "message_bytes": "256 KiB", "neighbour": "neighbour(2)", **more}
    return answer_ports(port_question(fabric=fabric, **given))


@pytest.fixture(scope="module")
def answers():
    return [answered(fabric) for fabric in ("infiniband", "roce-pfc")]


def columns(fabric):
    kinds = dict.fromkeys(("queued", "start", "end"), np.float32)
    return {
        name: np.frombuffer(data, kinds.get(name, np.int32))
        for name, data in fabric["cells"]["arrays"].items()
    }


def test_every_cell_of_the_trace_is_there_with_the_bytes_that_it_has(answers):
    for answer, fabric in zip(answers, port_parcel(answers)["fabrics"], strict=True):
        cells, trace = columns(fabric), answer.trace
        assert fabric["cells"]["count"] == len(trace.cells) + len(trace.left)
        assert cells["wire"].sum() == sum(cell.wire for cell in [*trace.cells, *trace.left])
        assert (np.diff(cells["link"]) >= 0).all()


def test_a_cell_came_to_its_port_by_the_link_that_brought_it(answers):
    """Bytes that came by a link never exceed those that the link has sent."""
    scene = answers[0].trace.scene
    for answer, fabric in zip(answers, port_parcel(answers)["fabrics"], strict=True):
        cells = columns(fabric)
        for link in range(len(scene.links)):
            came = cells["wire"][cells["via"] == link].sum()
            assert came <= sum(cell.wire for cell in answer.trace.on(link))
        hosts = cells["link"] < scene.hosts
        assert (cells["via"][hosts] == -1).all()
        assert (cells["via"][~hosts] >= 0).all()


def test_figures_stand_in_the_order_of_their_names(answers):
    parcel = port_parcel(answers)
    for fabric in parcel["fabrics"]:
        assert len(fabric["figures"]) == len(parcel["columns"]) == len(PLAYED_HEAD) - 1
    pausing, credited = (fabric["happened"] for fabric in reversed(parcel["fabrics"]))
    assert pausing.startswith("All ports together: paused for ")
    assert credited.startswith("All ports together: stopped for ")
    assert "credits" not in pausing
    # who sends into one host is nobody's victim
    assert port_parcel([answered("infiniband", neighbour="senders(2)", until_ms=0.1)])["who"] == "receiver"


def test_a_page_refuses_what_does_not_belong_together(answers):
    with pytest.raises(ExportError, match="these differ in hosts or senders"):
        port_page_html([answers[0], answered("roce-pfc", neighbour="neighbour(3)")])
    with pytest.raises(ExportError, match="one to 4 fabrics, not 0"):
        port_page_html([])


def test_a_page_that_has_no_room_for_all_cells_plays_the_beginning(answers, monkeypatch):
    whole = port_parcel(answers)
    monkeypatch.setattr(parcels, "MOST_CELLS", 500)
    part = port_parcel(answers)
    assert part["played_us"] < whole["played_us"] == max(answer.time_ps for answer in answers) / 1e6
    for some, every in zip(part["fabrics"], whole["fabrics"], strict=True):
        assert 0 < some["cells"]["count"] < every["cells"]["count"]
        assert some["figures"] == every["figures"]  # of the whole scene
        assert columns(some)["queued"].max() <= part["played_us"] * 1.000001


def test_a_port_that_loses_says_so():
    losing = answered("roce-lossy", neighbour="incast(3)", until_ms=1.0, figures={"queue": 50_000})
    fabric = port_parcel([losing])["fabrics"][0]
    dropped = {event.link for event in losing.trace.packets if event.kind == "drop"}
    assert {int(link) for link, _ in fabric["lost"]} == dropped != set()


def test_a_page_has_every_credit_mark_rate_and_notification(answers):
    credited = port_parcel(answers)["fabrics"][0]
    assert credited["credits"]["count"] == len(answers[0].trace.credits) > 0
    assert credited["pool"] == 131072
    marked = answered("roce-dcqcn", neighbour="neighbour(3)", message_bytes="1 MiB")
    fabric, trace = port_parcel([marked])["fabrics"][0], marked.trace
    kinds = columns(fabric)["kind"]
    assert (kinds & MARKED > 0).sum() == sum(cell.marked for cell in [*trace.cells, *trace.left]) > 0
    # one row at the begin for each flow
    assert fabric["rates"]["count"] == len(trace.rates) + len(trace.scene.flows)
    told = [signal for signal in trace.signals if signal.kind == "cnp"]
    ways = [3 if trace.scene.trunk_links(trace.scene.flows[signal.of]) else 2 for signal in told]
    assert sum(which == 2 for _, which, _, _ in fabric["signals"]) == sum(ways) > 0


def test_cells_that_a_receiver_refuses_are_told_from_those_that_it_takes():
    losing = answered("roce-lossy", neighbour="incast(3)", until_ms=1.0, figures={"queue": 50_000})
    trace, scene = losing.trace, losing.trace.scene
    table = columns(port_parcel([losing])["fabrics"][0])
    refused = table["wire"][table["kind"] & DISCARDED > 0].sum()
    packets = sum(event.packets for event in trace.packets if event.kind == "discard")
    assert 0 < refused <= packets * scene.fabric.packet
    assert refused > 0.9 * packets * scene.fabric.packet  # the others came in a cell that had a good one, too
    assert (table["link"][table["kind"] & DISCARDED > 0] >= scene.hosts).all()
