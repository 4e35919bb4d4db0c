"""The fields of a scenario that make nodes differ, or a run random: their records."""

from collections.abc import Callable, Collection, Mapping

from peerlab.model.slow_parts import FAILOVERS
from peerlab.question.field_record import CommandOption, Control, Field


# Help is asked for, not stored: elsewhere it lists names that only files tell.
def _always(text: str) -> Callable[[], str]:
    return lambda: text


def _shares(values: Collection[float]) -> tuple[tuple[str, float], ...]:
    return tuple((f"{100 * value:g} %", value) for value in values)


# Long, because it is a table: one field after another, in the order in which --help shows them.
DISTURBANCES: dict[str, Field] = {
    "slow_nodes": Field(
        # lists pass here, so that `checked_slow_nodes` can say what a mapping looks like
        types=(tuple, list, Mapping),
        option=CommandOption(
            name="--slow-node", metavar="NODE:SHARE", read="slow node",
            help=_always("a node whose NICs have this share of their rate, such as 4:0.5"),
        ),
        control=Control(
            label="Slow node", name="slow", group="trouble", place=13, options=lambda: (("none", 1.0),), tip="A node whose NICs are slower, both ways",
        ),
    ),
    "slow_nics": Field(
        types=(tuple, list, Mapping),
        option=CommandOption(
            name="--slow-nic", metavar="NODE.NIC:SHARE", read="slow part",
            help=_always("a NIC that has this share of its rate, such as 4.1:0.5; 4.1:0 is lost"),
        ),
    ),
    "failover": Field(
        words=FAILOVERS, rests=lambda s: not s.slow_nics,
        option=CommandOption(needs=("slow_nics",), help=lambda: f"who does what a lost NIC did: {', '.join(FAILOVERS)} (default: neighbour)"),
    ),
    "slow_links": Field(
        types=(tuple, list, Mapping),
        option=CommandOption(
            name="--slow-link", metavar="FROM>TO:SHARE", read="slow part",
            help=_always("a link between two nodes that has this share of its rate, such as 3>4:0.5"),
        ),
    ),
    "jitter": Field(
        option=CommandOption(
            read="fraction", metavar="SIGMA", help=_always("random service times: sigma of a factor of mean 1, such as 0.1"),
        ),
        control=Control(
            label="Jitter", name="jitter", group="trouble", place=12, options=lambda: (("0 %", 0.0),), tip="How much every service time varies at random (sigma of a lognormal factor of mean 1)",
        ),
    ),
    "spread": Field(
        option=CommandOption(
            read="fraction", metavar="SIGMA", help=_always("nodes that differ for a whole run: sigma of a factor for each, such as 0.1"),
        ),
        control=Control(
            label="Spread of nodes", name="spread", group="trouble", place=12.1, options=lambda: _shares((0.0, 0.05, 0.1, 0.2)),
            tip="How much nodes differ from each other for a whole run (sigma of a lognormal factor of median 1)",
        ),
    ),
    "detours": Field(
        option=CommandOption(
            read="fraction", metavar="SHARE", help=_always("slices held up at a stage, seldom and long: how likely each is, such as 1e-5"),
        ),
        control=Control(
            label="Rare delays", name="detours", group="trouble", place=12.2, options=lambda: tuple((f"{p:g}" if p else "none", p) for p in (0.0, 1e-6, 1e-5, 1e-4)),
            tip="How likely a slice is held up at a stage, for long",
        ),
    ),
    "detour_us": Field(
        rests=lambda s: not s.detours, follows="detours",
        option=CommandOption(needs=("detours",), read="fraction", metavar="US", help=_always("shortest detour in microseconds (default: as assumed, 100)")),
    ),
    "detour_tail": Field(
        rests=lambda s: not s.detours, follows="detours",
        option=CommandOption(needs=("detours",), read="fraction", metavar="A", help=_always("exponent of the Pareto tail of a detour (default: as assumed, 1.5)")),
    ),
    "ticks": Field(
        option=CommandOption(
            read="fraction", metavar="RATE", help=_always("how often a second every node stands still for a moment, such as 1000"),
        ),
        control=Control(
            label="Kernel ticks", name="ticks", group="trouble", place=12.3, options=lambda: (("none", 0.0), ("1000 a second", 1000.0), ("10 a second", 10.0)),
            tip="How often every node stands still for a moment, as a kernel that wakes does",
        ),
    ),
    "tick_us": Field(
        rests=lambda s: not s.ticks, follows="ticks",
        option=CommandOption(needs=("ticks",), read="fraction", metavar="US", help=_always("how long, in microseconds (default: as assumed, 25)")),
    ),
    "seed": Field(
        whole=(0, 2**63 - 1), never_none=True, rests=lambda s: not s.noise and s.placement != "shuffled",
        option=CommandOption(needs=("jitter", "spread", "detours", "ticks", "placement"), read="number", help=_always("seed of all noise and of a shuffled placement (default: 0)")),
        control=Control(
            label="Seed", name="seed", group="trouble", place=14, empty="0", usual=0, number="whole", tip="Seed of all noise and of a shuffled placement",
        ),
    ),
}  # fmt: skip
"""By name."""
