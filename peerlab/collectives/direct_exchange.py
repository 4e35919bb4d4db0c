"""All-to-all: every rank sends each other rank a part of its own buffer, and nothing is passed on."""

# An all-to-all goes round the nodes, and at each round its devices. Round a switch's devices first, then
# round the switches: so in every step all devices below one PCIe switch send to those below one other, each
# switch does what every switch does, and one stands for all. Its messages are not cut into eight as a
# ring's transfers are, because they overlap each other. What a rank sends and what it receives have
# positions of their own, so no slice waits for another. Between buffers in host memory the exchange inside
# a node is a core's copy, not a scale-up link; the same core's work for TCP is not counted together with
# it. A message costs its process nothing of its own, so small messages are too fast. Arrays run rings
# only; the compiled loop takes an all-to-all whose nodes have one device.

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DirectExchange:
    """The transfers between nodes of an all-to-all, in which each rank sends every other one `chunk_bytes`.

    Steps go round the nodes, and at each node round its devices: in step s a device sends to the node ``s // devices + 1`` further on,
    at turn ``s % devices`` of its devices (`Plan.further`). So in every step each device sends one transfer and receives one.

    What arrives lies in a buffer of its own: positions up to the number of ranks are the receive buffer, those behind it what a rank sends.
    """

    ranks: int
    """Nodes, 1 or more; one alone has no steps."""
    chunk_bytes: int
    """Bytes that a rank sends another one."""
    devices: int = 1
    """Devices of a node."""
    symmetric: bool = True
    """All ranks do the same."""
    reducing_steps: int = 0
    """None: nothing is added up."""

    @property
    def steps(self) -> int:
        """One for each device of the other nodes."""
        return (self.ranks - 1) * self.devices

    @property
    def transfers(self) -> int:
        """One of each rank in each step."""
        return self.steps * self.ranks

    @property
    def is_ring(self) -> bool:
        """No."""
        return False

    @property
    def chunks(self) -> int:
        """One for each rank."""
        return self.ranks * self.devices

    def to(self, rank: int, step: int) -> int:
        """Return the node so much further on."""
        return (rank + step // self.devices + 1) % self.ranks

    def source(self, rank: int, step: int) -> int:
        """Return the node so much before."""
        return (rank - step // self.devices - 1) % self.ranks

    def turn(self, step: int) -> int:
        """Return which turn round the devices of the node it is."""
        return step % self.devices

    def sends(self, step: int) -> range:
        """Return the part of the send buffer that is for the partner."""
        # behind the receive buffer; the first `devices` parts are for the own node, which no step serves
        at = self.chunks + self.devices + step
        return range(at, at + 1)

    def receives(self, step: int) -> range:
        """Return the part of the receive buffer for the one who sends."""
        return range(self.devices + step, self.devices + step + 1)

    def chunk(self, rank: int, position: int) -> int:
        """Return the chunk of the first device of a node: of what it sends, then (from the number of ranks on) of what it receives.

        Sent chunks have the receiver's number, received ones the sender's.
        """
        away, turn = divmod(position % self.chunks, self.devices)
        if position >= self.chunks:
            return (rank + away) % self.ranks * self.devices + turn
        return self.chunks + (rank - away) % self.ranks * self.devices + -turn % self.devices

    def owned(self, rank: int) -> range:  # noqa: ARG002  (the same on every rank)
        """Return nothing: no sums are made."""
        return range(0)
