"""The run room: judges, scores and estimates a data set, and keeps it all in a folder.

What is asked for
    request      the arguments of evaluate, aevaluate and forecast
    spec         what a run is going to do; from a request, or from a finished run
    settings     what of it run.json keeps, and a resumed run compares
    evaluate, forecast, rescore   the three that carry a spec out
What is done
    evaluation   a run under way: its blocks, what is counted, its manifest
    streaming    blocks in the order of the data; prefetch: with questions to models put before
    judging      judges in turn about one block; chat_judge: an LLM judge at work
    scoring      the tables of a judged block
    estimating   the reported numbers of all; estimates: of one metric; remarks beside them
    calls/       what is put to models: paced, paid, retried, journaled
What is kept
    folder       a run's folder, with its lock and the parts of a run under way
    run_files    its files, read and checked: forms, fitting, written
    run          a finished run, which all other rooms read
"""

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
