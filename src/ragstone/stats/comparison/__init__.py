"""Comparison: two or more systems on the same questions. Imported file by file.

paired             mean paired difference with interval; permutation test; pairs for a margin
differences        difference and exact test of two rates, effect sizes, multiple testing
preference_models  strengths of systems from pairwise wins; weights from preferences
"""
