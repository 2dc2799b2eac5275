"""Calibrating: can the judge be trusted? Imported file by file.

calibrate     the decision: is the judge right, and the corrected numbers
labelled_run  a run together with people's labels of some examples
correction    a metric's mean from the judge, from labels, and from both
checks        one column of a judge's verdicts compared with people's
compared_units  what both people and the judge gave a verdict
people        metric scores computed from people's labels
units         a judge's verdicts in the form of labels
repeats       how often repeated verdicts differ
identity      models, prompts and plan that identify a judge
passport      the record of a check, valid until the judge changes
checked_run   who judged the metrics of a run, and what labels show about them
"""
