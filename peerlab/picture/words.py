"""Words about a run: the key of its colours, the line below its pictures, and the pictures as text."""

from peerlab.answer.run import Run
from peerlab.answer.trace import Resource
from peerlab.base.units import say_bytes, say_count, say_percent, say_time
from peerlab.collectives.choose import plan, slices
from peerlab.model.paths import ACROSS_SWITCH, REDUCE, uses_nic
from peerlab.model.paths import PROXY as PROXY_USE
from peerlab.model.resources import resource_kind
from peerlab.model.slow_parts import Pair, parts_of
from peerlab.model.stages import stage_kind
from peerlab.picture.picture import Picture
from peerlab.picture.shown_nodes import focus, unit
from peerlab.picture.theme import stage_role
from peerlab.picture.wire import say_wire
from peerlab.question.node_exchange import node_exchange
from peerlab.question.scenario import Scenario


def colours(run: Run) -> list[list[str]]:
    """Return the colour key: role and meaning of every colour that this run uses."""
    s = run.scenario
    # In one domain nothing crosses a wire, so no stage of the path is seen.
    used = [stage.name for stage in s.stages] if s.domains > 1 else []
    if s.registers and s.domains > 1 and run.registration.misses:
        used.insert(0, "register")
    if not s.collective_record.is_message:
        used += ["reduce"] if s.reduces and s.collective_record.adds else []
        used += [node_exchange(s).hand_stage] if s.hardware.devices > 1 else []
    used += ["flight"] if s.domains > 1 else []
    # Stages of one colour are one entry: the first says what it is.
    key: dict[str, str] = {}
    for stage in used:
        kind = stage_kind(stage)
        key.setdefault(kind.role, s.hardware.says(kind.legend or kind.says))
    if s.sums_between:
        role = stage_role(REDUCE.name)
        key[role] = "sums: on the device, and by the switch" if role in key else "sum, added up by the switch"
    return [[role, text] for role, text in key.items()]


def caption(run: Run, picture: Picture | None = None, *, unsolved: bool = True) -> str:
    """Return the line below the pictures: what was simulated; `unsolved`: and what of the library's law is not solved there.

    `picture` is the run's, where it is shown: what it does not say of the path's resources, the caption says.
    """
    s = run.scenario
    warm = (
        f", {s.runs} times in a row: the last is shown, its registrations were already cached"
        if s.registers and s.runs > 1 and s.registration == "cached" and s.domains > 1
        else ""
    )
    return f"Simulated: {s.hardware.title}{_over(s)}, {_how(run)}{_slices(s)}{warm}{_disturbed(run)}.{f' {beyond(s)}' if s.extrapolates else ''}{_not_drawn(picture or Picture(run))}{f' {PROXY}' if names_proxy(run) else ''}{_unsolved(s) if unsolved else ''}"


def beyond(s: Scenario) -> str:
    """Return that a run is an extrapolation, where it is one."""
    return "More ranks than the vendor's library allows: an extrapolation." if s.extrapolates else ""


def _over(s: Scenario) -> str:
    """Return which transport carries it, with packets, switches and cable, where one is named and something crosses a wire."""
    return f", over {s.transport_says}" if s.transport_says and s.domains > 1 else ""


def _unsolved(s: Scenario) -> str:
    """Return what the library's law is known not to meet here."""
    return "".join(f" {sentence}" for sentence in (s.library_misfit, *s.library_unsolved) if sentence)


def _not_drawn(picture: Picture) -> str:
    """Return what a path uses and the picture does not show, with how busy it is."""
    run = picture.run
    stages = [
        stage_kind(stage.name).says for stage in run.scenario.stages if not stage_kind(stage.name).track
    ]
    busy = [f"{resource_kind(kind).label}, {say_percent(run.busy[kind])} busy" for kind in picture.untold]
    sentence = run.scenario.hardware.says("; ".join(dict.fromkeys((*stages, *busy))))
    turns = run.scenario.collective_record.exchanges and run.trace.devices_per_switch > 1
    drawn = " Drawn as if each slice went to the device of the same number." if turns else ""
    return (f" Not drawn: {sentence}." if sentence else "") + drawn


def _slices(s: Scenario) -> str:
    """Return the size of slices and who sets it: the user, the library's largest slice, or how many a transfer has at least."""
    if s.domains == 1:
        return ""
    numbers = slices(s)
    if len(numbers) < 2:
        return ", whole transfers"
    size = f", slices of {say_bytes(numbers[0])}"
    # Smaller than the library would cut: a transfer is at least so many slices.
    if numbers[0] < (s.slice_limit or 0):
        return f"{size}, {len(numbers)} to a transfer"
    if s.slice_bytes != "auto":
        return f"{size}, as set"
    return f"{size}, as the library cuts them {'through the host' if s.bounces else 'from device memory'}"


def _how(run: Run) -> str:
    s = run.scenario
    if s.collective_record.is_message:
        return "one message"
    if s.algorithm_record.in_network:
        return _sums(s)
    sentence, turns = s.library_says, ", one rank at a time" if s.blocking else ", all at once"
    if s.collective_record.exchanges:
        how = f"direct exchange{turns}"
    else:
        how = s.schedule_name if s.hardware.devices == 1 else f"hierarchical {s.schedule_name}"
    if s.library_words.does:  # it names the schedule itself
        return sentence + (turns if s.collective_record.exchanges else "")
    return f"{how}, {sentence}" if sentence else how


def _sums(s: Scenario) -> str:
    """Return which switches add up."""
    between = "the switches between the nodes add up (SHARP)" if s.sums_between else ""
    inside = s.hardware.says("the switch inside a node adds up (NVLink SHARP)") if s.sums_inside else ""
    return " and ".join(filter(None, (inside, between)))


def _disturbed(run: Run) -> str:
    """Return what makes nodes differ, and which of them is shown."""
    s, parts = run.scenario, []
    if s.placement:
        parts.append(f"{s.placement} placement" if isinstance(s.placement, str) else "nodes placed as given")
    if s.noise:
        parts.append(f"{s.noise.in_words} (seed {s.seed})")
    parts += [f"{part}{_unfelt(s)}" for part in slow_nodes(s)]
    parts += [*slow_nics(s), *slow_links(s)]
    if not run.trace.folded and not s.collective_record.is_message:
        parts.append(f"shown: {unit(s)} {focus(run)}")
    return "".join(f", {part}" for part in parts)


def slow_nodes(s: Scenario) -> list[str]:
    """Return each slow node, in words."""
    return [f"node {node} at {100 * share:g} %" for node, share in (s.slow_nodes or {}).items()]


def slow_nics(s: Scenario) -> list[str]:
    """Return each NIC that is slow or lost, in words."""
    return [_nic(*nic) for nic in parts_of(s.slow_nics)]


def slow_links(s: Scenario) -> list[str]:
    """Return each link between two nodes that is slow, in words."""
    return [_link(*link) for link in parts_of(s.slow_links)]


def faults_at(s: Scenario, resource: Resource) -> list[str]:
    """Return what is slow or lost where a resource sends or receives, in words; nothing where that leaves it as fast as others."""
    kind, node = resource_kind(resource.kind), resource.node
    if not (kind.slowed_with_node or kind.until_sent):
        return []
    share = s.slow_domains.get(node) if s.slow_domains else None
    # what a lost NIC did, another one of its node does; one that is slow holds up what it does itself
    mine = [(pair, left) for pair, left in parts_of(s.slow_nics) if pair[0] == node]
    nics = [
        _nic(pair, left)
        for pair, left in mine
        if not left or kind.scope != "nic" or pair[1] == resource.index
    ]
    links = [
        _link(pair, left)
        for pair, left in parts_of(s.slow_links)
        if pair[kind.receives] == node and _is_used(s, pair)
    ]
    return [*([f"{unit(s)} {node} at {100 * share:g} %"] if share else []), *nics, *links]


def _is_used(s: Scenario, link: Pair) -> bool:
    """Return whether anything is sent over a link."""
    schedule, (source, to) = plan(s).schedule, link
    return any(schedule.to(source, step) == to for step in range(schedule.steps))


def _nic(pair: Pair, share: float) -> str:
    return f"NIC {pair[0]}.{pair[1]} {f'at {100 * share:g} %' if share else 'lost'}"


def _link(pair: Pair, share: float) -> str:
    return f"link {pair[0]} to {pair[1]} at {100 * share:g} %"


def _unfelt(s: Scenario) -> str:
    """Return that a slow node is as fast as the others on this path, if nothing that it uses is slower there."""
    felt = s.domains > 1 and any(
        resource_kind(use.kind).slowed_with_node for stage in s.stages for use in stage.uses
    )
    return "" if felt else " (which changes nothing on this path)"


def way(scenario: Scenario) -> str:
    """Return the way that slices take, as a sentence without its end."""
    if scenario.domains == 1:
        return _inside(scenario)
    sentence = _through(scenario)
    if not scenario.sums_between:
        return sentence
    inside = f"{_inside(scenario)}. " if scenario.sums_inside else ""
    return f"{sentence}. {inside}Each {unit(scenario)}'s slice goes up to the switch, which adds {scenario.domains} of them; the sum comes down to all"


def _inside(s: Scenario) -> str:
    """Return what the devices of a node do among themselves, as a sentence without its end."""
    name, count = s.hardware.device_name, s.hardware.devices
    if count == 1:
        return f"One {name} has nobody to exchange with"
    if s.sums_inside:
        return f"Each {name}'s slice goes up to the {unit(s)}'s NVSwitch, which adds {count} of them; the sum comes down to all {count}"
    if s.nodes_per_domain > 1:
        return f"The {count} {name} of {s.nodes} nodes exchange over the switches of one NVLink domain; nothing crosses a NIC or a wire"
    return f"The {count} {name} of the node exchange among themselves; nothing crosses a NIC or a wire"


def _through(scenario: Scenario) -> str:
    """Return the way that slices take from node to node."""
    wiring = scenario.hardware.wiring
    # Nothing is said of a wiring that the cluster's file does not describe.
    known = scenario.is_wired and "switch.uplink" in scenario.hardware.figures
    over_cpu = known and wiring.place.over_cpu
    across = f"{ACROSS_SWITCH} and the CPU" if over_cpu else ACROSS_SWITCH
    sentence = scenario.data_path.way.format(device=scenario.hardware.device_name, across=across)
    sentence += _own_nics(scenario)
    if scenario.nodes_per_domain > 1:
        inside = (
            f"The {scenario.hardware.devices} {scenario.hardware.device_name} of a domain add up over NVLink"
        )
        sentence = f"{inside}; between domains {sentence[:1].lower()}{sentence[1:]}"
    if not known:
        return sentence
    if over_cpu:
        return f"{sentence}; each NIC hangs {wiring.place.title}"
    return (
        f"{sentence}; ACS redirect sends what goes from card to card up to the CPU"
        if wiring.redirected
        else sentence
    )


def _own_nics(scenario: Scenario) -> str:
    """Return how many NICs a device has, where several hang below a switch."""
    machine = scenario.hardware
    if machine.nics_per_switch == 1 or not uses_nic(machine, str(scenario.path)):
        return ""
    if machine.nics_per_device > 1:
        return f"; each {machine.device_name} sends over {machine.nics_per_device} NICs of its own"
    if machine.devices_per_switch == machine.nics_per_switch:
        return f"; each {machine.device_name} has a NIC of its own"
    return f"; {machine.devices_per_switch} {machine.device_name} share {machine.nics_per_switch} NICs"


_REGISTRATIONS = {
    "cached": ", registrations cached",
    "per-transfer": ", memory registered for each transfer",
    "pool": ", one registered pool",
}


def path_name(scenario: Scenario) -> str:
    """Return the data path in the words of a title."""
    return scenario.data_path.title + (_REGISTRATIONS[scenario.registration] if scenario.registers else "")


def title(scenario: Scenario) -> str:
    """Return what is asked, as a title."""
    s = scenario
    where = say_count(2 if s.collective_record.is_message else s.nodes, "node")
    by = "" if s.domains == 1 else f", {path_name(s)}"  # one node uses no path
    if s.nodes_per_domain > 1:
        by = f", {say_count(s.domains, 'NVLink domain')}{by}"
    return f"{s.hardware.title}: {s.collective_record.title} of {say_bytes(s.nbytes)} on {where}{by}"


PROXY = (
    "Proxy: the library's thread that posts messages to a NIC; it has each message until the NIC has sent it."
)


def names_proxy(run: Run) -> bool:
    """Return whether what a run waits for is said with the library's proxy."""
    bottleneck = run.bottleneck
    return bottleneck is not None and (bottleneck.kind == PROXY_USE.kind or bool(bottleneck.in_turns))


def waits_for(run: Run) -> str:
    """Return what a run mostly waits for and how much, such as ``PCIe to host, 95 % busy``."""
    bottleneck = run.bottleneck
    if bottleneck is None:
        return "nothing: no time passes"
    return f"{bottleneck.label}, {bottleneck.says}"


def alt_text(run: Run) -> str:
    """Return a picture of a run in two sentences with its figures, for those who do not see it.

    It is plain text: whoever writes it into a page escapes it.
    """
    if not run.time_ps:
        return f"{title(run.scenario)}: one rank exchanges nothing, no time passes."
    wire = f", {say_wire(run)}" if run.scenario.domains > 1 else ""
    figures = f"{run.busbw_GBps:.3g} GB/s bus bandwidth in {say_time(run.time_ps)}{wire}"
    return f"{title(run.scenario)}: {figures}; mostly waits for {waits_for(run)}. {way(run.scenario)}{_over(run.scenario)}."
