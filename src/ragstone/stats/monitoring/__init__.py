"""Watching: a stream of judged answers, looked at after each one. Imported file by file.

on_a_share      scores as shares from 0 to 1, 1 the best
bets            how much is bet on falls of which size
limit           how much evidence an alarm wants, for what it promises
detector        the e-detector: alarms when a mean falls below its bar
traffic         which scores come, how often, and with which probability they are judged
expected_delay  after how many judged answers a fall is noticed

And the means of windows of time:

weighted_sums     what weighted means and their intervals need of scores
window_intervals  intervals for one look at one window
window_sequences  intervals that hold in all windows and at every look
session_effect    how much less answers of one session tell
"""
