"""What follows from the store, in the worker's process.

folding     parts of traces become examples
assessing   every example by the guard's checks
sampling    which examples are drawn to be judged
judging     what is due is judged, within the budget; ``judged_run`` reads what came of it
backfill    a past window is judged, after its price was told
anchoring   a fixed set is judged again and again: whether the judge drifts
retention   what is too old, or too much, goes
forgetting  what is known of a session or a person goes
people      what people label of drawn answers becomes scores beside the judge's
summing     scores are summed up by time, for the numbers over time
status      whether everything is done
retried     a step that fails is told and tried again
"""
