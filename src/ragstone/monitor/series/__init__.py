"""Numbers over time: how good the answers are, from moment to moment, and how sure that is.

metric_over_time  a metric in windows, with intervals and a confidence sequence
baselines         a metric beside an earlier window, a run or a deploy; the bars of alarm rules
drift             whether inputs, outputs and the judge are still what they were
overview          all that the first screen shows; figures of whole conversations
"""
