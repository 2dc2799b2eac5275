"""Corrections: people's word over the judgements of a finished run, kept beside it.

correct            makes and undoes corrections, and asks judges about new wordings
corrected_run      a run with its corrections applied: judgements, scores, estimates
correction_checks  what a person says, against what the kind of judgement declares
apply              judgements after their corrections, and the estimates that change
correction         one correction, the units it can be about, and its store
"""
