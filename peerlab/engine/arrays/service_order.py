"""Exclusive resources of one kind, those of all lanes at once, with an order of service that is in part assumed, and verified.

Two devices behind a PCIe switch may share its NIC. It serves whom comes first. The slices of one step and number are at
hand together, so who of them comes first is seen. That none of them comes before those of the number before is assumed, of a
lane as of lanes that share a NIC. Where one does, the run is none that the referee would give, and is thrown away.

Slices that come in one instant come in rounds, as in the referee: a slice that the resource upstream has just taken, and begun with at
once, comes a round later than one that had waited there.
"""

from collections.abc import Callable
from typing import NamedTuple

from peerlab.base.errors import ScenarioError
from peerlab.base.numbers import NDArray, np
from peerlab.engine.noise_draws import Pauses
from peerlab.engine.standing_still import through

Times = NDArray[np.int64]
"""Picoseconds, shape ``(scenarios, lanes)``."""
State = tuple[Times, Times]
"""When each resource is free, and the place of the last slice that it has taken; shape ``(scenarios, resources)``."""

_ROUNDS = 16
"""More than the resources of a stage, so that an instant has fewer rounds."""


class Arrived(NamedTuple):
    """The slices of one step and number of all lanes that come to the resources of one kind."""

    came: Times
    """When each comes."""
    past: Times
    """When it is through upstream, the latency between included; it is through here no sooner."""
    round: Times
    """In which round of its instant it comes, from 1."""
    pauses: Pauses | None = None
    """When the node of each stands still; its phase has the shape of `came`."""


class OrderUnknownError(ScenarioError):
    """Slices of several senders come to a resource in another order than the one that is assumed."""


def _done(start: Times, work: NDArray[np.int64], pauses: Pauses | None) -> Times:
    """Return when work is done that begins at `start`."""
    done: Times = start + work if pauses is None else through(start, work, *pauses)
    return done


def users_of(resources: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lanes that share each resource, which are equally many, shape ``(lanes, resources)``.

    `resources` are those that serve each lane.
    """
    users: dict[int, list[int]] = {}
    for lane, resource in enumerate(resources.tolist()):
        users.setdefault(resource, []).append(lane)
    return np.array(list(users.values()), np.int64).T.copy()


class ServiceOrder:
    """Who is served after whom by the resources of one kind, each of which serves one slice at a time, first come first served."""

    def __init__(self, users: NDArray[np.int64], runs: int) -> None:
        """`users` are the lanes that share each resource (`users_of`); every one of the runs side by side is verified by itself."""
        self._users, self.most = users, len(users)
        self._none = np.zeros((runs, users.shape[1]), np.int64)
        self.held = np.ones(runs, bool)
        """Whether no slice has come, in each run, before one of a lower step or number."""

    def serve(
        self, state: State | None, arrived: Arrived, work: NDArray[np.int64]
    ) -> tuple[Times, Times, State]:
        """Serve a slice of every lane; return when each begins, when it is through, and the new state.

        `work`, how long they take, may be the same in all runs.
        """
        free, last = state or (self._none, self._none)
        if self.most == 1:  # slices of one lane come in their order
            start = np.maximum(arrived.came, free)
            end = np.maximum(_done(start, work, arrived.pauses), arrived.past)
            return start, end, (end, last)
        place = (arrived.came * _ROUNDS + arrived.round)[:, self._users]
        lasts, past = work[..., self._users], arrived.past[:, self._users]
        # in most rounds slices come in the order of their lanes, and nothing has to be sorted; sorting is stable, so that of
        # slices that come together that of the lowest lane is served first, as in the referee
        order = None if (place[:, 1:] >= place[:, :-1]).all() else np.argsort(place, axis=1, kind="stable")
        if order is not None:
            place, past = (np.take_along_axis(values, order, axis=1) for values in (place, past))
            lasts = np.take_along_axis(np.broadcast_to(lasts, place.shape), order, axis=1)
        self.held &= (place[:, 0] >= last).all(axis=1)
        # the lanes that share a resource are of one node
        pauses = arrived.pauses and arrived.pauses._replace(phase=arrived.pauses.phase[:, self._users[0]])  # type: ignore[index]
        begun, over = np.empty_like(place), np.empty_like(place)
        for turn in range(self.most):
            begun[:, turn] = np.maximum(place[:, turn] // _ROUNDS, free)
            free = np.maximum(_done(begun[:, turn], lasts[..., turn, :], pauses), past[:, turn])
            over[:, turn] = free
        return self._of_lanes(begun, order), self._of_lanes(over, order), (free, place[:, -1])

    def _of_lanes(self, served: Times, order: NDArray[np.int64] | None) -> Times:
        """Return what is known of the slices of each resource, in the order in which it served them, for each lane."""
        if order is not None:
            served = np.take_along_axis(served, np.argsort(order, axis=1), axis=1)
        values = np.empty((len(served), self._users.size), np.int64)
        values[:, self._users] = served
        return values


class ServiceOrders:
    """Those of all resources of a batch of runs. Resources that are shared alike, as two NICs' send and receive sides, have one."""

    def __init__(self, resources: Callable[[int], NDArray[np.int64]], runs: int) -> None:
        """`resources` gives for every lane the resource in the place of one of lane 0."""
        self._resources, self._runs = resources, runs
        self._at: dict[int, ServiceOrder] = {}
        self._last: Times | None = None
        self._final: tuple[Times, NDArray[np.bool_]] | None = None
        self._in_turn = np.ones(runs, bool)
        self.shared = False
        """Whether any of the resources serves several lanes."""
        self._alike: dict[tuple[int, bytes], ServiceOrder] = {}

    def at(self, resource: int) -> ServiceOrder:
        """Return in which order lanes are served by the resources in the place of this one of lane 0."""
        if resource not in self._at:
            users = users_of(self._resources(resource))
            key = (len(users), users.tobytes())
            if key not in self._alike:
                self._alike[key] = ServiceOrder(users, self._runs)
                self.shared |= len(users) > 1
            self._at[resource] = self._alike[key]
        return self._at[resource]

    def come(self, there: Times) -> None:
        """Note when the data of a slice of every lane is there: none may overtake those of a lower step or number."""
        # where a node's own contributions come slowly, a slice that has been around comes before the next of these
        if self._last is not None:
            self._in_turn &= (there >= self._last).all(axis=1)
        self._last = there

    def finish(self, at: Times, free: Times) -> None:
        """Note when a final slice is at every lane, whose links to the other devices are `free` from then on.

        One that comes before that of an earlier step, for which the links have waited, is handed out first.
        """
        if self._final is not None:
            before, waited = self._final
            self._in_turn &= ~((at < before) & waited).any(axis=1)
        self._final = at, free < at

    def hold(self) -> NDArray[np.bool_]:
        """Return for each run whether, until now, slices have come to every resource in the order that is assumed."""
        held = self._in_turn.copy()
        for service_order in self._alike.values():
            held &= service_order.held
        return held
