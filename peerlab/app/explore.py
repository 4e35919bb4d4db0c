"""`peerlab.explore()`, the lab from one line in a notebook; a cell that runs again closes the widget of its last run."""

from collections.abc import Sequence
from typing import Any

from peerlab.app.explorer import Explorer
from peerlab.question.scenario import Scenario, checked_scenario
from peerlab.records import Records, checked_records

_open: dict[str, Explorer] = {}


def explore(
    scenario: Scenario | None = None, *, records: Records | Sequence[Records] = (), **fields: Any
) -> Explorer:
    """Return the live lab for a scenario, to be shown in a notebook.

    Parameters
    ----------
    scenario:
        Where to start; by default a DL1 cluster of 8 nodes, through host memory.
    records:
        Measurements of your own, as of `peerlab.load`, to lie on the curves where they fit. Without a scenario the lab starts
        where the first of them was taken, if that is recognised.
    fields:
        Fields of a `Scenario` to start with, instead of or on top of `scenario`.

    Raises
    ------
    PeerlabError
        If the scenario is impossible.
    """
    several: Sequence[object] = records if isinstance(records, list | tuple) else [records]
    given = [checked_records(each, "records") for each in several]
    start = Scenario(**fields) if scenario is None else checked_scenario(scenario).with_(**fields)
    if given and scenario is None and not fields:
        from peerlab.app.panels.log_findings import start_of  # noqa: PLC0415

        start = start_of(given[0], start)
    explorer = Explorer(start, given)
    cell = _cell()
    if cell:
        _replace(_open.get(cell), explorer)
        _open[cell] = explorer
    return explorer


def _replace(old: Explorer | None, new: Explorer) -> None:
    """Replace the widget that a cell showed by its new one.

    The old widgets stay until the page shows the new ones. A page that was just reloaded may still be restoring them; JupyterLab's
    widget manager forgets what is closed meanwhile, and then cannot find the parts of what is left.
    """
    if old is None:
        return
    old.rest()
    old.figures.seen()  # what the old widget was to close, had a page shown it
    new.figures.when_seen(old.close)


def _cell() -> str:
    """Return the id of the notebook cell that runs now, or nothing outside of a notebook."""
    from IPython import get_ipython  # noqa: PLC0415  (part of the lab extra)

    shell = get_ipython()
    parent: dict[str, Any] = getattr(shell, "get_parent", dict)() if shell else {}
    return str(parent.get("metadata", {}).get("cellId", ""))
