"""Agreement of annotators. Imported file by file.

coefficients  percent, κ plain and weighted, Fleiss' κ, Krippendorff's α and Gwet's AC1; all of a
              table at once; intervals that hold at every look
ratings       annotators × items, read and checked; bootstrap over items or clusters of items
"""
