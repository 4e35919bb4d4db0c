"""How far a law was from machines that it had not seen: a factor by which every band is wider than its figures make it.

``peerlab validate --law-errors`` derives the factors and writes ``data/law_errors.toml``: each machine of ``data/machines.toml`` is left out of
the fit in turn, its band is that of the assumed figures alone, and a measured time outside it has missed it by a factor. The factor that nine of
ten times of a further machine should not exceed (`SHARE`) widens all bands: Student's t times the root mean square of the logarithms of misses, each machine
counted once, as errors of one machine resemble each other. They are taken as normal about 0, and the next machine as one more of those that were left
out; how it came out machine by machine is in docs/validation.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import exp, hypot, log, prod
from typing import Any

from peerlab.base.data_file import read_facts
from peerlab.library.library_record import NONE, Unsolved
from peerlab.question.scenario import Scenario

SHARE = 0.9
"""Share of the measured times that a band is to hold."""
FILE = "law_errors.toml"
ANY = ""
"""Transport of the figure for which no log of its own exists."""


@dataclass(frozen=True, kw_only=True)
class LawError:
    """The error of a law, with what it was derived from."""

    times: float
    """Factor of 1 or more by which a band reaches further at both ends."""
    transport: str
    """The transport whose logs it is from, such as ``efa``; empty: those of all transports whose accuracy is promised."""
    algorithm: str = ""
    """Of this algorithm alone; empty: of all."""
    sizes: int
    """Measured times that it was derived from."""
    inside: int
    """How many of them lie inside a band whose factor is that of the other machines."""
    machines: tuple[str, ...]
    source: str
    """What derived it."""

    @property
    def share(self) -> float:
        """Share of the measured times that lay inside, each machine left out in turn."""
        return self.inside / self.sizes

    @property
    def in_words(self) -> str:
        """What a band means.

        >>> one = LawError(times=1.1, transport="efa", sizes=58, inside=53, machines=("p5", "p4d"), source="peerlab validate")
        >>> one.in_words
        '91 % of 58 times measured on 2 machines that we had left out lay inside'
        """
        return f"{100 * self.share:.0f} % of {self.sizes} times measured on {len(self.machines)} machines that we had left out lay inside"


def _read(document: dict[str, Any]) -> tuple[LawError, ...]:
    errors = tuple(LawError(**{**entry, "machines": tuple(entry["machines"])}) for entry in document["law"])
    # `law_error` ends at this row, so it has to be there
    if not any(error.transport == ANY and not error.algorithm for error in errors):
        raise ValueError("the factor of all transports")
    return errors


@cache
def law_errors() -> tuple[LawError, ...]:
    """Return the errors of ``data/law_errors.toml``."""
    return read_facts(FILE, "file of errors of laws", _read)


def law_error(scenario: Scenario) -> LawError | None:
    """Return the error of the law that answers a scenario: that of its transport, else of its algorithm, else of all.

    None where nothing is foretold of a machine: on a reference fabric, whose figures are its definition, and where topology alone was asked
    for (``library="none"``).

    >>> law_error(Scenario(cluster="ideal-100g")) is None
    True
    """
    cluster = scenario.given_cluster
    if scenario.library == NONE or (cluster.library == NONE and not cluster.assumptions):
        return None
    algorithm = scenario.choice.course.algorithm if scenario.choice else ""
    rows = {(error.transport, error.algorithm): error for error in law_errors()}
    return next(rows[key] for key in keys_of(_transport(scenario), algorithm) if key in rows)


def keys_of(transport: str, algorithm: str) -> tuple[tuple[str, str], ...]:
    """Return the transports and algorithms whose error is that of a law, the first that has one."""
    return (transport, algorithm), (transport, ""), (ANY, algorithm), (ANY, "")


def _transport(scenario: Scenario) -> str:
    """Return what carries the bytes, by the words of `Library.transport`."""
    if scenario.data_path.uses_kernel_tcp:
        return "sockets"
    library = scenario.used_library
    return library.transport if library and scenario.choice else ANY


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How much further than its figures make it a band of bus bandwidths goes, as factors on its ends."""

    low: float = 1.0
    """At most 1."""
    high: float = 1.0
    """At least 1."""
    error: LawError | None = None
    """The larger error of a law in it; None where no law foretells anything."""

    @property
    def in_words(self) -> str:
        """What a band that reaches so far means; empty where no law foretells anything."""
        return (
            f"beyond its figures the law may be {self.error.times:.2f} times off: {self.error.in_words}"
            if self.error
            else ""
        )


NO_FURTHER = Reach()
"""That of a band that no law widens."""


def reach(scenario: Scenario) -> Reach:
    """Return how far a band of a scenario goes beyond its figures: the error of its law, and what of the library is known not to be solved."""
    error = law_error(scenario)
    times = error.times if error else 1.0
    shortest, longest = takes(unsolved(scenario))
    # Bandwidths: a longer time is the lower end.
    return Reach(low=1 / (times * longest), high=times / shortest, error=error)


def reach_of_ratio(one: Scenario, over: Scenario) -> Reach:
    """Return the same for the ratio of two scenarios of one machine, `one` over the other; the errors of their laws are taken as independent.

    They are not quite: the two pairs of logs of one machine that exist say correlations of 0.1 and 0.7 (docs/validation.md), too few to
    claim any; a positive one makes this band rather too wide. What is not solved of both is the same on both.
    """
    errors = [error for error in (law_error(one), law_error(over)) if error]
    # independent factors add as the squares of their logarithms
    times = exp(hypot(*(log(error.times) for error in errors)))
    # what both do not meet moves both alike, and falls out of their ratio
    both = set(unsolved(one)) & set(unsolved(over))
    own, other = (
        takes([each for each in unsolved(scenario) if each not in both]) for scenario in (one, over)
    )
    worse = max(errors, key=lambda error: error.times, default=None)
    # A ratio of bandwidths is one of times turned over: it is lowest where this one takes its longest and the
    # other its shortest.
    return Reach(low=other[0] / own[1] / times, high=other[1] / own[0] * times, error=worse)


def unsolved(scenario: Scenario) -> tuple[Unsolved, ...]:
    """Return what the law of a scenario does not meet at its message."""
    library = scenario.used_library
    return scenario.law.unsolved(library, scenario) if library else ()


def takes(gaps: Iterable[Unsolved]) -> tuple[float, float]:
    """Return how many times as long as simulated something may take, from and to, by what is not solved of it."""
    unsolveds = list(gaps)
    # gaps are named apart and may meet in one message: then all of them hold
    return prod(each.takes[0] for each in unsolveds), prod(each.takes[1] for each in unsolveds)
