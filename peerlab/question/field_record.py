"""What a field of a scenario is: what it may hold, its option, its control in the lab and on pages, and what sets it back."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from peerlab.base.checks import check_switch, checked_word
from peerlab.base.errors import ScenarioError
from peerlab.base.units import parse_bytes, say_bytes
from peerlab.model.collective import AUTO

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

Read = Literal["text", "number", "fraction", "slice size", "switch", "slow node", "slow part"]
"""How an option's text is read, before the scenario reads it."""


@dataclass(frozen=True, kw_only=True)
class CommandOption:
    """The option of a command."""

    help: Callable[[], str]
    """What ``--help`` says; ``{usual}`` stands for what the command takes where nobody gives it."""
    name: str = ""
    """Where it is not called as the field is, such as ``--slice``."""
    metavar: str = ""
    """What stands for the value; empty: the field's name."""
    read: Read = "text"
    """How its text is read."""
    needs: Collection[str] = ()
    """Fields of which it needs one: without all of them the option would change nothing."""


@dataclass(frozen=True, kw_only=True)
class Control:
    """A control of the lab's panel *More*."""

    label: str
    """What stands before it."""
    name: str
    """Of the control, in its style class and in `Rare`; of a field that nobody else knows: the field's own."""
    tip: str = ""
    """What is said where the mouse rests on it."""
    empty: str = ""
    """What stands in an empty text field, for the default; empty: it is a list."""
    usual: Any = None
    """What a text field without text stands for."""
    options: Callable[[], Collection[tuple[str, Any]]] = tuple
    """What a list offers, each with its value."""
    number: Literal["whole", "fraction", ""] = ""
    """What number the text is; empty: it is a word or a size."""
    group: Literal["library", "fabric", "registration", "trouble"] = "library"
    """Under which heading of *More* it stands."""
    place: float = 100
    """Where it stands, the smallest number first."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a scenario."""

    title: str = ""
    """What a control of a page calls it; empty: its name, in words."""
    size: bool = False
    """Whether it holds bytes, as a number or as text."""
    whole: tuple[int, int] | None = None
    """From where to where a whole number may lie; None: it holds no such number."""
    words: Collection[str] | None = None
    """Words, of which the field holds one."""
    words_of_some: Collection[str] = ()
    """Words that it may hold on some clusters only; a scenario says on which."""
    for_each_node: bool = False
    """Whether whole numbers in a tuple are one value of it, a number for each node, and not several values."""
    among: Collection[int] | None = None
    """Sizes, of which the field holds one."""
    switch: bool = False
    """Whether it is on or off."""
    never_none: bool = False
    """Whether a whole number has to be there."""
    may_be_auto: bool = False
    """Whether ``auto`` may stand for a whole number."""
    types: tuple[type, ...] = ()
    """What it may be given beside text and numbers; who else reads it has words for what is wrong."""
    option: CommandOption | None = None
    """Its option; None: it has none."""
    control: Control | None = None
    """Its control in *More*; None: another part of the lab shows it, or nothing does."""
    page_word: str = ""
    """What the controls of a page call it, too."""
    page_unit: str = ""
    """What a page's control counts, behind a number."""
    by_powers: bool = False
    """Whether a page's control from one number to another goes by powers of two."""
    switches: bool = False
    """Whether two values of it are a switch on a page, and no list."""
    rests: "Callable[[Scenario], bool]" = lambda _: False
    """Whether it changes nothing in a scenario, so that its control is disabled."""
    of_cluster: bool = False
    """Whether what was chosen is of one cluster only: another one sets it back."""
    follows: str = ""
    """The field whose change sets it back, as a library's version goes with the library."""

    def checked(self, name: str, value: Any) -> Any:
        """Return a value as the scenario holds it.

        Raises
        ------
        ScenarioError
            If the field cannot hold it: one line with the field, its value and what is allowed.
        """
        # text becomes bytes first; then the bounds of a whole number hold for it
        if self.size:
            value = _size(name, value)
        if self.whole:
            value = self._whole(name, value, *self.whole)
        if self.words is not None:
            value = checked_word(name, value, self.words)
        if self.switch:
            check_switch(name, value)
        if self.among is not None and value not in self.among:
            raise ScenarioError(
                name, f"{value!r} is not a page size; use {', '.join(map(say_bytes, self.among))}"
            )
        return value

    def check_kind(self, name: str, value: object) -> None:
        """Refuse what no field takes, before anybody compares it or writes it out."""
        # what most fields hold; to ask whether something is `Integral` takes longer
        if value is None or isinstance(value, (str, float)):
            return
        # Before any comparison: `==` with an array or a table is no truth value, and its repr may be huge.
        if not isinstance(value, (int, Integral, *self.types)):
            raise ScenarioError(name, f"a value of type {type(value).__name__!r} is not possible here")
        if isinstance(value, (int, Integral)) and abs(int(value)) > 10**30:
            raise ScenarioError(name, "a number of more than 30 digits is out of range")

    def _whole(self, name: str, value: Any, low: int, high: int) -> Any:
        """Return an integer of Python's own, or None or ``auto`` where the field may hold that."""
        if (value is None and not self.never_none) or (value == AUTO and self.may_be_auto):
            return value
        allowed = (
            f"{low} or more, at most {say_bytes(high)}"
            if name.endswith("_bytes")
            else f"a whole number from {low} to {high}"
        )
        # numpy's integers have `__index__`, and so has True
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise ScenarioError(name, f"{value!r} is not {allowed}")
        if not low <= value <= high:
            raise ScenarioError(name, f"{value} is out of range; give {allowed}")
        # Python's own int, so that it is written into files as any other
        return value.__index__()


def _size(name: str, value: Any) -> Any:
    """Return bytes; None and ``auto`` stay what they are."""
    if value is None or value == AUTO:
        return value
    try:
        return parse_bytes(value)
    except ValueError as problem:
        raise ScenarioError(name, str(problem)) from None
