"""The run room: judges, scores and estimates a data set, and keeps it all in a folder."""

from .calls.counts import Counts
from .calls.entries import Entry
from .estimate import Estimate
from .evaluate import aevaluate, evaluate
from .instructions import Instructions
from .judging import JudgedBlock, judge_block
from .limits import Limits
from .live import Live
from .progress import Progress
from .rescore import rescore
from .run import Run

__all__ = [
    "Counts",
    "Entry",
    "Estimate",
    "Instructions",
    "JudgedBlock",
    "Limits",
    "Live",
    "Progress",
    "Run",
    "aevaluate",
    "evaluate",
    "judge_block",
    "rescore",
]
