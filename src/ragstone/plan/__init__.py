"""The plan: which questions the metrics and the examples need, and in which order they are put."""

from .stages import Stage, stages
from .stream import foreseen, stream

__all__ = ["Stage", "foreseen", "stages", "stream"]
