"""The referee: the physics told as SimPy processes, slow and plain; every other engine equals it or refuses."""
