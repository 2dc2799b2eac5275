"""Corrections: what people corrected in a finished run, kept beside it and laid over it.

correction         a person's word over a judgement, the units it can be about, and its store
correction_checks  what a person says, against what the kind declares
apply              the judgements and estimates of a run after people's corrections
corrected_run      a run as its judges left it, as people's word leaves it, and at one moment
correct            correcting, and taking it back, which is what ``Run`` calls
"""
