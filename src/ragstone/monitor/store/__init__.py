"""Everything that the monitor keeps. All of its SQL stands here, one file a group of tables.

tables   what there is
store    where it is, and how it is opened
counts   how much of what came and was done, by minute
kept     what is remembered by name
log      what the monitor says of its own work
slots    stretches of two minutes, and which of them are summed up anew
score_sums      what weighted means need of scores, by slot and slice
session_scores  scores with the sessions of their answers
"""
