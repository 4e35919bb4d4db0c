"""The rate of one sender under DCQCN: whole bytes a second, rounded down, and alpha in whole parts, so that two engines agree."""

from dataclasses import dataclass

from peerlab.base.units import PS_PER_S
from peerlab.engine.ports.port_scene import MarkedRates

PARTS = 1 << 10
"""A gain is given in these parts, as NICs have it (1019 and 1023 of 1024)."""
ALPHA = 1 << 20
"""Alpha is held in these: in parts of 1024 a gain of 1/256 would round its fall to a whole part, and low alphas to 0."""


@dataclass
class SenderRate:
    """Current rate, target and alpha of a flow."""

    marking: MarkedRates
    line_Bps: int  # noqa: N815
    """The rate of its link, which it never exceeds."""
    fair_Bps: int  # noqa: N815
    """Its max-min fair share of the links on its way: where it begins if the start is fair."""
    current: int = 0
    target: int = 0
    """What the current rate rises towards, half of the way each time."""
    alpha: int = ALPHA
    """How congested its way is thought to be: a notification takes half of it from the rate."""
    by_timer: int = 0
    by_bytes: int = 0
    """Rises since the last notification that the timer and the byte counter have caused."""
    bytes_left: int = 0
    """Until the byte counter next lets the rate rise."""
    counting: bool = False
    """Whether the timers run: from the first notification on, or from a fair start."""
    epoch: int = 0
    """Counts notifications; a timer of an older one is void."""

    def __post_init__(self) -> None:
        self.current = self.target = self.line_Bps
        self.bytes_left = self.marking.byte_counter
        if self.marking.start == "fair":
            self.current = self.target = self.fair_Bps
            self.alpha = ALPHA * self.marking.alpha_ppm // 10**6
            self.counting = True

    def gap_ps(self, wire: int) -> int:
        """Return the time from the start of a cell to that of the next."""
        # Rounded up: a sender never exceeds its rate. Rounded down to 0, a rate would stop its flow for ever.
        return -(-wire * PS_PER_S // max(1, self.current))

    def notified(self) -> None:
        """Take a notification: fall by alpha/2, and begin to rise anew."""
        # Before the cut: recovery climbs back to where congestion began (DCQCN: Zhu et al., SIGCOMM 2015).
        self.target = self.current
        # The cut takes the alpha of before this notification, as the paper has it.
        self.current -= self.current * self.alpha // (2 * ALPHA)
        self.alpha += self.marking.gain * (ALPHA - self.alpha) // PARTS
        self.by_timer = self.by_bytes = 0
        self.bytes_left = self.marking.byte_counter
        self.counting = True
        self.epoch += 1

    def unheard(self) -> None:
        """Let alpha fall, after a time without a notification."""
        self.alpha -= self.marking.gain * self.alpha // PARTS

    def timed(self) -> None:
        """Rise by the timer."""
        self.by_timer += 1
        self._rise()

    def sent(self, wire: int) -> bool:
        """Count bytes; return whether they made the rate rise."""
        if not self.counting:
            return False
        self.bytes_left -= wire
        if self.bytes_left > 0:
            return False
        # What a cell had beyond the counter's end counts for the next one.
        self.bytes_left += self.marking.byte_counter
        self.by_bytes += 1
        self._rise()
        return True

    def _rise(self) -> None:
        rule = self.marking
        # Both counters beyond recovery: the way is free, so steps are large. One of them: a little. None: only back to the old target.
        if min(self.by_timer, self.by_bytes) > rule.recoveries and rule.rhai_Bps:
            self.target += rule.rhai_Bps
        elif max(self.by_timer, self.by_bytes) > rule.recoveries:
            self.target += rule.rai_Bps
        self.target = min(self.target, self.line_Bps)
        self.current = min(self.line_Bps, (self.current + self.target) // 2)
