"""Numbers over time: how good the answers are, from moment to moment, and how sure that is.

metric_over_time  a metric in windows that follow each other, as data
page_facts        all that the first screen shows, as data
value_range       where the values of a metric lie
step_sums         the sums over scores, step by step
over_time         a metric in windows, with intervals and a confidence sequence
"""
