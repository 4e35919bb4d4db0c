"""`peerlab neighbours` and its function: who pays for whom, fabric by fabric."""

import json

import pytest
from command_line import peerlab_command

import peerlab
from peerlab.base.document import document_text
from peerlab.base.errors import ScenarioError
from peerlab.engine.ports import port_forms as forms
from peerlab.features.neighbours.neighbours_picture import shared_port, victim_host
from peerlab.features.neighbours.neighbours_report import PLAYED_HEAD, cells, neighbours_document
from peerlab.study.port_answer import answer_ports
from peerlab.study.port_figures import port_fabrics
from peerlab.study.port_question import NEIGHBOURS, PortQuestion, port_question

ROW = {"header": 82, "hop": 0.2, "processing": 0.5}
PAUSES = {"hop": 0.2, "processing": 0.5, "xoff": 267392, "xon": 200544}
SMALL = {"nodes": 4, "message_bytes": "1 MiB"}


def test_credits_and_pauses_make_the_same_victim():
    for fabric, figures in (("infiniband", ROW | {"credits": 267392}), ("roce-pfc", PAUSES)):
        answer = answer_ports(
            port_question(
                fabric=fabric, neighbour="neighbour(4)", figures=figures, cell=4096, message_bytes="4 MiB"
            )
        )
        assert answer.neighbours == pytest.approx(1.0, rel=0.01)
        bound = forms.ring_s(8, 5e-6, 2**22, 12.5e9 * 4096 / 4178, 1 / 4)
        assert answer.time_ps / 1e12 == pytest.approx(bound, rel=0.1)


def test_a_lane_of_its_own_gives_the_ring_its_time_back():
    answer = answer_ports(port_question(fabric="infiniband", neighbour="neighbour(4)", vls=2, **SMALL))
    assert answer.share > 0.97


def test_below_one_switch_only_who_sends_to_the_same_host_is_in_the_way():
    asked = {"leaves": 1, "message_bytes": "1 MiB"}
    found = peerlab.neighbours("neighbour(4)", ["infiniband", "roce-pfc"], **asked)
    assert [answer.share for answer in found.answers] == [1.0, 1.0]
    (answer,) = peerlab.neighbours("incast(3)", "roce-pfc", cell="4 KiB", **asked).answers
    bound = forms.ring_s(8, 5e-6, 2**20, 12.5e9 * 4096 / 4178, 1 / 4)
    assert answer.time_ps / 1e12 == pytest.approx(bound, rel=0.1)
    # the receiver is the last node of the ring, and the victim the one before it
    hosts = answer.trace.scene.hosts
    assert (shared_port(answer), victim_host(answer)) == (hosts + 7, 6)
    with pytest.raises(ScenarioError, match="one switch has none"):
        peerlab.neighbours("collide(2)", "roce-pfc", **asked)


def test_who_else_sends_is_told_in_its_number():
    for senders, says in ((1, "1 sender into one host"), (3, "3 senders into one host")):
        told = document_text(
            neighbours_document(peerlab.neighbours(f"senders({senders})", "infiniband", until_ms=0.1))
        )
        assert told.startswith(f"Hosts of ideal-100g, {says}\n")
        assert f"{senders} flow{'s' * (senders > 1)};" in told


def test_alone_nothing_is_paused_lost_or_sent_twice():
    found = peerlab.neighbours("quiet", **SMALL)
    times = {one.question.fabric: one.time_ps for one in found.answers}
    assert times["roce-pfc"] == times["roce-lossy"] == times["roce-dcqcn"]
    for one in found.answers:
        assert (one.share, one.again_bytes, one.paused_ps, one.starved_ps) == (1.0, 0, 0, 0)
        assert "none lost" in cells(one)[-1]
    assert found.finding == "Nobody else sends: the AllReduce is alone on each of them."
    lossy = peerlab.neighbours("quiet", "roce-lossy", loss=0.001, **SMALL)
    assert lossy.finding.startswith("The AllReduce has ")
    assert lossy.finding.endswith(" of its speed without losses on RoCE, losses.")
    ports = peerlab.neighbours("senders(2)", "infiniband", until_ms=0.1)
    assert ports.finding == "The receiver has 100 % of a host's rate on InfiniBand."


def test_a_network_that_nobody_paces_may_never_let_an_allreduce_end():
    found = peerlab.neighbours("neighbour(4)", "roce-lossy", **SMALL)
    (answer,) = found.answers
    assert not answer.ends
    assert answer.as_dict()["busbw_GBps"] is None
    assert answer.again_bytes > 2**20
    assert "had not ended" in found.finding
    assert cells(answer)[1].startswith("> ")


def test_losses_cost_what_going_back_costs():
    found = [
        answer_ports(port_question(fabric="roce-lossy", neighbour="quiet", loss=1e-3, recovery=one))
        for one in ("selective", "go-back-n")
    ]
    assert found[0].share > found[1].share
    assert found[0].again_bytes < found[1].again_bytes / 20


def test_spraying_uses_every_trunk():
    shares = {
        spread: [
            answer_ports(
                port_question(fabric="roce-pfc", neighbour="collide(3)", spread=spread, seed=seed, **SMALL)
            ).share
            for seed in range(4)
        ]
        for spread in ("ecmp", "spray")
    }
    assert min(shares["ecmp"]) < 0.8
    assert min(shares["spray"]) > 0.9


def test_another_job_takes_half_of_a_narrow_trunk_and_nothing_of_a_wide_one():
    narrow, wide = (
        answer_ports(port_question(fabric="roce-pfc", neighbour="job(4)", trunk=trunk, **SMALL))
        for trunk in (1.0, 2.0)
    )
    assert narrow.ends
    assert 0.5 < narrow.share < 0.7  # its bytes take twice as long, its latency does not
    assert wide.share == pytest.approx(1.0, rel=0.01)
    assert narrow.neighbours > 0.2


def test_both_engines_answer_alike():
    question = port_question(fabric="roce-dcqcn", neighbour="incast(2)", **SMALL)
    assert answer_ports(question).as_dict() == answer_ports(question, "referee").as_dict()


def test_every_figure_has_a_source_or_an_assumption():
    for fabric in port_fabrics().values():
        for figure in fabric.figures.values():
            assert figure.source or figure.assumption
            if figure.range and figure.value:
                assert figure.range[0] <= figure.value <= figure.range[1]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"neighbour": "incast"}, "say how many"),
        ({"neighbour": "job(1)"}, "2 hosts or more"),
        ({"neighbour": "quiet(3)"}, "say how many"),
        ({"neighbour": "storm(2)"}, "incast"),
        ({"fabric": "ethernet"}, "infiniband"),
        ({"fabric": "infinibnad"}, "there is no fabric 'infinibnad'; did you mean 'infiniband'"),
        ({"nodes": 100}, "64 hosts at most"),
        ({"nodes": 0}, "2 hosts or more"),
        ({"spread": "flood"}, "ecmp"),
        ({"recovery": "never"}, "go-back-n"),
        ({"start": "warm"}, "cold"),
        ({"loss": 2}, "share of packets"),
        ({"figures": {"speed": 1}}, "credits"),
        ({"message_bytes": "8 GiB"}, "are simulated"),
        ({"message_bytes": 0}, "sends nothing"),
        ({"vls": 5}, "1 to 4"),
        ({"leaves": 1, "trunk": 50}, "one switch, which has no trunk"),
        ({"neighbour": "senders(2)", "trunks": 3}, "one switch, which has no trunk"),
        ({"neighbour": "collide(2)", "trunk": 1}, "as fast as a host"),
        ({"spread": "spray"}, "chooses among several trunks"),
        ({"seed": 3}, "chooses among several trunks"),
        ({"loss_seed": 3}, "nothing is lost"),
    ],
)
def test_what_is_impossible_is_told_in_a_line(given, says):
    with pytest.raises(ScenarioError, match=says):
        answer_ports(PortQuestion(**given))


def test_a_scene_that_was_cut_at_once_gives_no_share_beyond_all():
    answer = answer_ports(PortQuestion(message_bytes="256 KiB", until_ms=0.01))
    assert (answer.ends, answer.share) == (False, 1.0)


def test_an_unknown_field_names_the_nearest():
    with pytest.raises(ScenarioError, match="neighbour"):
        port_question(neighbor="quiet")
    assert set(NEIGHBOURS) > {"quiet", "incast", "neighbour", "collide"}


def test_the_command_prints_a_row_for_each_fabric(own_folder):
    status, out, problem = peerlab_command(
        "neighbours", "--nodes", "4", "--message", "1MiB", "--neighbour", "incast(2)", "--output", "page.html"
    )
    assert (status, problem) == (0, "")
    assert all(one.title in out for one in port_fabrics().values())
    page = (own_folder / "page.html").read_text()
    assert all(head in page for head in PLAYED_HEAD)


def test_the_command_gives_json_and_takes_figures():
    line = "neighbours --nodes 4 --message 1MiB --fabric roce-pfc --figure xon=20000 --json"
    status, out, _ = peerlab_command(*line.split())
    assert status == 0
    (one,) = json.loads(out)["fabrics"]
    assert one["fabric"] == "roce-pfc"
    assert one["paused_s"] > 0


@pytest.mark.parametrize(
    "wrong",
    [
        "--figure xon",
        "--figure foo=1",
        "--nodes x",
        "--output page.txt",
        "--fabric roce-pfc --figure credits=1",
        "--fabric roce-pfc --start fair",
    ],
)
def test_the_command_refuses_in_a_line(wrong):
    status, out, problem = peerlab_command("neighbours", "--nodes", "4", "--message", "64KiB", *wrong.split())
    assert (status, out) == (1, "")
    assert problem.count("\n") == 1


def test_a_still_says_whose_bytes_wait(own_folder):
    line = "neighbours --nodes 4 --message 256KiB --neighbour incast(2) --output queues.svg"
    assert peerlab_command(*line.split())[0] == 0
    still = (own_folder / "queues.svg").read_text()
    assert still.startswith("<svg")
    assert "Bytes that wait at the shared port" in still
    assert all(one.title in still for one in port_fabrics().values())
