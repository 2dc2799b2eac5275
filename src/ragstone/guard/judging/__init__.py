"""Judging: who judges the claims of an answer inside a request. Imported file by file.

named_judge  from the name of a judge to one that has until the deadline, or gives way
by_encoder   the local judge with its encoder
by_model     chat models
by_rows      any judge that fills the table of support
in_time      runs what cannot be interrupted, and waits for it only so long
circuit      leaves a judge alone that is gone
"""
