"""Comparing: is one system better than another? Imported file by file.

compare            the decision: pairs, differences, tests, verdicts
compared           what it gives
verdict            better, worse, equivalent or cannot tell
sides              which systems of which runs stand against each other
sameness           whether two runs measured the same by the same judges
same_inputs        whether two sides were judged on the same, and so nothing was sampled
paired_scores      scores question by question
common_components  composites over the components that both sides have
ranking            several systems in order, by Bradley and Terry
"""
