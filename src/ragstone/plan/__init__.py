"""The plan: which questions the metrics and examples need, and in what order they are asked."""

from .foreseen import foreseen
from .stages import Stage, stages

__all__ = ["Stage", "foreseen", "stages"]
