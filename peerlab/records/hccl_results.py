"""What hccl_demo measured, however it was printed: its terms turned into those of the records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.collectives.busbw import bus_factor
from peerlab.model.collective import collective_of
from peerlab.records.figures import Printed, contradiction, count_contradiction
from peerlab.records.notes import Damage
from peerlab.records.ranks import Range, factors_of, rank_range, say_ranks


@dataclass(frozen=True)
class HcclResult:
    """What hccl_demo measured at one size, as it was printed."""

    place: int
    """Its line."""
    collective: str
    size: int
    """Bytes; of an allgather one rank's share."""
    count: int | None
    dtype: str
    op: str = ""
    rank: int | None = None
    figures: Mapping[str, Printed] = field(default_factory=dict)
    """``algo`` and ``bus`` in GB/s, ``time``, ``host`` and ``device`` in seconds."""

    @property
    def of_shares(self) -> bool:
        """Whether its size is one rank's share, so that busbw / algbw is n - 1."""
        return collective_of(self.collective).gathers

    @property
    def ranks(self) -> Range | None:
        """The numbers of ranks that its two bandwidths leave open; None where they say none."""
        algo, bus = self.figures.get("algo"), self.figures.get("bus")
        return rank_range(self.collective, algo, bus, of_shares=self.of_shares) if algo and bus else None


def doubt(result: HcclResult, ranks: Range, damage: Damage) -> None:
    """Doubt a result whose figures contradict one another."""
    algo, bus, time = (result.figures.get(name) for name in ("algo", "bus", "time"))
    damage.doubt(result.place, count_contradiction(result.size, result.count, result.dtype))
    factors = factors_of(result.collective, ranks, of_shares=result.of_shares)
    whose = say_ranks(result.collective, ranks)
    # the unit of a time is wrong by 1000 in some versions: that is known, and no sign of damage
    units = [time.times(unit) for unit in (1, 1e-3, 1e3)] if time else [None]
    sentences = [contradiction(result.size, unit, algo, bus, factors=factors, whose=whose) for unit in units]
    damage.doubt(result.place, sentences[0] if all(sentences) else "")


def rows_of(result: HcclResult, ranks: int | None) -> Iterator[dict[str, Any]]:
    """Yield a result as rows of records: one for each latency, or one for the bandwidths.

    The time is size over algorithm bandwidth wherever there is one: some versions print another, in a wrong unit.

    Raises
    ------
    RecordsError
        If it is an allgather and nobody knows of how many ranks: its size is one rank's share.
    """
    shares = ranks if result.of_shares else 1
    if shares is None:
        raise RecordsError(
            "an allgather's size is one rank's share: the log does not say how many ranks there are"
        )
    figures = {name: figure.value for name, figure in result.figures.items()}
    row = {
        "collective": result.collective,
        "size_bytes": result.size * shares,
        "dtype": result.dtype,
        "op": result.op,
        "rank": result.rank,
    }
    for name in ("host", "device"):
        if name in figures:
            yield row | {"variant": f"{name} latency", "time_s": figures[name]}
    algo, bus = figures.get("algo"), figures.get("bus")
    # Only a bus bandwidth was printed: the collective's factor leads back to the other.
    if algo is None and bus is not None and ranks and (factor := bus_factor(result.collective, ranks)):
        algo = bus / factor / shares
    if algo or bus:
        yield row | {
            "variant": "",
            # Size and bandwidth are both of one rank's share here, so the time is that of all.
            "time_s": result.size / (algo * 1e9) if algo else figures.get("time"),
            "algbw_GBps": algo * shares if algo else None,
            "busbw_GBps": bus,
        }
