"""What library and transport do with a question, in words and as a sweep's columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from peerlab.base.units import say_bytes
from peerlab.library.library_laws import MessagesLaw
from peerlab.model.collective import AUTO

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

LIBRARY_FIGURES = (
    "library",
    "algorithm",
    "protocol",
    "chunk_bytes",
    "library_does",
    "transport",
    "mtu_bytes",
    "goodput",
)
"""Keys of `Scenario.library_figures`."""


@dataclass(frozen=True, kw_only=True)
class LibraryWords:
    """What a library does with a message, in parts that each place joins as it has room.

    >>> words = LibraryWords(who="NCCL 2.19 over EFA", does=("tree", "Simple"), chunk="128 KiB")
    >>> str(words), words.short
    ('NCCL 2.19 over EFA: tree, Simple, chunks of 128 KiB', 'tree, Simple, 128 KiB')
    """

    who: str = ""
    """Library, version and transport; empty where its law says nothing here."""
    does: tuple[str, ...] = ()
    """Algorithm, protocol and how it cuts a transfer, as far as it decides them."""
    chunk: str = ""
    """Size of the chunks that it chooses; empty where it chooses none."""
    alone: str = ""
    """What is simulated without it, where its law says nothing."""
    because: str = ""
    """Why."""

    @property
    def what(self) -> str:
        """What the library does with the question, without its name."""
        return ", ".join((*self.does, *([f"chunks of {self.chunk}"] if self.chunk else ())))

    @property
    def short(self) -> str:
        """The same in few words."""
        if self.chunk:
            return ", ".join((*self.does, self.chunk))
        return f"{self.who.split()[0]}: {self.what}" if self.does else self.who or self.alone

    def __str__(self) -> str:
        if self.alone:
            return f"{self.alone}, because {self.because}"
        return f"{self.who}: {self.what}" if self.does else self.who


def words_of(question: "Scenario") -> LibraryWords:
    """Return what the library does with the question's message; empty without a library."""
    library, choice = question.used_library, question.choice
    if choice:
        if question.slice_bytes == AUTO:
            return LibraryWords(who=choice.library, does=choice.does, chunk=choice.chunk)
        size = question.slice_bytes
        cut = "transfers whole" if size is None else f"slices of {say_bytes(int(size))}, as set"
        return LibraryWords(who=choice.library, does=(*choice.does, cut))
    if library is None:
        return LibraryWords()
    if question.algorithm_record.in_network:
        return LibraryWords(alone="a what-if", because=f"{library.title} has no {question.algorithm!r}")
    if not question.law.serves(question):
        mpi = (
            f"; for a program over MPI ask for library {library.mpi}"
            if library.mpi and question.collective in MessagesLaw.collectives
            else ""
        )
        return LibraryWords(
            alone="topology alone", because=f"what {library.title} adds to it is not modelled{mpi}"
        )
    version = f"{question.library_number // 100}.{question.library_number % 100}"
    return LibraryWords(who=f"{library.title} {version}", does=question.law.does(question))


def chosen_otherwise(before: "Scenario", after: "Scenario") -> str:
    """Say what the library would choose in a what-if, where that is something else: a faster part may then gain less, or lose."""
    was, now = before.choice, after.choice
    return f"the library would choose {', '.join(now.does)}" if was and now and was.does != now.does else ""


def figures_of(question: "Scenario") -> dict[str, str | float | None]:
    """Return what library and transport were used, ``auto`` resolved, by `LIBRARY_FIGURES`; None where there is no such thing."""
    course = question.choice.course if question.choice else None
    sends = question.domains > 1 and not question.collective_record.is_message
    cut = course.chunk if course and question.slice_bytes == AUTO else question.slice_bytes
    values = (
        question.hardware.library,
        course.algorithm if course else question.schedule_name if sends else None,
        course.protocol if course else None,
        cut if course else None,
        question.library_says or None,
        *question.transport_figures,
    )
    return dict(zip(LIBRARY_FIGURES, values, strict=True))
