"""Agreement of annotators. Imported file by file.

coefficients    percent agreement, κ plain and weighted, all coefficients of a table at once
alpha_and_ac1   Fleiss' κ, Krippendorff's α and Gwet's AC1; intervals that hold at every look
ratings         annotators × items, read and checked; bootstrap over items or clusters of items
"""
