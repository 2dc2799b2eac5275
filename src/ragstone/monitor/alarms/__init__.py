"""Alarms: when answers got worse, when none come, and the notifications about it.

watch          one look at everything, in the worker; and at the worker, in the server
slice_rules    a rule on a slice: its bar, its share of the promise, its detectors
detectors      look at the scores that came, each once
lifecycle      an alarm fires, goes on firing and is resolved; an alarm as a sentence
notifications  messages about alarms, sent at least once
"""
