"""A real AllReduce on this machine, over several data paths, in processes of its own.

What moves is real: copies, TCP through the kernel, pinning, a cache of pins. What is missing is real too: no NIC, no PCIe, no
wire. So the ratios between the arms are those of the cost structure, and the absolute figures are this machine's.
"""
