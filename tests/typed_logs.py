"""Output of other people's tools, typed by hand in their forms."""

ALPS = """$ srun -N2 --ntasks-per-node=4 all_reduce_perf -b 1M -e 64M -f 8
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 67108864 step: 8(factor) warmup iters: 1 iters: 20 validation: 1
# Using devices
#  Rank  0 Group  0 Pid 1 on  nid1 device  0 [0009:01:00] NVIDIA GH200 120GB
#  Rank  1 Group  0 Pid 2 on  nid1 device  1 [0019:01:00] NVIDIA GH200 120GB
#  Rank  2 Group  0 Pid 3 on  nid1 device  2 [0029:01:00] NVIDIA GH200 120GB
#  Rank  3 Group  0 Pid 4 on  nid1 device  3 [0039:01:00] NVIDIA GH200 120GB
#  Rank  4 Group  0 Pid 1 on  nid2 device  0 [0009:01:00] NVIDIA GH200 120GB
#  Rank  5 Group  0 Pid 2 on  nid2 device  1 [0019:01:00] NVIDIA GH200 120GB
#  Rank  6 Group  0 Pid 3 on  nid2 device  2 [0029:01:00] NVIDIA GH200 120GB
#  Rank  7 Group  0 Pid 4 on  nid2 device  3 [0039:01:00] NVIDIA GH200 120GB
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    160.0    6.55   11.47      0    160.0    6.55   11.47      0
     8388608       2097152     float     sum      -1    400.0   20.97   36.70      0    400.0   20.97   36.70      0
    67108864      16777216     float     sum      -1   1100.0   61.01  106.76      0   1100.0   61.01  106.76      0
# Out of bounds values : 0 OK
"""
"""nccl-tests on two nodes with RDMA: the form of a real log, its figures rounded."""
