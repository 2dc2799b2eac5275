"""The plan: which questions the metrics and the examples need, and in which order they are put."""

from .foreseen import foreseen
from .stages import Stage, stages

__all__ = ["Stage", "foreseen", "stages"]
