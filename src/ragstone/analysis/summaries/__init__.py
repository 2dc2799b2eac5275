"""Summing up: what a finished run tells in a few facts.

stages          which answers look bad, and at which stage each went wrong
failures        how many answers failed at each, by system and slice, with intervals
conversations   whole sessions: worst turn, mean of turns, share resolved
summary         what was measured, which system is better, what fails most, what is missing
repeats         how far the answers of one system to one question lie apart
histograms      how the single scores of a metric lie
split           the estimates over sets of examples that are known only now
weight_shares   of what share of its weight a composite is made
"""
