"""Which resources get their slices in an order that is known beforehand."""

from peerlab.engine.system import System


def in_order(system: System) -> frozenset[int]:
    """Return the exclusive resources of a system whose slices all come from one other, in its order.

    On a ring a NIC receives from one NIC alone. So when that one begins with a slice, it is known when the receiving NIC will; what is
    behind several senders, or behind a shared resource, has to wait and see who comes first.
    """
    schedule = system.plan.schedule
    if not (system.folded or schedule.is_ring) or not schedule.steps:
        return frozenset()  # whom a lane sends to changes from step to step
    feeders: dict[int, set[int]] = {}
    for lane in range(len(system.lanes)):
        for step in sorted({0, schedule.steps - 1, *range(min(schedule.steps, system.plan.devices))}):
            for leg in system.legs(lane, step, plain=True)[0]:
                before = -1
                for visit in leg.visits:
                    feeders.setdefault(visit.resource, set()).add(before)
                    resource = system.resources[visit.resource]
                    alone = not (resource.shared or resource.servers > 1 or visit.behind or visit.link)
                    # the begin is known beforehand as far as everything upstream has one slice at a time
                    before = visit.resource if alone and (before >= 0 or visit is leg.visits[0]) else -1
    return frozenset(
        resource
        for resource, feeding in feeders.items()
        if len(feeding) == 1
        and min(feeding) >= 0
        and not (system.resources[resource].shared or system.resources[resource].servers > 1)
    )
