"""Gating: thresholds of the confidence in an answer that keep a promise. Imported file by file.

gate         the thresholds and what they promise: pass, ask or block
calibrating  finds them from labelled answers
labelled     reads answers that people labelled, with their scores
refusal      says what labels can carry where they cannot carry the promise
gate_check   holds a gate against new labels
gate_file    a gate as JSON
gate_judge   who gave the scores
shown_risk   what the labels show of a promise
"""
