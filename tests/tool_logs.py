"""Logs typed by hand in the layouts that tools print; hosts, users and figures are invented."""

NCCL = """\
$ srun -N2 --ntasks-per-node=2 --mpi=pmix /home/ada/nccl-tests/build/all_reduce_perf -b 8 -e 32M -f 64
# nccl-tests version 2.18.2 nccl-headers=23007 nccl-library=23007
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 33554432 step: 64(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid  15784 on  anvil01 device  0 [0009:01:00] NVIDIA GH200 120GB
#  Rank  1 Group  0 Pid  15785 on  anvil01 device  1 [0019:01:00] NVIDIA GH200 120GB
#  Rank  2 Group  0 Pid  24926 on  anvil02 device  0 [0009:01:00] NVIDIA GH200 120GB
#  Rank  3 Group  0 Pid  24927 on  anvil02 device  1 [0019:01:00] NVIDIA GH200 120GB
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    21.40    0.00    0.00       0    20.10    0.00    0.00       0
      524288        131072     float     sum      -1   150.00    3.50    5.24       0   148.00    3.54    5.31       2
    33554432       8388608     float     sum      -1  1677.72   20.00   30.00       0  1600.00   20.97   31.46     N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 12.0021
#
# Collective test concluded: all_reduce_perf
"""

NCCL_LABELLED = """\
Warning: Permanently added 'worker-1.jobs.default.svc,10.11.5.31' (ECDSA) to the list of known hosts.
[1,0]<stdout>:# nThread 1 nGpus 1 minBytes 1 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 100 agg iters: 1 validation: 1 graph: 0
[1,0]<stdout>:#
[1,0]<stdout>:# Using devices
[1,0]<stdout>:#  Rank  0 Group  0 Pid     21 on worker-0 device  0 [0x35] Tesla T4
[1,0]<stdout>:#  Rank  1 Group  0 Pid     21 on worker-1 device  0 [0xf5] Tesla T4
[1,0]<stdout>:worker-0:21:21 [0] NCCL INFO Bootstrap : Using eth0:10.11.13.106<0>
[1,0]<stdout>:worker-0:21:21 [0] NCCL INFO NET/OFI Selected Provider is efa (found 1 nics)
[1,0]<stdout>:worker-0:21:21 [0] NCCL INFO Using network AWS Libfabric
[1,0]<stdout>:NCCL version 2.12.7+cuda11.4
[1,1]<stdout>:worker-1:21:26 [0] NCCL INFO NCCL_SHM_DISABLE set by environment to 0.
[1,1]<stdout>:worker-1:21:26 [0] NCCL INFO Channel 00/0 : 0[35000] -> 1[f5000] [receive] via NET/IB/1/GDRDMA
[1,0]<stdout>:#
[1,0]<stdout>:#                                                              out-of-place                       in-place
[1,0]<stdout>:#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
[1,0]<stdout>:#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
[1,0]<stdout>:worker-0:21:21 [0] NCCL INFO Launch mode Parallel
[1,0]<stdout>:           0             0     float     sum      -1     6.31    0.00    0.00      0     6.44    0.00    0.00      0
[1,0]<stdout>:           4             1     float     sum      -1    61.70    0.00    0.00      0    60.84    0.00    0.00      0
[1,0]<stdout>:worker-0:21:21 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0
[1,0]<stdout>:     1048576        262144     float     sum      -1    512.4    2.05    2.05      0    510.0    2.06    2.06      0
[1,0]<stdout>:# Out of bounds values : 0 OK
[1,0]<stdout>:# Avg bus bandwidth    : 0.68
"""

NCCL_WITHOUT_END = """\
0: #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
0: #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
0:            8             2     float     sum      -1    69.12    0.00    0.00      0    72.43    0.00    0.00      0
0:   1073741824     268435456     float     sum      -1   4300.0  249.71  468.20      0   4290.0  250.29  469.29      0
"""

NCCL_OLD = """\
# nThread 1 nGpus 4 minBytes 33554432 maxBytes 67108864 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid    195 on   anvil01 device  0 [0x00] Tesla K80
#   Rank  1 Pid    195 on   anvil01 device  1 [0x00] Tesla K80
#   Rank  2 Pid    195 on   anvil01 device  2 [0x00] Tesla K80
#   Rank  3 Pid    195 on   anvil01 device  3 [0x00] Tesla K80
#
#                                                       out-of-place                       in-place
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
    33554432       8388608     float     sum    19860    1.69    2.53  2e-07    19860    1.69    2.53  2e-07
    67108864      16777216     float     sum    39710    1.69    2.53  2e-07    39720    1.69    2.53    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 2.53
"""

NCCL_PER_ITERATION = """\
# Collective test starting: all_gather_perf
#  Rank  0 Group  0 Pid  1 on  anvil01 device  0 [0009:01:00] H100
#  Rank  1 Group  0 Pid  2 on  anvil02 device  0 [0009:01:00] H100
#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%            timestamp
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%)     (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%)  %Y-%m-%d %H:%M:%S
     1048576        131072     float    none      -1   100.00   10.49    5.24       0    95.10   120.20   119.90     4.10   105.00    9.99    4.99       0    96.10   121.20   119.90     4.20  2026-01-02 03:04:05
# Out of bounds values : 0 OK
"""

NCCL_JSON = """\
{"version":2,"start_time":"2026-01-02 03:04:05","args":["\\/home\\/ada\\/build\\/all_reduce_perf","-b","1M","-J","out.json"],\
"env":["SECRET_TOKEN=hunter2","NCCL_PROTO=Simple","HOME=\\/home\\/ada","FI_PROVIDER=efa"],"nccl_version":22803,\
"config":{"nthreads":1,"ngpus":1,"validation":1,"devices":[\
{"rank":0,"group":0,"pid":21,"hostname":"anvil01","device":0,"device_hex":"0009:01:00","device_info":"NVIDIA H100"},\
{"rank":1,"group":0,"pid":22,"hostname":"anvil02","device":0,"device_hex":"0009:01:00","device_info":"NVIDIA H100"}]},\
"results":[{"size":1048576,"count":262144,"type":"float","redop":"sum","root":"    -1",\
"out_of_place":{"time":339.610000,"alg_bw":3.087589,"bus_bw":3.087589,"nwrong":0.000000},\
"in_place":{"time":335.850000,"alg_bw":3.122156,"bus_bw":3.122156,"nwrong":null},"actual_iterations":20,"experiment_name":""},\
{"size":2097152,"count":524288,"type":"float","redop":"sum","root":"    -1","out_of_place":null,\
"in_place":{"time":361.770000,"alg_bw":5.796921,"bus_bw":5.796921,"nwrong":3.000000},"actual_iterations":20,"experiment_name":""}],\
"out_of_bounds":{"count":3,"okay":"false"},"average_bus_bandwidth":{"bandwidth":4.0,"okay":"unchecked"},"end_time":"2026-01-02 03:05:05"}
"""

OSU_BANDWIDTH = """\
$ srun -N2 --mpi=pmix --environment=omb-ompi ./pt2pt/osu_bw --validation D D
# OSU MPI-CUDA Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)        Validation
1                       0.90              Pass
1048576             23881.02              Pass
4194304             23989.54              Fail
"""

OSU_LATENCY = """\
[anvil][ada@anvil-login1 ~]$ mpirun -H anvil01,anvil02 -x LD_LIBRARY_PATH=/home/ada/lib -x UCX_IB_GPU_DIRECT_RDMA=0 -np 2 c/mpi/pt2pt/osu_latency -d cuda D D
# OSU MPI-CUDA Latency Test v7.2
# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)
# Size          Latency (us)
# Datatype: MPI_CHAR.
1                         4.32
1048576                 166.81
"""

OSU_ALLTOALL = """\
$ srun -N2 --ntasks-per-node=4 ./collective/osu_alltoall
# OSU MPI All-to-All Personalized Exchange Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                      12.46             11.00             14.00        1000
1048576               519.85            500.00            530.00         100
"""

OSU_ALLREDUCE = """\
# OSU MPI Allreduce Latency Test v7.5
# Datatype: MPI_INT.
# Size       Avg Latency(us)        Validation
4                       9.87              Pass
1048576               240.00              Pass
"""

OSU_OVERLAP = """\
$ srun -n4 osu_iallreduce -d cuda
# OSU MPI-CUDA Non-blocking Allreduce Latency Test v7.5
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Datatype: MPI_INT.
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
4                      30.00             14.00             15.50             96.00
"""

OSU_CRASHED = """\
$ srun -n4 osu_iallreduce -d cuda
# OSU MPI-CUDA Non-blocking Allreduce Latency Test v7.5
# Datatype: MPI_INT.
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
[anvil01:31808] *** Process received signal ***
[anvil01:31808] Signal: Segmentation fault (11)
srun: error: anvil01: task 0: Segmentation fault (core dumped)
"""

HCCL = """\
HCCL demo test command line:
HCCL_DEMO_TEST=all_reduce HCCL_COMM_ID=10.1.2.3:5555 HCCL_NRANKS=8 HCCL_RANKS_PER_NODE=4 HCCL_OVER_OFI=1 ./hccl_demo
rank=3 size=33554432 <float> Input Buffer [3 11 19 27 ...] Output Buffer [28 92 156 220 ...] which is fine.
##########################################################################################
[BENCHMARK] hcclAllReduce(dataSize=33554432, count=8388608, dtype=float, iterations=1000)
[BENCHMARK]     NW Bandwidth   : 175.000000 GB/s
[BENCHMARK]     Algo Bandwidth : 100.000000 GB/s
##########################################################################################
"""
HCCL_README = """\
[BENCHMARK] hcclAllReduce(src!=dst, count=8388608, dtype=float, iterations=1000)
[BENCHMARK]     NW Bandwidth     : 175.000000 GB/s
[BENCHMARK]     Algo Bandwidth   : 100.000000 GB/s
"""
HCCL_OPENSHIFT = """\
[BENCHMARK] hcclReduceScatter(src!=dst, data_size=33554432, count=8388608, dtype=float, iterations=1000)
[BENCHMARK]     NW Bandwidth   : 87.500000 GB/s
[BENCHMARK]     Algo Bandwidth : 100.000000 GB/s
"""
HCCL_DOCS = """\
[BENCHMARK] hcclAllReduce(src!=dst, InputSizeInBytes=268435456,
            count=67108864, dtype=float, iterations=1000)
[BENCHMARK]     NW Bandwidth   : 175.000000 GB/s
[BENCHMARK]     Algo Bandwidth : 100.000000 GB/s
[BENCHMARK]     Time           : 2.684355 seconds
"""
HCCL_2022 = """\
HCCL_COMM_ID=127.0.0.1:5555 HCCL_OVER_TCP=0 python3 run_hccl_demo.py --nranks 8 --node_id 0 --size 32m --test all_reduce --ranks_per_node 4
[BENCHMARK] hcclAllReduce(src!=dst, count=8388608, dtype=fp32, iterations=1000)
[BENCHMARK]     Bandwidth     : 175000.0 MB/s
"""
HCCL_LATENCY = """\
[BENCHMARK] hcclBroadcast(src!=dst, dataSize=1024, count=256, dtype=float, iterations=1000)
[BENCHMARK]     Host Latency   : 0.123456 ms
[BENCHMARK]     Device Latency : 0.100000 ms
"""
HCCL_RANGE = """\
Processing data_size 33554432
Processing data_size 67108864
[BANDWIDTH SUMMARY REPORT]
(src!=dst, collective=all_reduce, iterations=100)

size              count             type              redop             time              algoBW            nw_bw
(B)               (elements)                                            (ms)              (GB/s)            (GB/s)
33554432          8388608           float             sum               0.335544 ms       100.000000 GB/s   175.000000 GB/s
67108864          16777216          float             sum               0.600000 ms       110.000000 GB/s   192.500000 GB/s
"""
HCCL_RANGE_OLD = """\
[SUMMARY REPORT]
(src!=dst, collective=all_gather, iterations=100)

size              count             type              time              algo_bw           nw_bw
(B)               (elements)                          (ms)              (GB/s)            (GB/s)
33554432          8388608           float             0.335544 ms       100.000000 GB/s   700.000000 GB/s
"""
HCCL_CSV = """\
all_reduce,0,float,33554432,1000,"175.000000 GB/s","100.000000 GB/s"
all_reduce,1,float,33554432,1000,"140.000000 GB/s","80.000000 GB/s"
"""

NCCOM = """\
$ NEURON_RT_ROOT_COMM_ID=10.1.4.145:45654 nccom-test -r 64 -N 2 -b 1MB -e 1GB -f 32 -d fp32 allr --hosts anvil01 anvil02
       size(B)    count(elems)    type    time(us)    algbw(GB/s)    busbw(GB/s)
       1048576          262144    fp32        1328           0.74           1.45
      33554432         8388608    fp32        2711          11.53          22.69
    1073741824       268435456    fp32       41806          23.92          47.09
Avg bus bandwidth:      23.7433GB/s
"""
NCCOM_SIZES = """\
nccom-test -r 32 --datatype fp32 --check allg --show-input-output-size
    size(B)    count(elems)    total_input_size(B)    total_output_size(B)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)
       1024             256                     32                    1024    fp32            6.16           0.17           0.16
      65536           16384                   2048                   65536    fp32             8.2           7.99           7.74
     524288          131072                  16384                  524288    fp32           23.16          22.64          21.93
Avg bus bandwidth:      9.9433GB/s
"""

INSPECTOR = "\n".join(
    f'{{"header":{{"id":"0x7f8c","rank":{rank},"n_ranks":16,"nnodes":2}},"metadata":{{"inspector_output_format_version":"v4.0",'
    f'"git_rev":"","rec_mechanism":"profiler_plugin","dump_timestamp_us":1748030377748202,"hostname":"anvil0{1 + rank // 8}","pid":16394}},'
    f'"coll_perf":{{"coll":"{name}","coll_sn":{place},"coll_msg_size_bytes":{size},"coll_exec_time_us":{us},"coll_timing_source":"kernel_gpu",'
    f'"coll_algobw_gbs":{size / us / 1e3:.6f},"coll_busbw_gbs":{size / us / 1e3 * factor:.6f}}}}}'
    for rank in (0, 8)
    for place, (name, size, us, factor) in enumerate(
        (
            ("AllReduce", 67108864, 1210, 1.875),
            ("AllGather", 16777216, 350, 0.9375),
            ("AllReduce", 67108864, 1190, 1.875),
        )
    )
)

NCCL_COLL = "\n".join(
    f"anvil01:290{device}:290{device} [{device}] NCCL INFO {name}: opCount {place:x} sendbuff 0x7f8bccf79600 recvbuff 0x7f8bccf79600 "
    f"count {count} datatype {dtype} op 0 root 0 comm 0xaef8a00 [nranks=16] stream 0xac16b80"
    for place, (name, count, dtype) in enumerate(
        (
            ("AllGather", 524288, 9),
            ("AllReduce", 16777216, 7),
            ("ReduceScatter", 524288, 9),
            ("AllReduce", 1, 8),
        )
    )
    for device in (0, 1)
)

PERFTEST = """\
$ ib_write_bw -d mlx5_0 -F --report_gbits -s 65536 10.0.0.2
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 1\t\tTransport type : IB
 Mtu             : 4096[B]
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      5000             392.11             391.98             0.747643
---------------------------------------------------------------------------------------
"""
PERFTEST_LATENCY = """\
                    RDMA_Write Latency Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 2       1000          1.64           4.13         1.67               1.68           0.04            1.81                   4.13
 4       1000          1.64           4.10         1.68               1.69           0.04            1.82                   4.10
"""

GOOD = {
    name: text
    for name, text in sorted(globals().items())
    if isinstance(text, str) and name.isupper() and name != "OSU_CRASHED"
}
"""Every log that has figures, by its name here."""

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
