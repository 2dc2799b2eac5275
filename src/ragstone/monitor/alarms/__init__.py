"""Alarms: when answers got worse, when none come, and who is told.

rules      a rule at work on one slice: its bar, its share of the promise, its detectors
baseline   what a margin is counted from
slices     which rules are at work on which slices
closing    which sessions are over, with one score each
detecting  the detectors look at the scores that came, each once
no_data    nothing comes, nothing is judged, a rule sees no score
lifecycle  an alarm fires, goes on firing and is resolved
words      an alarm as a reason and a sentence
telling/   who is told, at least once
watch      one look at all of it, in the worker
alive      a look at the worker, in the server
"""
