"""Runs: judging, scoring and estimating a data set, with everything saved in a folder.

    evaluate, evaluate_one, rescore, forecast   the functions that users call
    run          a finished run, as all other packages read it
    corrections/ people's corrections of its judgements, and the run with them applied
    batches/     model calls by a provider's batches
    ray_engine/  shards judged by the workers of a Ray cluster
    run_plan     looks up and opens everything that a request needs
    request      the arguments of evaluate, aevaluate and forecast, checked
    judging/     the data in shards, judges and their models, tables of judged blocks
    estimates/   from scores to means with intervals
    run_spec     what a run is going to do: its settings, metrics, judges and models
    folder/      the files of a run: written, locked, checked and read
    calls/       model calls: pace, budget, retries and journal
    settings     settings as in run.json, limits on model calls, the quick suite's choice

A module imports those below it, never above. What reads and limits a run is imported from here.
What makes one is imported from its module, since it brings every judge and metric along, and most
commands read a finished run.
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
