"""Sampling: what to label next. Imported file by file.

draw          the draw, with a known chance for every example
designs       the ways to draw, and what each goes by
strata        what it is stratified by
expected_width  how wide the interval of the mean will be, design by design
disagreement  where judges differ
annotators    who labels what, and what all of them do
label_sheet   the sheet that people fill in
"""
