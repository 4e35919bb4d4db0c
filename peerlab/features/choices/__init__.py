"""Which algorithm and protocol a library takes, by size and nodes, and where another would be faster: `choices`."""

from peerlab.features.choices.choice_map import ChoiceMap, MapCell
from peerlab.features.choices.mapping import choices

__all__ = ["ChoiceMap", "MapCell", "choices"]
