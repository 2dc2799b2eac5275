"""Planning: sample sizes for runs and labels. Imported file by file.

sample_size    rows for a rate or a mean of a given precision
power          pairs to detect a difference, and the difference that pairs can detect
equivalence    the smallest margin at which pairs can show equivalence
labels_needed  labels to correct a judge, on average or with assurance
rate_widths    the width of a corrected rate's interval
needed_n       rows at which an undecided test would be decided
sampling       random sampling with known inclusion probabilities
"""
