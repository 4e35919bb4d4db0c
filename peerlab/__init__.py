"""See where the bytes of an AllReduce go, and what each detour costs.

>>> import peerlab
>>> s = peerlab.Scenario(cluster="dl1", nodes=8, path="peer-direct", message_bytes="64 MiB")
>>> peerlab.simulate(s)
Run(dl1, 8 nodes, peer-direct, allreduce of 64 MiB: 2.45 ms, busbw 53.9 GB/s, NIC send 96% busy)
"""

from peerlab.engine.run import simulate
from peerlab.errors import PeerlabError
from peerlab.model.hardware import Cluster
from peerlab.model.presets import known_clusters, load_cluster
from peerlab.model.registration import RegistrationCache
from peerlab.model.scenario import Scenario
from peerlab.run import Run

__version__ = "0.1.0"

__all__ = [
    "Cluster",
    "PeerlabError",
    "RegistrationCache",
    "Run",
    "Scenario",
    "known_clusters",
    "load_cluster",
    "simulate",
]
