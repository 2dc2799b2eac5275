"""Planning: sample sizes for runs and labels. Imported file by file.

sample_size           rows for a given precision, pairs to detect a difference or show equivalence,
                      rows at which an undecided test would be decided
mcnemar_power         power of McNemar's test, and the doubt that a pilot leaves
labels_needed         labels to correct a judge, on average or with assurance
corrected_rate_width  the width of a corrected rate's interval
sampling              random sampling with known inclusion probabilities
"""
