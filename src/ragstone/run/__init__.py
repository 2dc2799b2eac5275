"""Runs: judging, scoring and estimating a data set, with everything saved in a folder.

What is requested
    request      the arguments of evaluate, aevaluate and forecast
    spec         what a run is going to do; from a request, or from a finished run
    settings     the part of it that run.json stores and a resumed run compares
    evaluate, forecast, rescore   the three functions that carry out a spec
What is done
    cutting      the data in shards; known_input: files that a run has read before
    evaluation   an unfinished run: its shards, counts and manifest
    streaming    blocks in the order of the data; prefetch: asking models ahead of judging
    judging      asks the judges in turn about a block; chat_judge: an LLM judge
    scoring      the tables of judged blocks, and of the shard they make
    estimating   all reported numbers; estimates: those of one metric; remarks on them
    summing      what they are made of: sums by group and cluster, in buckets; score_counts
    calls/       model calls: pacing, budget, retries, journal
    batches/     the same by a provider's batches; cluster/: shards judged by a Ray cluster
What is stored
    folder       a run's folder, with its lock and the shards of an unfinished run
    shards       its tables, in pieces; shard_ledger: which are done; blocks: where they end
    run_files    its files, read and checked: forms, fitting, written
    run          a finished run, as all other rooms read it
    corrections/   what people corrected in it, and how that is laid over it

What reads and limits a run is imported from here. What makes one is imported from its module, since
it brings every judge and metric along, and most commands read a finished run.
"""

from .calls.journal import Counts
from .calls.journal_reader import Entry
from .estimates.estimate import Estimate
from .folder.folder import Live
from .folder.run_list import Progress
from .request import Instructions, Limits
from .run import Run

__all__ = [
    "Counts",
    "Entry",
    "Estimate",
    "Instructions",
    "Limits",
    "Live",
    "Progress",
    "Run",
]
