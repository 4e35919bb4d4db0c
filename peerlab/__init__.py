"""See where the bytes of an AllReduce go, and what each detour costs.

>>> import peerlab
>>> s = peerlab.Scenario(cluster="dl1", nodes=8, path="peer-direct", message_bytes="64 MiB")
>>> peerlab.simulate(s)
Run(dl1, 8 nodes, peer-direct, allreduce of 64 MiB: 2.45 ms, busbw 53.9 GB/s, NIC send 96% busy)
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from peerlab.engine.run import simulate
from peerlab.errors import PeerlabError
from peerlab.model.hardware import Cluster
from peerlab.model.presets import known_clusters, load_cluster
from peerlab.model.registration import RegistrationCache
from peerlab.model.scenario import Scenario
from peerlab.records import Records, load
from peerlab.run import Run
from peerlab.study.calibration import calibrate
from peerlab.study.diagnosis import diagnose
from peerlab.study.sweep import sweep
from peerlab.version import __version__

if TYPE_CHECKING:
    from peerlab.app.explorer import Explorer
    from peerlab.app.predict import Prediction


def explore(scenario: Scenario | None = None, **fields: Any) -> "Explorer":
    """Return the live lab for a scenario, to be shown in a notebook; see :func:`peerlab.app.explorer.explore`."""
    show: Callable[..., Explorer] = _from_lab("peerlab.app.explorer", "explore")
    return show(scenario, **fields)


def predict(
    question: str, answers: Sequence[float], truth: Callable[[], float], unit: str = "x"
) -> "Prediction":
    """Return a question for a notebook whose answer is simulated; see :func:`peerlab.app.predict.predict`."""
    ask: Callable[..., Prediction] = _from_lab("peerlab.app.predict", "predict")
    return ask(question, answers, truth, unit)


def _from_lab(module: str, name: str) -> Any:
    """Return a function of the lab; widgets and Bokeh are an extra, and slow to load."""
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as problem:
        if problem.name and problem.name.partition(".")[0] == "peerlab":
            raise
        raise PeerlabError(f"the lab needs {problem.name}: pip install 'peerlab[lab]'") from None


__all__ = [
    "Cluster",
    "PeerlabError",
    "Records",
    "RegistrationCache",
    "Run",
    "Scenario",
    "__version__",
    "calibrate",
    "diagnose",
    "explore",
    "known_clusters",
    "load",
    "load_cluster",
    "predict",
    "simulate",
    "sweep",
]
