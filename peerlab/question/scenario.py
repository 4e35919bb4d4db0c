"""The question, and what follows from it: which machine, which path, how much, how often."""

# A scenario is composed. Its fields are `Settings`, each read by its own record. Its transport is a
# `Network`, which knows no scenario. Its library is asked through a law, and all laws are asked in the same
# words, so nobody compares kinds of libraries. The names by which users ask a scenario (`library_says`,
# `used_transport`) stay on it and pass the question on. Which library serves a path is data (`instead` in
# its file), no method of a law: no law has a reason to say it otherwise.

from dataclasses import dataclass
from functools import cached_property

from peerlab.base.errors import ScenarioError
from peerlab.library.further_hops import UP_AND_DOWN, with_hops
from peerlab.library.library_choice import LibraryChoice
from peerlab.library.library_files import known_by_name, serving, with_library
from peerlab.library.library_law import LibraryLaw
from peerlab.library.library_laws import ALONE, laws_of
from peerlab.library.library_record import Library
from peerlab.library.library_words import LibraryWords, figures_of, words_of
from peerlab.model.algorithms import Algorithm, algorithm_of
from peerlab.model.collective import Collective, collective_of
from peerlab.model.disturbance import checked_disturbance
from peerlab.model.effective_machine import EffectiveMachine, changed
from peerlab.model.fabrics import Fabric, fabric_of
from peerlab.model.hardware import Cluster
from peerlab.model.nic_network import Network
from peerlab.model.noise import Noise, noise_of
from peerlab.model.paths import DataPath, data_path, stages, uses_nic
from peerlab.model.registration import RegistrationCost
from peerlab.model.rewiring import as_asked
from peerlab.model.stages import Stage
from peerlab.model.transport_record import TransportRecord, goodput
from peerlab.question.domains import DomainSettings, joined
from peerlab.question.library_fit import misfit_of_asked
from peerlab.question.placement import checked_placement, hosts
from peerlab.question.question_changes import changes_of
from peerlab.question.shape_checks import check_library, check_shape, checked_path

_LEAST_SLICES = 8
"""Slices that a transfer is cut into at least, where a cluster's file does not say it (assumed; 2 to 16)."""
_SMALLEST_SLICE = 2048
"""Bytes below which a library cuts no slice, if nobody sets its size (assumed): slices of 8 bytes would fill a window with nothing."""


@dataclass(frozen=True, kw_only=True)
class Scenario(DomainSettings):
    """One question to the simulation. Fields are checked at construction; :meth:`with_` changes some.

    Raises
    ------
    ScenarioError, HardwareError
        One line that names the field, its value, what is allowed and the nearest known name.

    >>> Scenario(cluster="dl1", nodes=8, path="peer-direct", message_bytes="64 MiB").message_bytes
    67108864
    """

    def __post_init__(self) -> None:
        # In this order: a check may ask what those before it made sure of, and what it asked stays cached.
        super().__post_init__()
        # a library given loaded is the same question as its name, and has the same key in caches
        self._set("library", known_by_name(self.library))
        self._set("path", checked_path(self.path, self.given_cluster))
        _ = self._wired  # which refuses a wiring where nothing is known of the cluster's PCIe
        self.network.check()
        self.check_domains()
        check_library(self)
        check_shape(self)
        self._set("placement", checked_placement(self.placement, self.nodes))
        for name, value in checked_disturbance(self).items():
            self._set(name, value)
        _ = self.noise  # which refuses ticks that leave no time to work

    # ---- the records of what was asked -----------------------------------------------------------------------------

    @cached_property
    def collective_record(self) -> Collective:
        """What is known of the collective."""
        return collective_of(self.collective)

    @cached_property
    def algorithm_record(self) -> Algorithm:
        """What is known of the algorithm, ``auto`` resolved."""
        return algorithm_of(self.algorithm, self.collective)

    @property
    def data_path(self) -> DataPath:
        """What is known of the path."""
        return data_path(str(self.path))

    @property
    def only_sends(self) -> bool:
        """Whether it is sends and receives and nothing else: a message, or an all-to-all."""
        return self.collective_record.only_sends

    @property
    def sums_between(self) -> bool:
        """Whether switches between the nodes add up."""
        return self.algorithm_record.in_network and self.domains > 1

    @cached_property
    def sums_inside(self) -> bool:
        """Whether the switch inside a node adds up: the algorithm asks for it, or the library chooses it."""
        return self.algorithm_record.in_node_switch or self.law.sums_inside(self)

    @property
    def nbytes(self) -> int:
        """`message_bytes` as a number, whatever it was given as."""
        return int(self.message_bytes)

    @property
    def ranks(self) -> int:
        """Ranks that take part: one per device, or two for point to point."""
        # `hardware.devices` are those of a domain, which stands for a node: so domains, not nodes
        return 2 if self.collective_record.is_message else self.domains * self.hardware.devices

    # ---- the machine -----------------------------------------------------------------------------------------------

    @cached_property
    def _wired(self) -> Cluster:
        return as_asked(self.given_cluster, self.wiring, self.acs_redirect)

    @cached_property
    def written(self) -> tuple[Cluster, ...]:
        """The cluster as given, wired, with a domain for a node, with its library's figures, with its transport's."""
        # The order is that of the history (`EffectiveMachine.history`): who comes later has the last word.
        domain = joined(self._wired, self.nodes_per_domain)
        served = with_library(domain, self.used_library, self.library_number)
        return self.given_cluster, self._wired, domain, served, self.network.joined(served)

    @cached_property
    def hardware(self) -> Cluster:
        """The cluster, loaded, wired as asked for, with the figures of library and transport that serve the path."""
        return self.written[-1]

    @cached_property
    def effective_machine(self) -> EffectiveMachine:
        """Every figure as this question meets it, and how it came about."""
        changes = changes_of(self)
        cluster = changed(self.hardware, changes)
        return EffectiveMachine(written=self.written, changes=changes, cluster=cluster)

    @property
    def cluster_for_message(self) -> Cluster:
        """The cluster as this message meets it: what a NIC carries, latency of a hop and cost of a message are the library's.

        Hops and metres beyond those of the transport are added to the latency; up to switches that add up and down from them it is twice that.
        """
        return self.effective_machine.cluster

    @property
    def hop_latency_ps(self) -> int:
        """From a sender's last byte to its arrival over one hop, picoseconds: at the other node, or at the switch that adds up."""
        latency = self.cluster_for_message.latency_ps
        # even: it was multiplied by two (`question_changes`)
        return latency // UP_AND_DOWN if self.sums_between else latency

    @cached_property
    def uses_nic(self) -> bool:
        """Whether slices go through the NICs, and not by the devices' own ports or another way."""
        return uses_nic(self.given_cluster, str(self.path))

    @property
    def is_wired(self) -> bool:
        """Whether it matters where the NICs hang: slices go through them, and what lies between NIC and memory is simulated."""
        return self.uses_nic and not self.data_path.is_bare

    # ---- its transport ---------------------------------------------------------------------------------------------

    @cached_property
    def network(self) -> Network:
        """What the NICs speak, and the way from one to another."""
        return Network(
            cluster=self.given_cluster,
            path=str(self.path),
            uses_nic=self.uses_nic,
            transport=self.transport,
            mtu=None if self.mtu is None else int(self.mtu),
            hops=self.hops,
            metres=self.metres,
        )

    @property
    def used_transport(self) -> TransportRecord | None:
        """The transport that serves the path; None: its headers are not counted, as where nobody names one."""
        return self.network.used

    @property
    def fitting_transports(self) -> tuple[str, ...]:
        """Names of the transports that cluster and path can have; none where nothing leaves by a NIC."""
        return self.network.fitting

    @property
    def goodput(self) -> float:
        """The share of a full packet on the wire that is payload, 0 to 1; 1 without a transport."""
        return goodput(self.hardware)

    @property
    def transport_figures(self) -> tuple[str | None, int | None, float | None]:
        """Name of the transport that was used, its packets in bytes, and its goodput; None where headers are not counted."""
        return self.network.figures(self.hardware)

    @property
    def transport_says(self) -> str:
        """What the transport is, in words, such as ``RoCE v2, packets of 1024 bytes, 3 switches, 40 m``; empty without one."""
        return self.network.words(self.hardware)

    # ---- its library -----------------------------------------------------------------------------------------------

    @property
    def why_unserved(self) -> str:
        """Why no library can serve the path, after *because*; empty where one can."""
        if self.data_path.is_bare:
            return "it is nothing but a rate and a latency"
        return "" if self.uses_nic else "nothing leaves by a NIC"

    @cached_property
    def used_library(self) -> Library | None:
        """The communication library that serves the path; None: topology alone, as where no NIC sends."""
        if self.why_unserved:
            return None
        return serving(self.given_cluster.library if self.library is None else self.library, str(self.path))

    @cached_property
    def law(self) -> LibraryLaw:
        """The law that says what the library adds to this collective; that of topology alone where none does."""
        return next((law for law in laws_of(self.used_library) if law.serves(self)), ALONE)

    @cached_property
    def library_number(self) -> int:
        """The library's version as a number, such as 219; 0 without a library."""
        own = self.given_cluster.library_version if self.library is None else ""
        return self.used_library.number_of(self.library_version or own) if self.used_library else 0

    @cached_property
    def choice(self) -> LibraryChoice | None:
        """What the library chooses for this message between nodes; None where its law chooses nothing, or none holds."""
        return self.law.choose(self.used_library, self) if self.used_library else None

    @property
    def schedule_name(self) -> str:
        """What each rail does between the nodes: key of `peerlab.collectives.choose.SCHEDULES`."""
        if self.collective_record.exchanges:
            # a blocking pairwise all-to-all has the same messages; its ranks only wait for each other
            return "direct"
        return self.law.schedule(self) or self.algorithm_record.schedule

    @property
    def library_says(self) -> str:
        """What the library does with this message, in words; empty without a library, and on a path that it does not serve."""
        return str(self.library_words)

    @cached_property
    def library_words(self) -> LibraryWords:
        """The same in parts."""
        return words_of(self)

    @property
    def library_figures(self) -> dict[str, str | float | None]:
        """What library and transport were used, ``auto`` resolved, by `LIBRARY_FIGURES`; None where there is no such thing."""
        return figures_of(self)

    @property
    def library_misfit(self) -> str:
        """Why no such machine has the library that was given, or why it does nothing, as a sentence; empty if one may."""
        return misfit_of_asked(self)

    @property
    def library_unsolved(self) -> tuple[str, ...]:
        """What the library's law does not meet at this message, as sentences."""
        unsolveds = self.law.unsolved(self.used_library, self) if self.used_library else ()
        return tuple(gap.sentence for gap in unsolveds)

    # ---- slices and registrations ----------------------------------------------------------------------------------

    @property
    def staged(self) -> bool:
        """Whether the path bounces through host memory."""
        return self.data_path.is_staged

    @property
    def bounces(self) -> bool:
        """Whether slices bounce through host memory, on one side at least."""
        return self.staged or self.data_path.half_staged

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """What a slice goes through, up to the reduction; behind the network the further hops of a library's tree or ring."""
        path_stages = stages(self.cluster_for_message, str(self.path), self.memory)
        choice = self.choice
        return with_hops(path_stages, choice.hops, flushes=bool(choice.flush_ps)) if choice else path_stages

    @cached_property
    def fabric(self) -> Fabric:
        """The network that slices cross between the nodes: which links they share, and whether all nodes are alike to it."""
        return fabric_of(self.cluster_for_message, self.stages)

    @property
    def reduces(self) -> bool:
        """Whether adding takes time: bare reference fabrics have no device memory, and with SHARP the switches add."""
        here = not self.algorithm_record.in_network
        return here and not self.data_path.is_bare and self.hardware.hbm_Bps is not None

    @property
    def registers(self) -> bool:
        """Whether transfers wait for registrations (on host paths the bounce pool is always registered)."""
        return self.data_path.uses_device_memory and self.registration != "pool"

    @property
    def slice_limit(self) -> int | None:
        """Largest slice in bytes; None: transfers go whole."""
        met = self.cluster_for_message
        return met.slice_staged_bytes if self.bounces else met.slice_direct_bytes

    @property
    def least_slices(self) -> int:
        """Slices that a transfer is cut into at least; 2 for point to point, and where the scenario gives their size.

        1 in an all-to-all: its messages overlap each other, so a library gains nothing by cutting small ones.
        """
        if self.collective_record.exchanges:
            return 1
        if self.slice_bytes != "auto" or self.collective_record.is_message:
            return 2
        # such a library's slices are as large as it sends them, however few a transfer then has
        if self.law.cuts:
            return 1
        # more than the window holds would wait for one another
        return min(self.hardware.least_slices or _LEAST_SLICES, self.window_slices)

    @property
    def smallest_slice(self) -> int:
        """Bytes that a full slice has at least; 1 for point to point, and where the scenario gives their size."""
        given = self.slice_bytes != "auto" or self.collective_record.is_message or self.choice
        return 1 if given else _SMALLEST_SLICE

    @property
    def window_slices(self) -> int:
        """Slices in flight per device and direction; over each hop of a library's ring or tree."""
        return self.cluster_for_message.window

    @property
    def places(self) -> int:
        """Slices on their way at once, per device and direction: each hop of a library's ring or tree has a window of its own."""
        return self.window_slices * (self.choice.course.hops if self.choice else 1)

    @property
    def blocking(self) -> bool:
        """Whether a rank starts a step only when its last step is complete."""
        if self.dependency != "auto":
            return self.dependency == "step"
        if self.collective_record.exchanges and self.algorithm_record.blocks_alltoall:
            return True
        return self.data_path.is_bare and not self.algorithm_record.pipelined

    @property
    def has_workers(self) -> bool:
        """Whether a stage of a rank takes one slice at a time, latency included, as in blocking code.

        In a pairwise all-to-all ranks wait for each other; the library still overlaps the slices of a message.
        """
        return self.blocking and (self.dependency == "step" or not self.collective_record.exchanges)

    @property
    def runs(self) -> int:
        """How often the collective runs."""
        if self.iterations != "auto":
            return self.iterations
        # each buffer set once cold, then the warm run that is reported
        return self.buffers + 1 if self.registers and self.registration == "cached" else 1

    @property
    def extrapolates(self) -> bool:
        """Whether the vendor's library would refuse this many ranks."""
        return self.hardware.max_ranks is not None and self.ranks > self.hardware.max_ranks

    @property
    def registration_cost(self) -> RegistrationCost:
        """What registering costs on this cluster with this page size."""
        return RegistrationCost.on(self.hardware, int(self.page_bytes))

    @cached_property
    def noise(self) -> Noise:
        """What makes service times random."""
        return noise_of(self)

    def host(self, node: int) -> int:
        """Return the host that a node runs on."""
        return hosts(self.placement, self.domains, self.fabric.hosts_per_leaf, self.seed)[node]

    @property
    def has_slow_parts(self) -> bool:
        """Whether a node, a NIC or a link is slower than others."""
        return bool(self.slow_nodes or self.slow_nics or self.slow_links)


def checked_scenario(given: object) -> Scenario:
    """Return what is a scenario, and refuse anything else, such as the name of a cluster."""
    if not isinstance(given, Scenario):
        raise ScenarioError(
            "scenario", f"give a Scenario, such as peerlab.Scenario(cluster='dl1'), not {given!r:.60}"
        )
    return given
