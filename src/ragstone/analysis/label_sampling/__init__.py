"""Sampling: what to label next. Imported file by file.

draw          the random draw, with a known probability for every example
designs       the ways to draw, and what each goes by
strata        the variable to stratify by
expected_width  expected width of the mean's interval, by design
disagreement  where judges disagree
annotators    assignment of examples to annotators, with overlap
asked_labels  what is asked, and what has to be read for it
label_sheet   the sheet that people fill in
annotate      a queue of a run, of data or of a sheet; its items are in example_items, pair_items
              and sheet_items, their order in make_queue
"""
