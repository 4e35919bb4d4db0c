"""The scenarios that the labs on topology (01 to 03) come back to, without a library, and their runs, each simulated once."""

# A lesson's figures are computed, in its prose too. Truths of exercises and typical wrong answers are
# functions of the simulation. Every figure in the prose of a lab stands in a table
# (`tests/features/exercises/test_prose.py`) beside what computes it; a decimal or a percentage that is in
# no row fails, unless it is listed with its source. An exercise brings its style with it, as there need be
# no explorer above.

from functools import cache

from peerlab.engine.simulate import simulate
from peerlab.question.scenario import Scenario

STAGED = Scenario(cluster="dl1", library="none", nodes=8, path="host-rdma", message_bytes="64 MiB")
DIRECT = STAGED.with_(path="peer-direct")
TCP = STAGED.with_(path="host-tcp")
WIRE = Scenario(cluster="ideal-100g", nodes=8, message_bytes="64 MiB")

simulated = cache(simulate)
