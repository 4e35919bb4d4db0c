"""Every result that a notebook shows, one of each type."""

import pandas as pd
from fake_host import FakeHost
from profiler_traces import one_step, save
from tool_logs import NCCL

import peerlab
from peerlab.base import places
from peerlab.features.exercises.labs.review import quoted
from peerlab.features.exercises.labs.search_game import SearchGame
from peerlab.features.exercises.labs.stale import ByPointer, train
from peerlab.features.exercises.logs import lab_log
from peerlab.features.exercises.tables import folded
from peerlab.records.copy_times import CopyCost
from peerlab.records.library import measured_library
from peerlab.study.fabric_comparison import compare_fabrics


def shown_results(folder):
    """Return a result of each type; a folder takes a host and a trace."""
    own = measured_library()["own/xeon-2-processors"]
    pingpong = measured_library()["juliet/osu-latency-staged"]
    host, trace = folder / "host", folder / "trace"
    host.mkdir()
    trace.mkdir()
    gain = peerlab.simulate(peerlab.Scenario(nodes=4, path="peer-direct")).gain_band(
        peerlab.simulate(peerlab.Scenario(nodes=4))
    )
    return [
        peerlab.simulate(peerlab.Scenario(nodes=4)),
        gain,
        quoted(gain),
        peerlab.race(peerlab.Scenario(nodes=4), path="peer-direct"),
        own,
        peerlab.ratios(own),
        compare_fabrics(peerlab.Scenario(cluster="ideal-100g")),
        peerlab.steps("ring", 3),
        peerlab.explain(peerlab.simulate(peerlab.Scenario(nodes=2, message_bytes="64 KiB"))),
        peerlab.diagnose(peerlab.load(NCCL)),
        peerlab.calibrate(pingpong, "juliet", constants="fabric.latency"),
        peerlab.doctor(host=FakeHost(host).host()),
        peerlab.pin_cost(["64 KiB"]),
        CopyCost.read(places.folder("data") / "measured/own/h200-copies-1.json"),
        peerlab.show_limit("16 KiB", region="4 KiB"),
        lab_log("B"),
        folded(pd.DataFrame({"GB/s": [1.5]})),
        train(ByPointer),
        SearchGame(slow=3).run(0, 1, 2, 3).accuse(1),
        peerlab.step(workload="resnet50"),
        peerlab.choices("p5", nodes=[2], sizes="8 MiB"),
        peerlab.expect("p5", sizes="8 MiB"),
        peerlab.expect("p5", log=peerlab.load(NCCL)),
        peerlab.expect("p5", log=peerlab.load(NCCL))[0],
        peerlab.load(save(trace, one_step())),
        peerlab.tails(
            cluster="ideal-100g", nodes=4, message_bytes="1 MiB", jitter=0.1, seeds=20, progress=False
        ),
        peerlab.neighbours(nodes=4, message_bytes="64 KiB"),
        peerlab.shared_fabric([{"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]}]),
        peerlab.why(peerlab.Scenario(), "nic.rate"),
        peerlab.why(peerlab.Scenario()),
        peerlab.blame(cluster="ideal-100g", nodes=4, message_bytes="1 MiB", jitter=0.1, seed=3),
    ]
