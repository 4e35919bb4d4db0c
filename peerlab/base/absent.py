"""A package that is not here, as in a browser tab: its names may stand in types, and whoever calls one is told in words."""

from typing import Any


class Absent:
    """A package, or a name of one.

    >>> Absent("pandas").DataFrame({})
    Traceback (most recent call last):
    NotImplementedError: pandas.DataFrame needs pandas, which is not here
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Absent":
        # Python asks any object for such names, as in copying, and takes "no" for an answer
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}")

    def __getitem__(self, _: object) -> "Absent":
        return self

    def __or__(self, _: object) -> "Absent":
        return self

    __ror__ = __or__

    def __call__(self, *_: object, **__: object) -> Any:
        """Say what is missing."""
        raise NotImplementedError(f"{self._name} needs {self._name.partition('.')[0]}, which is not here")
