"""A halo exchange: a particle code at the end of strong scaling, where neighbours exchange faces of a few kilobytes.

Messages are simulated point to point on every path; the step around them is a formula (`peerlab.training.closed_forms.halo_step`).
Faces shrink with the domains, 15.8 KB at 8 and 3.9 KB at 64: so without started copies the gain falls, 1.026, 1.019 and 1.012 at 8, 27 and 64
domains on juliet. With the same 16 KiB at every count it would rise, as tables that leave the face out have it (1.02, 1.04, 1.05).
"""

import math
from dataclasses import dataclass
from pathlib import Path

from peerlab.base.errors import ScenarioError
from peerlab.engine.simulate import simulate
from peerlab.model.hardware import Cluster
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.training.closed_forms import halo_step


@dataclass(frozen=True, kw_only=True)
class ParticleCode:
    """What is exchanged and computed. The defaults are HOOMD's Lennard-Jones liquid of 64,000 particles."""

    particles: int = 64_000
    """In the whole box."""
    rate: float = 81.5e6
    """Particle-steps per second of one device."""
    fixed: float = 50e-6
    """What a step takes beside particles and exchange, seconds (assumed; 20 to 100 us)."""
    density: float = 0.382
    """Particles in a unit of volume, as in HOOMD's benchmark: a packing fraction of 0.2."""
    reach: float = 3.4
    """How far from a face particles are sent: cut-off and buffer, in units of length."""
    particle_bytes: int = 16
    """Bytes of a particle's position; 32 in double precision."""
    phases: int = 3
    """Exchanges one after the other, one for each direction of the box."""

    def __post_init__(self) -> None:
        """Refuse a code without particles, and one that computes nothing."""
        for name in ("particles", "rate", "density", "reach", "particle_bytes", "phases"):
            value = getattr(self, name)
            # Python counts True as 1; a code of one particle is not what was meant.
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
                raise ScenarioError(name, f"{value!r:.40} is no number above 0")
        if not 0 <= self.fixed < math.inf:
            raise ScenarioError("fixed", f"{self.fixed!r:.40} is no time in seconds")

    def face_bytes(self, domains: int) -> int:
        """Return the bytes of a face: ``density L^2 reach`` particles, where L is the edge of a domain.

        >>> ParticleCode().face_bytes(64)
        3947
        """
        # The edge of a cube that holds its share of the particles.
        edge = float((self.particles / domains / self.density) ** (1 / 3))
        return round(self.density * edge**2 * self.reach * self.particle_bytes)


@dataclass(frozen=True, kw_only=True)
class HaloStep:
    """A step on one data path."""

    path: str
    domains: int
    """Devices that share the box."""
    face_bytes: int
    message_s: float
    """How long a face takes from one device to its neighbour, simulated."""
    step_s: float
    """The whole step."""


def halo_steps(
    cluster: str | Path | Cluster, domains: int, code: ParticleCode | None = None
) -> list[HaloStep]:
    """Return the step on every data path between nodes that a cluster has, one device a node.

    Where copies must be started, ``cluster.with_figure("device.copy_start", 10)`` says how many microseconds each waits; with
    gdrcopy, below its threshold, none.

    Raises
    ------
    ScenarioError
        If there are fewer than two domains.
    HardwareError
        If there is no such cluster.

    >>> [round(step.message_s * 1e6, 1) for step in halo_steps("juliet", 8)]
    [7.5, 6.1]
    """
    if isinstance(domains, bool) or not isinstance(domains, int) or domains < 2:
        raise ScenarioError("domains", f"{domains!r:.40} is no whole number from 2 on; neighbours exchange")
    code, machine = code or ParticleCode(), cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    face, steps = code.face_bytes(domains), []
    for path in machine.paths:
        message = simulate(
            Scenario(
                cluster=machine,
                path=path,
                nodes=2,
                collective="point-to-point",
                message_bytes=face,
                # A face is one message: what a library does for collectives plays no part.
                library="none",
            )
        ).time_s
        whole = halo_step(code.particles, domains, code.rate, message, phases=code.phases, fixed=code.fixed)
        steps.append(HaloStep(path=path, domains=domains, face_bytes=face, message_s=message, step_s=whole))
    return steps
