"""Packages that only an extra of peerlab brings: whoever lacks one is told in a line what to install."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from peerlab.base.errors import MissingPackage

EXTRAS = {
    "lab": (
        "anywidget", "bokeh", "ipywidgets", "traitlets", "IPython", "jupyterlab", "jupyterlab_server", "jupyter_core",
        "markdown_it", "mdit_py_plugins", "yaml",
    ),
    "mpi": ("mpi4py",),
    "dask": ("distributed", "dask"),
    "app": ("voila",),
    "compiled": ("numba",),
    "cuda": ("cuda", "cuda.bindings"),
    "video": ("imageio_ffmpeg",),
}  # fmt: skip
"""The modules that each extra of pyproject.toml brings, of those that peerlab imports."""


@contextmanager
def extra_needed(what: str) -> Iterator[None]:
    """Say which extra is missing if a module of one is not there.

    Parameters
    ----------
    what:
        Who needs it, such as ``"peerlab deck"``.

    Raises
    ------
    MissingPackage
        If a module of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        # a package that is there but lacks a part of itself is broken, not missing: its own error says more
        for extra, modules in EXTRAS.items():
            if problem.name in modules:
                raise MissingPackage(f"{what} needs {problem.name}: pip install 'peerlab[{extra}]'") from None
        raise


def check_installed(what: str, module: str) -> None:
    """Refuse work that a missing module would make vain; it is not loaded.

    Raises
    ------
    MissingPackage
        If it is not installed.
    """
    with extra_needed(what):
        # looked for and not imported: importing some of them takes seconds
        if find_spec(module) is None:
            raise ModuleNotFoundError(name=module)
