"""Closed forms of a network with neighbours, which simulated scenes are held against.

C: rate of a host, as bytes on the wire a second; g: goodput; n: senders; N: nodes; T: the trunk in units of C.
"""

# Numbers F1 to F13 are those of docs/model.md. F12 is the fixed point of DCQCN's own equations; F13 the approximation of its
# authors, which the exact one shows to be too large.

from collections.abc import Callable
from math import comb, exp, expm1, log1p

_MOST_EXPONENT = 700.0
"""Of what a float holds; beyond it a rise never comes."""


def goodput(mtu: int, header: int) -> float:
    """F1: return the share of a full packet that is payload."""
    return mtu / (mtu + header)


def ring_s(nodes: int, latency_s: float, nbytes: float, rate: float, share: float = 1.0) -> float:
    """F2, F7: return the seconds of a blocking ring; `share` is what its slowest link has of C: 1/n beside n senders."""
    return 2 * (nodes - 1) * (latency_s + nbytes / (nodes * rate * share))


def incast_s(senders: int, nbytes: float, rate: float, latency_s: float) -> float:
    """F3: return the seconds until the last byte of n senders has arrived, where nothing is lost; `rate` is C g."""
    return senders * nbytes / rate + latency_s


def xon_bytes(rate: float, hop_s: float, reaction_s: float) -> float:
    """F3: return the least XON at which a receiver never idles."""
    return rate * (2 * hop_s + reaction_s)


def victim_one_class(senders: int, trunk: float) -> float:
    """F4: return the victim's share of C, in one class or lane, with pauses or credits.

    >>> victim_one_class(4, 2.0), round(victim_one_class(4, 1.0), 3)
    (0.25, 0.2)
    """
    return 1 / senders if trunk >= 1 + 1 / senders else trunk / (senders + 1)


def victim_own_class(trunk: float) -> tuple[float, float]:
    """F5: return the shares of victim and receiver, where the victim has a class or lane of its own, served in turn.

    >>> victim_own_class(1.5), victim_own_class(2.0)
    ((0.75, 0.75), (1.0, 1.0))
    """
    victim = min(1.0, max(trunk / 2, trunk - 1))
    return victim, min(1.0, trunk - victim)


def victim_flow_fair(senders: int, trunk: float) -> float:
    """F5b: return the victim's share where every flow gets its max-min share."""
    if trunk / (senders + 1) < 1 / senders:
        return trunk / (senders + 1)
    return min(1.0, trunk - 1)


def victim_lossy(senders: int, trunk: float) -> float:
    """F6: return the share of the victim's bytes that arrive, where nobody slows down and the queue loses what it cannot hold."""
    return min(1.0, trunk / (senders + 1))


def credit_rate(credits_bytes: float, rate: float, hop_s: float, processing_s: float, cell: float, packet: float) -> float:  # fmt: skip
    """F8: return the share of C that credits allow: a cell leaves, flies, is cut through after a packet, leaves again, and its credit returns."""
    loop = 2 * hop_s + processing_s + (cell + packet) / rate
    return min(1.0, credits_bytes / (rate * loop))


def headroom_bytes(rate: float, hop_s: float, reaction_s: float, cell: float) -> float:
    """F9: return the headroom that loses nothing: what flies, and a cell at each side."""
    return rate * (2 * hop_s + reaction_s) + 2 * cell


def go_back_n(loss: float, window: float) -> float:
    """F10: return the goodput of going back by `window` packets, (round trip + recovery) C / packet, for each lost one.

    >>> round(go_back_n(1e-3, 1500), 4)
    0.3996
    """
    return (1 - loss) / (1 + loss * window)


def selective(loss: float) -> float:
    """F11: return the goodput where only lost packets are sent again."""
    return 1 - loss


def go_back_0(loss: float, packets: int) -> float:
    """F11: return the goodput where a message of so many packets begins anew at each loss, drawn at random.

    >>> f"{go_back_0(1 / 256, 4096):.1e}"
    '1.7e-06'
    """
    whole: float = (1 - loss) ** packets
    return packets * loss * whole / (1 - whole)


def ecmp(flows: int, paths: int) -> tuple[float, float]:
    """F15: return the mean load of the fullest of equal paths over an even one, and the chance that no two flows share a path.

    >>> ecmp(4, 4)
    (2.125, 0.09375)
    """
    fullest = [_at_most(flows, paths, most) / paths**flows for most in range(flows + 1)]
    mean = sum(most * (fullest[most] - fullest[most - 1]) for most in range(1, flows + 1))
    apart = 1.0
    for taken in range(flows):
        apart *= max(0, paths - taken) / paths
    return mean / max(flows / paths, 1.0), apart


def _at_most(flows: int, paths: int, most: int) -> int:
    """Return in how many ways flows choose paths so that none has more than `most`."""
    ways = [1] + [0] * flows
    for _ in range(paths):
        ways = [sum(ways[n - k] * comb(n, k) for k in range(min(most, n) + 1)) for n in range(flows + 1)]
    return ways[flows]


def dcqcn(flows: int, rate: float, *, packet_bits: float = 8000, rai: float = 40e6, counter: float = 8e7, timer: float = 55e-6, cnp: float = 50e-6, alpha: float = 55e-6, recoveries: int = 5) -> float:  # fmt: skip
    """F12: return the share of packets marked at the fixed point of DCQCN's equations; rates in bit/s, `counter` in bits, times in seconds."""
    share = rate / flows / packet_bits
    rise, counted = rai / packet_bits, counter / packet_bits

    def excess(p: float) -> float:
        kept = log1p(-p)
        cut, level = -expm1(cnp * share * kept), -expm1(alpha * share * kept)
        by_bytes, by_timer = _rises(p, counted), _rises(p, timer * share)
        beyond = by_bytes * exp(recoveries * counted * kept) + by_timer * exp(
            recoveries * timer * share * kept
        )
        return cut * cut * level - cnp**2 * rise * share * (by_bytes + by_timer) * beyond

    return _zero(excess, 1e-9, 0.5)


def dcqcn_queue(marked: float, kmin: float, kmax: float, pmax: float) -> float:
    """F12: return the queue at which so many packets are marked, in the unit of the thresholds; infinite beyond the ramp."""
    return kmin + marked * (kmax - kmin) / pmax if marked < pmax else float("inf")


def dcqcn_paper(flows: int, rate: float, *, packet_bits: float = 8000, rai: float = 40e6, counter: float = 8e7, timer: float = 55e-6, alpha: float = 55e-6) -> float:  # fmt: skip
    """F13: return what the approximation of DCQCN's authors says of the same."""
    capacity = rate / packet_bits
    inner = packet_bits / counter + flows / (timer * capacity)
    result: float = (rai / packet_bits * flows**2 / (alpha * capacity**2) * inner**2) ** (1 / 3)
    return result


def dcqcn_slope(rai: float, timer_s: float) -> float:
    """F13b: return by how much the rate of a flow rises a second, once its recoveries are over."""
    return rai / timer_s


def _rises(p: float, packets: float) -> float:
    """Return the share of packets at which a rate rises, where it does after so many without a mark."""
    exponent = -packets * log1p(-p)
    return p / expm1(exponent) if exponent < _MOST_EXPONENT else 0.0


def _zero(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return where a growing function is zero, by halving."""
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return low
