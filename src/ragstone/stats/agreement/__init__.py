"""Agreement of annotators. Imported file by file.

coefficients    percent agreement, and all coefficients of a table at once
cohen           κ of two annotators, plain and weighted; its mean over pairs of several
fleiss          κ of several annotators
krippendorff    α on nominal, ordinal and interval scales, with missing ratings
gwet            AC1, which is stable when one label is rare
ratings         annotators × items, read and checked
item_bootstrap  bootstrap over items or clusters of items
sequence        intervals that hold however often they are looked at as labels come
kappa_variance  each item's contribution to the variance of κ
"""
