"""The run room: judges, scores and estimates a data set, and keeps it all in a folder."""

from .estimate import Estimate
from .evaluate import aevaluate, evaluate
from .judging import JudgedBlock, judge_block
from .progress import Progress
from .rescore import rescore
from .run import Run

__all__ = [
    "Estimate",
    "JudgedBlock",
    "Progress",
    "Run",
    "aevaluate",
    "evaluate",
    "judge_block",
    "rescore",
]
