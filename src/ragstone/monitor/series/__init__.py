"""Numbers over time: how good the answers are, from moment to moment, and how sure that is.

metric_over_time  a metric in windows that follow each other, as data
page_facts        all that the first screen shows, as data
value_range       where the values of a metric lie
time_grid         the steps in time at which windows end
step_sums         the sums over scores, step by step
over_time         a metric in windows, with intervals and a confidence sequence
stretch           a metric over one stretch of time
against           a stretch beside what was before, however often one looks
baseline_run      what was before in a finished run
deploys           a metric before and after a deploy
corrected_now     a metric corrected by people's labels
features          what of an answer's inputs and outputs may drift
sessions_over_time  figures of whole conversations, in windows
drift             whether these are still what they were
judge_drift       whether a judge says of the same answers what it said at first
monitored         all that the first screen shows
"""
