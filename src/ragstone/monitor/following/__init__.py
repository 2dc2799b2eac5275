"""What follows from the store, in the worker's process.

folding    parts of traces become examples
assessing  every example by the guard's checks
sampling   which examples are drawn to be judged
people     what people label of drawn answers becomes scores beside the judge's
summing    scores are summed up by time, for the numbers over time
"""
