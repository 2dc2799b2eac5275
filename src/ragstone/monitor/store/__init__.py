"""Everything that the monitor keeps. All of its SQL stands here, one file a group of tables.

tables   what there is
store    where it is, and how it is opened
counts   how much of what came and was done, by minute
kept     what is remembered by name
log      what the monitor says of its own work
slots    stretches of two minutes, and which of them are summed up anew
score_sums      what weighted means need of scores, by slot and slice
session_scores  scores with the sessions of their answers
drawn_together  the probability with which all turns of a session are judged
session_turns   what was measured of each turn of sessions
scored_metrics  which metrics there are, and by what they can be sliced
labelled_scores    what the judge and what people said of the same answers
labelled_examples  the records of what people labelled
sampled_examples   some answers of a stretch of time, for drift
anchor_rounds      what a judge said of the same answers again and again
alarm_stretches    which alarms were firing in what is shown
watched_sessions   which sessions are over, with one score each
answers_together   how many judged answers a session has
deployed           when each version was first seen
"""
