"""A real AllReduce on this machine, over several data paths, in processes of its own.

What moves is real: copies, TCP through the kernel, pinning, a cache of pins. What is missing is real too: no NIC and no wire,
and no PCIe but with a GPU. So the ratios between the arms are those of the cost structure, and the absolute figures are this
machine's. `cuda/` has what only a GPU's memory needs.
"""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="What does the host's detour cost on this machine?",
    answers="`Records` of real AllReduces, and their ratios",
    commands={"measure": "peerlab.features.measure.measure_command"},
    functions={
        "copy_cost": "peerlab.features.measure.cuda.copy_cost",
        "measure": "peerlab.features.measure.measurement",
        "pin_cost": "peerlab.features.measure.pin_cost",
        "ratios": "peerlab.features.measure.reports.ratios",
        "show_limit": "peerlab.features.measure.ranks.memory.locked_memory",
    },
    shows={
        "CopyCost": "peerlab.features.measure.reports.copies_document:copies_html",
        "Ratios": "peerlab.features.measure.reports.ratios:ratios_html",
        "PinCost": "peerlab.features.measure.reports.pin_cost_report:pin_cost_html",
        "Refusal": "peerlab.features.measure.reports.pin_cost_report:limit_html",
        "Records": "peerlab.features.measure.reports.records_table:records_html",
    },
    document="docs/using.md",
)
