"""Alarms: when answers got worse, when none come, and who is told.

rules      a rule at work on one slice: its bar, its share of the promise, its detectors
baseline   what a margin is counted from
slices     which rules are at work on which slices
detecting  the detectors look at the scores that came: falls and recoveries
"""
