"""Whether a communication library runs on a cluster at all: by the maker of its accelerators, and by its network."""

import re
from typing import TYPE_CHECKING

from peerlab.library.library_files import known_libraries, load_library, serving
from peerlab.library.library_record import Library
from peerlab.model.hardware import Cluster

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

_MAKERS = {
    "Habana": re.compile(r"Gaudi"),
    "AMD": re.compile(r"MI\d"),
    "NVIDIA": re.compile(r"(?:RTX|GH|GB|[TVALHB])\d"),
}
"""How the names of a maker's accelerators begin; of others nothing is said."""
_ANY = "sockets"
"""The transport that every network has."""


def misfit_of(library: Library | None, cluster: Cluster) -> str:
    """Return as a sentence why a library does not run on a cluster; empty where it may, or nobody can know."""
    if library is None:
        return ""
    maker = next((key for key, names in _MAKERS.items() if names.match(cluster.device_name)), "")
    if library.maker and maker and library.maker != maker:
        return f"{library.title} does not run on {cluster.device_name}: read it as a what-if."
    # of a library that somebody wrote himself the transport is not known by its name
    own = load_library(cluster.library) if cluster.library in known_libraries() else None
    if own and library.name in known_libraries() and library.transport not in (own.transport, _ANY):
        return f"{cluster.title} has {own.title}, and another network than {library.title}: read it as a what-if."
    return ""


def misfit_of_asked(question: "Scenario") -> str:
    """Return why the library that a question names is none for its machine, or does nothing there; empty if it names none, or one that fits."""
    if question.library is None:
        return ""
    library = serving(question.library, str(question.path))
    if library and question.why_unserved:
        return f"{library.title} serves no {question.path!r}, because {question.why_unserved}."
    return misfit_of(library, question.given_cluster)
