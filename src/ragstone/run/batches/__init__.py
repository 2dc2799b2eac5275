"""Batches: a run whose questions are answered by a provider within a day, at a lower price.

batch_journal  what was noted, sent and taken, on disk before it counts
noting         what becomes of a question: its reply from a batch, the next batch, or by itself
collecting     goes over the data and notes the questions that can be asked now
following      sends a batch, finds one whose id is not known, follows it and takes its results
passes         collects, sends and waits until nothing is left to ask
forgetting     gives up a batch that cannot be read any more
listed         the batches of a run, as it stands
"""
