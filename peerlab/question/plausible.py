"""What looks wrong in a cluster file though it can be read: units mixed up, raw for effective rates, odd topologies."""

import re
from collections.abc import Iterator, Mapping

from peerlab.base.units import say_time
from peerlab.model.hardware import Figure, internal_value

_GB = 10**9
_FASTEST_NIC = 100 * _GB
_FASTEST_PCIE = 128 * _GB  # Gen6 x16, before its headers
# Ethernet's and InfiniBand's rates, as data sheets give them: whoever means bytes is off by 8.
_USUAL_GIGABITS = (1, 10, 20, 25, 40, 50, 56, 80, 100, 200, 400, 800)
_RAW_PCIE = (("Gen3", 15.5, 16, 14.1), ("Gen4", 31, 32, 28.2), ("Gen5", 62, 64, 56.4))
"""What x16 carries with its headers, from and to, and what is left of it, GB/s."""
_TOGETHER = re.compile(r"; (\d{1,4}) links together")
_TIMES_US = {
    "fabric.latency": (0.1, 1000), "port.latency": (0.1, 1000), "scaleup.latency": (0.05, 100),
    "registration.base": (0.1, 100_000), "registration.per_page": (0.0001, 100), "host.packet_cost": (0.01, 100),
}  # fmt: skip
"""Outside of these a time is probably in another unit, microseconds."""
_RATES_GB = {
    "device.hbm": (100, 30_000), "host.dram": (10, 2000), "host.core_copy": (1, 50), "scaleup.rate": (1, 1000),
    "scaleup.sharp": (10, 5000), "domain.rate": (10, 5000), "domain.sharp": (10, 5000),
}  # fmt: skip
"""Outside of these a rate is probably in another unit, GB/s."""

Values = Mapping[str, int]
"""Figures in peerlab's own units (bytes, bytes per second, picoseconds), by key; those a file has."""


def implausible(figures: Mapping[str, Figure]) -> list[str]:
    """Return a sentence for each thing that is possible but hardly meant."""
    values = {key: int(internal_value(figure)) for key, figure in figures.items()}
    rules = (_nic_rate, _pcie_rates, _widths, _ranges, _scaleup, _nics_per_device)
    return [remark for rule in rules for remark in rule(values, figures)]


def _nic_rate(values: Values, figures: Mapping[str, Figure]) -> Iterator[str]:
    rate = values.get("nic.rate", 0)
    gigabits = rate * 8 / _GB
    if rate >= _FASTEST_NIC and figures["nic.rate"].unit == "Gbit/s":
        yield f"nic.rate = {figures['nic.rate']} is a lot for one NIC; is it what several carry together? The file has that of one"
    elif rate >= _FASTEST_NIC:
        yield (
            f"nic.rate = {figures['nic.rate']} is {gigabits:g} Gbit/s; is it meant in Gbit/s? "
            f"A NIC of 100 Gbit/s carries 12.5 GB/s"
        )
    elif rate and gigabits not in _USUAL_GIGABITS and gigabits * 8 in _USUAL_GIGABITS:
        yield (
            f"nic.rate = {figures['nic.rate']} is {rate / _GB:.3g} GB/s; is it meant in GB/s? "
            f"{gigabits:g} GB/s are {gigabits * 8:g} Gbit/s, a usual NIC"
        )


def _pcie_rates(values: Values, figures: Mapping[str, Figure]) -> Iterator[str]:
    for key in ("device.pcie", "switch.uplink", "device.copy_engine"):
        if key in figures and figures[key].source.startswith("definition"):
            continue  # a reference machine is what it is defined to be
        # groups of accelerators that a draft takes as one have their links together
        together = (
            _TOGETHER.search(f"{figures[key].source} {figures[key].assumption}") if key in figures else None
        )
        rate = values.get(key, 0) / _GB / (int(together[1]) if together else 1)
        raw = next((generation for generation in _RAW_PCIE if generation[1] <= rate <= generation[2]), None)
        if raw:
            yield (
                f"{key} = {figures[key]} is what PCIe {raw[0]} x16 carries before its own headers; "
                f"about {raw[3]:g} GB/s are left for data"
            )
        elif rate * _GB > _FASTEST_PCIE:
            yield f"{key} = {figures[key]} is more than PCIe Gen6 x16 carries in one direction"


def _widths(values: Values, figures: Mapping[str, Figure]) -> Iterator[str]:
    nic = values.get("nic.rate", 0)
    carries = f"{nic / _GB:.3g} GB/s"
    for key, what in (("switch.uplink", "the uplink"), ("device.pcie", "the accelerator's PCIe link")):
        # a wrong unit is off by 8 or more; half is met in reality (p5: an uplink of PCIe Gen4 above a GPU of Gen5)
        if key in values and 2 * values[key] < nic:
            yield f"{key} = {figures[key]}: {what} carries less than half of what one NIC does ({carries})"
    # where the link's rate is not given: no engine is faster than the fastest PCIe that there is
    if values.get("device.copy_engine", 0) > values.get("device.pcie", _FASTEST_PCIE):
        yield f"device.copy_engine = {figures['device.copy_engine']} is more than its PCIe link carries"
    if "device.hbm" in values and values["device.hbm"] < values.get("device.pcie", 0):
        yield f"device.hbm = {figures['device.hbm']}: device memory is slower than its PCIe link"


def _ranges(values: Values, figures: Mapping[str, Figure]) -> Iterator[str]:
    for key, (low, high) in _TIMES_US.items():
        if key in values and not low <= values[key] / 10**6 <= high:
            usual = f"{say_time(low * 10**6)} to {say_time(high * 10**6)}"
            yield f"{key} = {figures[key]} is unusual (others have {usual}); is the unit right?"
    for key, (low, high) in _RATES_GB.items():
        if key in values and not low <= values[key] / _GB <= high:
            yield f"{key} = {figures[key]} is unusual (others have {low} to {high} GB/s); is the unit right?"


def _devices(values: Values) -> int:
    return (
        values.get("node.numa_domains", 1)
        * values.get("node.switches_per_numa", 1)
        * values.get("node.devices_per_switch", 1)
    )


def _scaleup(values: Values, figures: Mapping[str, Figure]) -> Iterator[str]:
    peers = _devices(values) - 1
    rate = values.get("scaleup.rate", 0)
    if rate * peers > 2000 * _GB:
        yield (
            f"scaleup.rate = {figures['scaleup.rate']} for each of {peers} peers makes {rate * peers / _GB:g} GB/s "
            "per device; is it a device's whole rate? It is counted per pair of devices"
        )
    if 0 < rate * peers < values.get("nic.rate", 0):
        yield f"scaleup.rate = {figures['scaleup.rate']}: a device's links inside the node are slower than one NIC"


def _nics_per_device(values: Values, figures: Mapping[str, Figure]) -> Iterator[str]:
    nics, devices = values.get("node.nics_per_switch", 1), values.get("node.devices_per_switch", 1)
    # every rule is asked alike
    del figures
    if nics > devices and nics % devices:
        yield (
            f"node.nics_per_switch = {nics} with {devices} devices: a device stripes over {nics // devices} of them, "
            f"so {nics % devices} stay idle"
        )
    elif nics < devices and devices % nics:
        yield (
            f"node.nics_per_switch = {nics} with {devices} devices: the devices do not share the NICs evenly, "
            "some NICs carry more than others"
        )
