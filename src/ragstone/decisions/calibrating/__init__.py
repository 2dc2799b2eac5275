"""Calibrating: can the judge be trusted? Imported file by file.

calibrate     the decision: is the judge right, and what becomes of its numbers
labelled_run  a run beside what people said of some of its examples
correction    a metric's mean by the judge, by labels, and by both
checks        one column of a judge's words against people's
people        the scores of metrics where people take the judge's place
units         a judge's words in the shape of labels
repeats       how often a judge that is asked again says something else
identity      what makes a judge the one that was checked
passport      what is known of it, and until when
"""
