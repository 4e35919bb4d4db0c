"""A run and the static part of its data path's picture, drawn once for all who show or describe it."""

from dataclasses import dataclass
from functools import cached_property

from peerlab.answer.metrics import BUSY
from peerlab.answer.run import Run
from peerlab.picture.drawing import Drawing
from peerlab.picture.sketch import Sketch
from peerlab.picture.static_scene import draw


@dataclass(frozen=True, eq=False)
class Picture:
    """What the views of a run share: made once for a parcel or a still, and passed on.

    >>> picture = Picture(simulate(Scenario()))
    >>> picture.drawing is picture.sketch.drawing
    True
    """

    run: Run

    @cached_property
    def sketch(self) -> Sketch:
        """The static scene, drawn."""
        sketch = Sketch(self.run)
        draw(sketch)
        return sketch

    @property
    def drawing(self) -> Drawing:
        """What is drawn of it."""
        return self.sketch.drawing

    @cached_property
    def untold(self) -> list[str]:
        """Kinds of resources that are busy, the busiest first, and of which neither picture nor lane says so: the caption does."""
        busy = [
            kind for kind, share in self.run.busy.items() if share >= BUSY and not self.sketch.is_told(kind)
        ]
        return sorted(busy, key=lambda kind: -self.run.busy[kind])
