"""Estimates: from scores, in pieces, to means with intervals.

estimates  the estimates of a run, and those of one metric
cautions   caveats on them, as reason codes
sums       scores summed by group and cluster; rows that depend on each other
groups     the groups that estimates are made for, and counts of their scores
"""
