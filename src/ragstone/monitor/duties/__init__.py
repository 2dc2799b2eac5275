"""Duties: what the worker does with what came, one by one.

fold_traces     parts of traces become examples
draw_answers    which examples are judged; the backfill of a past window
judge_answers   what is due is judged, within the budget; so is a fixed set of anchors
periodic_steps  guard checks, sums of scores, scores sent elsewhere; the retrying of a duty
human_scores    what people label of drawn answers becomes scores beside the judge's
erasure         what is too old or too much goes, and all data of a session or a person
worker_status   whether the worker is alive, and how much is done
"""
