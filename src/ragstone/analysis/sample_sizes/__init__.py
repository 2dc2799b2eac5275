"""Planning: how much to run, compare or label. Imported file by file.

sizes        rows, questions and pairs
label_sizes  labels to correct a judge
labels_left  labels still to come, from those so far
"""
