"""Whether the NIC or the library is the limit: what a NIC carries alone (perftest), beside what it carries in a run."""

from peerlab.base.errors import RecordsError
from peerlab.features.expect.verdicts.log_verdict import LogVerdict
from peerlab.question.presets import load_cluster
from peerlab.records import Records
from peerlab.records.perftest import TOOL

_FULL = 0.9
"""A NIC that carries so much of its rate alone is well; a run that carries so much of that leaves nothing to the library."""


def nic_or_library(verdict: LogVerdict, perftest: Records) -> str:
    """Return which of the two is the limit, as a sentence with its figures; it says what is missing where it cannot tell.

    Raises
    ------
    RecordsError
        If the other records are none of perftest's bandwidth.
    """
    rows = perftest.table[perftest.table["variant"].str.endswith("bandwidth")]
    # Both ways at once perftest adds the two up, and a NIC has its rate in each.
    rates = rows["algbw_GBps"] / (1 + rows["variant"].str.startswith("bidirectional"))
    if perftest.manifest.get("tool") != TOOL or rates.empty:
        # Latencies of perftest have a column of their own, and say nothing of a rate.
        raise RecordsError("perftest: no bandwidth of ib_write_bw, ib_read_bw or ib_send_bw is in it")
    alone = float(rates.max())
    if verdict.nic_GBps is None or verdict.cluster is None:
        return f"perftest carries {alone:.3g} GB/s ({8 * alone:.0f} Gb/s); what the run's NICs carry is not known"
    rate = load_cluster(verdict.cluster).nic_Bps / 1e9
    figures = (
        f"alone (perftest) it carries {alone:.3g} of {rate:.3g} GB/s, in this run {verdict.nic_GBps:.3g}"
    )
    # The order matters: a NIC that is full in the run is no fault of the library's, however slow it is alone.
    if verdict.nic_GBps >= _FULL * alone:
        which = (
            "the NIC is the limit"
            if alone < _FULL * rate
            else "the NIC is full in this run: neither is at fault"
        )
    elif alone >= _FULL * rate:
        which = "the NIC is well, so what is missing is the library's, or the way to the NIC"
    else:
        which = "the NIC is slow by itself, and the library leaves more of it"
    memory = (
        ""
        if perftest.manifest.get("memory") == "device"
        else "; perftest used host memory: run it with --use_cuda, too"
    )
    return f"NIC or library: {figures}: {which}{memory}"
