"""Sampling: what to label next. Imported file by file.

draw          the random draw, with a known probability for every example
designs       the ways to draw, and what each goes by
strata        the variable to stratify by
expected_width  expected width of the mean's interval, by design
disagreement  where judges disagree
annotators    assignment of examples to annotators, with overlap
label_sheet   the sheet that people fill in
"""
