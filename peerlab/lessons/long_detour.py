"""Exercises of lab 01: where a byte goes, with and without a detour."""

from peerlab.engine.run import simulate
from peerlab.lessons.exercise import Mistake, Number
from peerlab.model.scenario import Scenario

STAGED = Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
DIRECT = STAGED.with_(path="peer-direct")

EXERCISES = (
    Number(
        name="01-gain",
        question="How many times faster is this AllReduce with Peer Direct than through host memory?",
        truth=lambda: simulate(STAGED).time_s / simulate(DIRECT).time_s,
        mistakes=(
            Mistake(
                lambda: simulate(DIRECT).time_s / simulate(STAGED).time_s,
                "That is the new time as a part of the old one; turn the ratio round.",
            ),
        ),
        hints=(
            "`peerlab.simulate(staged).time_s` is the time with the detour.",
            "Divide the longer time by the shorter.",
        ),
        why="The wire sets the pace now, not the uplink that everything crossed twice.",
        solution="peerlab.simulate(staged).time_s / peerlab.simulate(direct).time_s",
    ),
)
