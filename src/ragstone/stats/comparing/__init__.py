"""Comparing: two or more systems on the same questions. Imported file by file.

paired         mean difference with interval, and the pairs that a margin needs
newcombe       difference of two rates on the same rows
sign_flip      permutation test of a mean difference
mcnemar        exact test of a difference of rates
adjusted       p-values of a family: Holm, Benjamini and Hochberg
effect_size    standardised difference, relative change
bradley_terry  strengths from wins of several systems
"""
