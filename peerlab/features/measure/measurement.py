"""`peerlab.measure`: a measurement from beginning to end."""

from collections.abc import Callable, Iterable

from peerlab.base.errors import Cancel
from peerlab.features.measure.schedule import (
    DEFAULT_RANKS,
    DEFAULT_SIZES,
    SLICE_BYTES,
    Measurement,
)
from peerlab.features.measure.stream import Progress, Stream
from peerlab.records import Records


def measure(
    *,
    ranks: int | Iterable[int] = DEFAULT_RANKS,
    sizes: int | str | Iterable[int | str] = DEFAULT_SIZES,
    arms: str | Iterable[str] | None = None,
    registrations: str | Iterable[str] | None = None,
    repetitions: int = 7,
    slice_bytes: int | str = SLICE_BYTES,
    pins: str | None = None,
    memory: str = "host",
    on_progress: Callable[[Progress], None] | None = None,
    cancel: Cancel | None = None,
) -> Records:
    """Run real AllReduces on this machine, over several data paths, and return what they took.

    Each rank is a process of its own. With ``memory="host"`` "device memory" is memory that they share, so the neighbour's can be
    written to: there is no NIC, no PCIe and no wire in it. With ``memory="cuda"`` it is that of NVIDIA GPUs, which ranks share where
    they are more: there is PCIe, no NIC and no wire. The ratios between the arms are real, the absolute figures are this machine's.

    Parameters
    ----------
    ranks:
        Numbers of processes, 2 to 32.
    sizes:
        Message sizes, bytes or text such as ``"1 MiB"``; multiples of 4 B (float32).
    arms:
        Data paths: ``staged`` (through bounce buffers and TCP), ``tcp``, ``staged-shm`` (bounce buffers without TCP), ``direct`` (into
        the neighbour's memory), ``cma`` (the same through the kernel, where it is allowed). Of GPUs: ``staged`` (through pinned host
        memory and TCP), ``staged-pageable`` (ordinary host memory), ``direct`` (one copy into the neighbour's memory).
    registrations:
        What the arm that registers is measured with, `direct` unless `pins` names another: ``none``, ``per-transfer``, ``lru`` or ``lru:2`` (a cache and the regions it keeps), ``null`` (its
        code without pinning). Default: all of them, at sizes that the locked-memory limit allows; named ones are tried at every size.
    repetitions:
        Of everything, after one that does not count. Each has an order of its own.
    slice_bytes:
        Most that is copied or sent at once; bytes or text, a multiple of 4 B.
    pins:
        How regions are registered: ``mlock`` (default), an emulation, or ``io_uring``, where the kernel allows it. Of GPUs:
        ``dma-buf`` (default), which exports GPU memory, or ``host-register``, by which the driver pins that of ``staged-pageable``.
    memory:
        Whose memory messages lie in: ``host`` or ``cuda``, which needs ``pip install 'peerlab[cuda]'`` and an NVIDIA GPU.
    on_progress:
        Is called with a :class:`~peerlab.features.measure.stream.Progress` as it goes on; new rows are in it.
    cancel:
        Stops it when set; what was measured by then is returned, with a warning.

    Raises
    ------
    MeasurementError
        If a value is impossible, there is no GPU as asked for, memory lacks or may not be registered, or a rank dies: one line
        that says which.
    """
    plan = Measurement.of(
        ranks=ranks,
        sizes=sizes,
        arms=arms,
        registrations=registrations,
        repetitions=repetitions,
        slice_bytes=slice_bytes,
        pins=pins,
        memory=memory,
    )
    with Stream(plan) as stream:
        for progress in stream:
            if on_progress:
                on_progress(progress)
            # Iterating goes on after this: what comes until the processes have ended belongs to the records.
            if cancel is not None and cancel.is_set():
                stream.cancel()
        return stream.records
