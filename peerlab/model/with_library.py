"""What of a scenario the communication library decides: a part of `Scenario`, in a module of its own."""

from functools import cached_property
from pathlib import Path

from peerlab.errors import HardwareError, ScenarioError
from peerlab.model.algorithms import Algorithm, algorithm_of
from peerlab.model.collective import Collective, collective_of
from peerlab.model.effective_machine import Change, Changes
from peerlab.model.further_hops import UP_AND_DOWN, check_flight
from peerlab.model.hardware import Cluster
from peerlab.model.library_choice import LibraryChoice, checked_protocol, nccl_choice, sight
from peerlab.model.library_files import serving, with_library
from peerlab.model.library_fit import misfit_of
from peerlab.model.library_record import Library, LibraryKind, LibraryWords
from peerlab.model.paths import data_path, uses_nic
from peerlab.model.paths import stages as path_stages
from peerlab.model.presets import load_cluster
from peerlab.model.rewiring import rewired
from peerlab.model.striping import striping
from peerlab.model.with_transport import WithTransport
from peerlab.units import say_bytes

LIBRARY_FIGURES = (
    "library",
    "algorithm",
    "protocol",
    "chunk_bytes",
    "library_does",
    "transport",
    "mtu_bytes",
    "goodput",
)
"""Keys of `WithLibrary.library_figures`."""


class WithLibrary(WithTransport):
    """The library's part of a scenario; fields are those of `Scenario`."""

    cluster: str | Path | Cluster
    nodes: int
    path: str | None
    collective: str
    algorithm: str
    library: str | Path | Library | None
    wiring: str
    acs_redirect: str
    library_version: str | None
    protocol: str
    message_bytes: int | str
    slice_bytes: int | str | None

    @cached_property
    def given_cluster(self) -> Cluster:
        """The cluster as it was given."""
        return self.cluster if isinstance(self.cluster, Cluster) else load_cluster(self.cluster)

    @cached_property
    def used_library(self) -> Library | None:
        """The communication library that serves the path; None: topology alone, as where no NIC sends."""
        if self.why_unserved:
            return None
        return serving(self.given_cluster.library if self.library is None else self.library, str(self.path))

    @property
    def law(self) -> LibraryKind | None:
        """The law that says what the library adds to this collective; None where none does."""
        library = self.used_library
        return library.kind_record if library and self.collective in library.kind_record.collectives else None

    @cached_property
    def hardware(self) -> Cluster:
        """The cluster, loaded, wired as asked for, with the figures of library and transport that serve the path."""
        return self.written[-1]

    @cached_property
    def written(self) -> tuple[Cluster, ...]:
        """The cluster as given, wired, with its library's figures, with its transport's."""
        served = with_library(self._wired, self.used_library)
        return self.given_cluster, self._wired, served, self.on_transport(served)

    @cached_property
    def _wired(self) -> Cluster:
        if self.wiring == self.acs_redirect == "auto":
            return self.given_cluster
        nic = None if self.wiring == "auto" else self.wiring
        redirect = None if self.acs_redirect == "auto" else self.acs_redirect == "on"
        return rewired(self.given_cluster, nic, redirect)

    def check_wiring(self) -> None:
        """Refuse a wiring that cannot be simulated.

        Raises
        ------
        ScenarioError
            If nothing is known of the cluster's PCIe.
        """
        try:
            _ = self._wired
        except HardwareError as problem:
            raise ScenarioError("wiring", f"{problem}; leave it at 'auto'") from None

    @cached_property
    def library_number(self) -> int:
        """The library's version as a number, such as 219; 0 without a library."""
        library = self.used_library
        if library is None:
            return 0
        own = self.given_cluster.library_version if self.library is None else ""
        return library.number(self.library_version or own or library.version)

    @property
    def _chooses(self) -> bool:
        """Whether the library chooses algorithm and protocol for the message."""
        return self.law is not None and self.law.chooses and self.nodes > 1

    @cached_property
    def choice(self) -> LibraryChoice | None:
        """What NCCL does with this message between nodes; None where another law, or none, holds."""
        library = self.used_library
        if not library or not self._chooses:
            return None
        seen = sight(library, self.hardware, self.nodes, str(self.path), self.library_number)
        return nccl_choice(
            library,
            self.hardware,
            seen,
            int(self.message_bytes),
            algorithm=self.algorithm,
            protocol=self.protocol,
        )

    @property
    def sums_between(self) -> bool:
        """Whether switches between the nodes add up."""
        return self.algorithm_record.in_network and self.nodes > 1

    def changes_for_message(self) -> Changes:
        """Return what striping, library, transport and algorithm do to figures for this message."""
        machine, choice = self.hardware, self.choice
        by = f"library {self.used_library.title}" if self.used_library else "no library"
        if choice:
            own = choice.changes(by)
        elif self.law and self.law.schedule:
            own = {"latency_ps": self.own_flight()}
            if hop := machine.hop_ps:
                why, key = "what a hop takes more", ("library.hop",)
                own["latency_ps"].append(Change(how="plus", amount=hop, by=by, why=why, figures=key))
        else:
            own = {"latency_ps": self.asked_flight()}
            if machine.message_ps:
                own["message_ps"] = [Change(how="is", amount=0, by=by, why=self._why_free)]
        if not (machine.leaves_latency and own["latency_ps"] == self.asked_flight()):
            own["latency_ps"] += self.further_flight()
        if self.sums_between:
            why = "up to switches that add up, and down from them"
            own["latency_ps"].append(Change(how="times", amount=UP_AND_DOWN, by="the algorithm", why=why))
        stripes = striping(machine)
        return {
            field: (*stripes.get(field, ()), *own.get(field, ())) for field in dict.fromkeys((*stripes, *own))
        }

    @property
    def _why_free(self) -> str:
        """Why what a message costs the library's thread is no slice's."""
        if self.law and self.collective_record.exchanges:
            return "all messages are dealt with before the first leaves, so no slice waits for it"
        return "it is not modelled for this collective"

    @cached_property
    def collective_record(self) -> Collective:
        """What is known of the collective."""
        return collective_of(self.collective)

    @cached_property
    def algorithm_record(self) -> Algorithm:
        """What is known of the algorithm, ``auto`` resolved."""
        return algorithm_of(self.algorithm, self.collective)

    @cached_property
    def uses_nic(self) -> bool:
        """Whether slices go through the NICs, and not by the devices' own ports or another way."""
        return uses_nic(self.given_cluster, str(self.path))

    @property
    def is_wired(self) -> bool:
        """Whether it matters where the NICs hang: slices go through them, and what lies between NIC and memory is simulated."""
        return self.uses_nic and not data_path(str(self.path)).is_bare

    @property
    def why_unserved(self) -> str:
        """Why no library can serve the path, after *because*; empty where one can."""
        if data_path(str(self.path)).is_bare:
            return "it is nothing but a rate and a latency"
        return "" if self.uses_nic else "nothing leaves by a NIC"

    @property
    def library_says(self) -> str:
        """What the library does with this message, in words; empty without a library, and on a path that it does not serve."""
        return str(self.library_words)

    @cached_property
    def library_words(self) -> LibraryWords:
        """The same in parts."""
        library, choice = self.used_library, self.choice
        if choice:
            if self.slice_bytes == "auto":
                return LibraryWords(who=choice.library, does=choice.does, chunk=choice.chunk)
            size = self.slice_bytes
            cut = "transfers whole" if size is None else f"slices of {say_bytes(int(size))}, as set"
            return LibraryWords(who=choice.library, does=(*choice.does, cut))
        if library is None:
            return LibraryWords()
        if self.algorithm_record.in_network:
            return LibraryWords(alone="a what-if", because=f"{library.title} has no {self.algorithm!r}")
        if not self._library_knows:
            return LibraryWords(
                alone="topology alone", because=f"what {library.title} adds to it is not modelled"
            )
        how = self.schedule_name
        if self.collective_record.exchanges:
            how = "pairwise" if self.algorithm_record.blocks_alltoall else "direct exchange"
        version = f"{self.library_number // 100}.{self.library_number % 100}"
        return LibraryWords(
            who=f"{library.title} {version}", does=(how,) if library.kind_record.schedule else ()
        )

    @property
    def library_figures(self) -> dict[str, str | float | None]:
        """What library and transport were used, ``auto`` resolved, by `LIBRARY_FIGURES`; None where there is no such thing."""
        course = self.choice.course if self.choice else None
        sends = self.nodes > 1 and not self.collective_record.is_message
        cut = course.chunk if course and self.slice_bytes == "auto" else self.slice_bytes
        values = (
            self.hardware.library,
            course.algorithm if course else self.schedule_name if sends else None,
            course.protocol if course else None,
            cut if course else None,
            self.library_says or None,
            *self.transport_figures,
        )
        return dict(zip(LIBRARY_FIGURES, values, strict=True))

    @property
    def library_misfit(self) -> str:
        """Why no such machine has the library that was given, or why it does nothing, as a sentence; empty if one may."""
        if self.library is None:
            return ""
        given = serving(self.library, str(self.path))
        if given and self.why_unserved:
            return f"{given.title} serves no {self.path!r}, because {self.why_unserved}."
        return misfit_of(given, self.given_cluster)

    @property
    def library_unsolved(self) -> tuple[str, ...]:
        """What the library's law does not meet at this message, as sentences."""
        library, choice = self.used_library, self.choice
        if library is None or not self._library_knows:
            return ()
        algorithm = choice.course.algorithm if choice else ""
        size = int(self.message_bytes)
        return tuple(
            one.says for one in library.unsolved if one.concerns(self.nodes, size, algorithm, self.collective)
        )

    @property
    def _library_knows(self) -> bool:
        """Whether a law says what the library adds to the collective, with this many nodes."""
        return bool(self.choice) or (self.law is not None and not self.law.chooses)

    @property
    def schedule_name(self) -> str:
        """What each rail does between the nodes: key of `peerlab.collectives.choose.SCHEDULES`."""
        if self.choice:
            return "chain"
        if self.collective_record.exchanges:
            return "direct"
        by_law = self.law.schedule if self.law and self.algorithm == "auto" else ""
        return by_law or self.algorithm_record.schedule

    @property
    def _in_messages(self) -> bool:
        """Whether a library cuts a transfer into its own slices, and no finer."""
        return self.law is not None and bool(self.law.schedule)

    def check_library(self) -> None:
        """Refuse a version or a protocol that there is not.

        Raises
        ------
        ScenarioError
            With the field, and what is allowed.
        """
        if self.library is not None:
            serving(self.library, str(self.path))  # a name that there is not is wrong where no NIC sends, too
        library = self.used_library
        if library is None:
            for name in ("library_version", "protocol"):
                if getattr(self, name) not in (None, "auto"):
                    none = f"no library serves {self.path!r}, because {self.why_unserved}; leave it out"
                    one = "there is no library to have it; name one, such as library='nccl-efa'"
                    raise ScenarioError(name, none if self.why_unserved else one)
            return
        version = self.library_number
        if self._chooses:
            check_flight(library.title, str(self.path), path_stages(self.given_cluster, str(self.path)))
        if self.protocol == "auto":
            return
        if not library.kind_record.chooses:
            raise ScenarioError("protocol", f"{library.title} has no protocols; leave it at 'auto'")
        if not self._chooses:
            raise ScenarioError(
                "protocol", "is modelled for an allreduce between nodes only; leave it at 'auto'"
            )
        checked_protocol(
            library, self.protocol, sight(library, self.hardware, self.nodes, str(self.path), version)
        )
