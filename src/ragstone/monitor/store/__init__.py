"""Everything that the monitor keeps. All of its SQL is here, a module for each group of tables.

store            the tables, and how a store is opened
rows             remembered values, the worker's heartbeat, counts, the log, steps to do
incoming         received parts, traces, folded examples, versions, erasure
stored_examples  lists, sessions and samples of examples
draws            which examples are judged, and how far that is
batches          examples that are judged together, and the anchors' rounds
scores           scores of answers, people's labels beside them, and their sums by time
watched_scores   what detectors look at, and their states
stored_alarms    alarms, silences and notifications
"""
