"""Batches: a run whose questions are answered by a provider within a day, at a lower price.

batch_loop      collects, sends and waits until nothing is left to ask
batch_follower  sends a batch, follows it, takes its results, and lists the batches of a run
batch_asker     collects the questions that can be asked now, and hands out the replies
batch_journal   what was collected, sent and received, on disk before it counts
"""
