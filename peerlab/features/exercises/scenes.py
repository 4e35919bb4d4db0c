"""The scenarios that the labs on topology (01 to 03) come back to, without a library, and their runs, each simulated once."""

from functools import cache

from peerlab.engine.simulate import simulate
from peerlab.question.scenario import Scenario

STAGED = Scenario(cluster="dl1", library="none", nodes=8, path="host-rdma", message_bytes="64 MiB")
DIRECT = STAGED.with_(path="peer-direct")
TCP = STAGED.with_(path="host-tcp")
WIRE = Scenario(cluster="ideal-100g", nodes=8, message_bytes="64 MiB")

simulated = cache(simulate)
