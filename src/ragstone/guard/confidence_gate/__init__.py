"""Confidence gate: thresholds of the confidence in an answer that keep a promise.

confidence_gate  the gate: calibrated, checked against new labels, kept in a file
gate_thresholds  the thresholds that labels can carry, and why where they carry none
gate_labels      reads answers that people labelled, with their scores
"""
