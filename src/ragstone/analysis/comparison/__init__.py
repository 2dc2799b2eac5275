"""Comparing: is one system better than another? Imported file by file.

compare            the decision: pairs, differences, tests, verdicts
compared           its result types
verdict            better, worse, equivalent or cannot tell
sides              which systems of which runs are compared
sameness           whether two runs measured the same thing with the same judges
same_inputs        whether both sides were judged on identical inputs
side_values        what both sides scored on each question
paired_scores      the statistics of the difference of two systems
changes            on which questions a system does better or worse
common_components  composites over the components common to both sides
ranking            several systems in order, by Bradley and Terry
"""
