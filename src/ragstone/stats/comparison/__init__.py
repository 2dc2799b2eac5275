"""Comparing: two or more systems on the same questions. Imported file by file.

paired         mean paired difference with interval; pairs needed for a margin
newcombe       difference of two rates on the same rows
sign_flip      permutation test of a mean paired difference
mcnemar        exact test of a difference of paired rates
adjusted       multiple testing: Holm, Benjamini and Hochberg
effect_size    standardised difference, relative change
bradley_terry  strengths of several systems from pairwise wins
"""
